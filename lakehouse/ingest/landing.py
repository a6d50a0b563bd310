"""Landing: extracted rows become the Parquet files that dlt carries and the table takes."""

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakehouse.ingest.columns import Column
from lakehouse.ingest.landed import LandedRows
from lakehouse.ingest.source import LOAD_COLUMNS, Extraction
from lakehouse.storage.staging import StagedFile
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType


def land(extraction: Extraction, query: str, alike: Hashable = None) -> list[StagedFile]:
    """Write the rows of a query on the extraction's connection, with the columns Bronze adds.

    Args:
        alike: what the types of the query's columns follow from: files of which it is the same are described
            once, for that takes as long as reading a small one.

    Raises:
        StorageError: the table cannot hold the rows.
        duckdb.Error: the query failed. No file is left in either case.
    """
    rows = LandedRows(
        extraction.connection,
        f"({query})",
        extraction.source,
        extraction.load_id,
        extraction.loaded_at,
        normalize=str,
        types=_types(extraction, query, ("brought", alike)),
    ).query(None)
    incoming = to_iceberg_schema(_types(extraction, rows, ("landed", alike)))
    return extraction.prestager.prestage(extraction.connection, rows, extraction.folder, incoming)


def _types(extraction: Extraction, query: str, known_as: tuple[str, Hashable]) -> "dict[str, DuckDBPyType]":
    if known_as[1] is None:
        return describe(extraction.connection, query)
    if known_as not in extraction.described:
        extraction.described[known_as] = describe(extraction.connection, query)
    return extraction.described[known_as]


def hand_over(
    extraction: Extraction, files: Sequence[StagedFile], undeclared: Sequence[Column]
) -> Iterator[Any]:
    """Give landed files to dlt, which links them.

    dlt is told their columns in the files' order, lest it write them anew; once for each set
    of columns, since it takes its time to hear them.
    """
    import dlt

    columns = (*extraction.source.columns, *LOAD_COLUMNS, *undeclared)
    for file in files:
        extraction.handed_over.add(file.path)
        hints = None
        if columns not in extraction.told:
            extraction.told.add(columns)
            hints = dlt.mark.make_hints(columns=[column.dlt_hint() for column in columns])
        yield dlt.mark.with_file_import(file.path, "parquet", file.rows, hints)
