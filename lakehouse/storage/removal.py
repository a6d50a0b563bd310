"""Taking rows out of a table by a condition: files that hold any are written again without them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakehouse.storage.data_files import read_rest
from lakehouse.storage.rewriting import NoRows, Rewriter, rewrite
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


def remove_rows(
    catalog: "Catalog",
    spec: TableSpec,
    connection: "DuckDBPyConnection",
    gone: str,
    summary: Mapping[str, str] | None = None,
) -> None:
    """Take out the rows for which a SQL condition is true, in one commit; none if there are none.

    Raises:
        StorageError, duckdb.Error: nothing was changed.
    """
    table = load_table(catalog, spec.name)
    if table is None:
        return

    def rest(base: "Table", files: "Sequence[DataFile]", schema: "Schema") -> str:
        return read_rest(base, files, schema, gone)

    rewriter = Rewriter(spec, NoRows(connection, table.schema()), gone, rest)
    rewrite(catalog, rewriter, summary, "remove_rows")
