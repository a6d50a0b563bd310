"""What `lakehouse diff` says when it cannot compare."""

from lakehouse.query_errors import QueryError


class DiffError(QueryError):
    """Nothing was compared. The message is for the user; 1 is the exit code of a difference."""

    exit_code = 2
