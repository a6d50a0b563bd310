"""PyIceberg's SQL catalog, without its stack traces: what passes by itself is asked again."""

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitStateUnknownException
from sqlalchemy.exc import SQLAlchemyError

from lakehouse.catalog.database import Database, ask

if TYPE_CHECKING:
    from pyiceberg.table import CommitTableResponse, Table

P = ParamSpec("P")
R = TypeVar("R")


def _patient(
    method: Callable[Concatenate["LakeCatalog", P], R],
) -> Callable[Concatenate["LakeCatalog", P], R]:
    """The method, asked again as long as what prevents an answer may pass."""

    @wraps(method)
    def asked(self: "LakeCatalog", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return ask(self.database, partial(method, self, *args, **kwargs), self.patience_seconds)

    return asked


class LakeCatalog(SqlCatalog):
    """The catalog in a database of ours.

    Its errors are `CatalogError` where the database does not answer, besides PyIceberg's own.
    """

    def __init__(self, name: str, database: Database, patience_seconds: float, warehouse: str) -> None:
        # Not through SqlCatalog, which makes an engine of its own: with the password among the
        # properties that go to every table, and taking a server that is down for an empty catalog.
        MetastoreCatalog.__init__(self, name, warehouse=warehouse, init_catalog_tables="false")
        self.database = database
        self.patience_seconds = patience_seconds
        self.engine = database.engine
        ask(database, self._init_catalog, patience_seconds)

    load_table = _patient(SqlCatalog.load_table)
    list_tables = _patient(SqlCatalog.list_tables)
    list_namespaces = _patient(SqlCatalog.list_namespaces)
    namespace_exists = _patient(SqlCatalog.namespace_exists)
    create_namespace = _patient(SqlCatalog.create_namespace)

    def commit_table(self, table: "Table", requirements: Any, updates: Any) -> "CommitTableResponse":
        """Swap a table's metadata file for the one that these updates make.

        Raises:
            CommitFailedException, TableAlreadyExistsError: nothing changed; begin again.
            CommitStateUnknownException: the answer was lost; the table says whether it changed.
            CatalogError: nothing changed, and beginning again would not help.
        """
        commit = partial(super().commit_table, table, requirements, updates)

        def attempt() -> "CommitTableResponse":
            try:
                return commit()
            except SQLAlchemyError as error:
                if self.database.may_have_committed(error):
                    raise CommitStateUnknownException(self.database.explain(error)) from error
                raise

        return ask(self.database, attempt, self.patience_seconds)
