"""The items that an extraction yields: files that are landed go on to dlt, the rest is landed first."""

from collections.abc import Iterable, Iterator
from typing import Any

from dlt.extract import DltResource
from dlt.extract.extractors import ImportFileMeta
from dlt.extract.hints import HintsMeta
from dlt.extract.items import DataItemWithMeta, TableNameMeta

from lakehouse.ingest.dlt_hints import refuse_contradictions
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.intake import Intake
from lakehouse.ingest.source import Extraction
from lakehouse.ingest.spool import Spool


def take_in(extraction: Extraction) -> Iterator[tuple[Any, int]]:
    """What dlt is given, and how many rows of the source each step took.

    Raises:
        SourceError: the source gave what its table cannot take.
    """
    spool = Spool(extraction.source.origin, extraction.folder / "taken")
    before = extraction.quarantined.rows.get(extraction.partition, 0)
    for item in _flat(extraction, extraction.source.extract(extraction)):
        yield from _taken(extraction, spool, item)
    # Files were counted by the rows that landed of them.
    yield None, extraction.quarantined.rows.get(extraction.partition, 0) - before
    for landed in Intake(extraction, spool).finish():
        yield landed, 0


def _flat(extraction: Extraction, items: Iterable[Any]) -> Iterator[Any]:
    """The items, those of resources among them."""
    if isinstance(items, DltResource):
        refuse_contradictions(extraction.source, items.name, items._hints or {})
        yield from items
        return
    for item in items:
        if isinstance(item, DltResource):
            yield from _flat(extraction, item)
        else:
            yield item


def _taken(extraction: Extraction, spool: Spool, item: Any) -> Iterator[tuple[Any, int]]:
    source = extraction.source
    if not isinstance(item, DataItemWithMeta):
        yield None, spool.take(item)
        return
    meta = item.meta
    if isinstance(meta, ImportFileMeta) and meta.file_path in extraction.handed_over:
        yield item, int(meta.metrics.items_count)
        return
    if isinstance(meta, TableNameMeta) and meta.table_name != source.table:
        raise SourceError(
            f"{source.origin} brought rows of a second table, {meta.table_name}. "
            "Yield them from a source of its own."
        )
    if isinstance(meta, HintsMeta):
        refuse_contradictions(source, source.table, meta.hints or {})
    if not isinstance(meta, ImportFileMeta):
        yield None, spool.take(item.data)
    elif meta.file_format == "parquet":
        yield None, spool.take_file(meta.file_path)
    else:
        raise SourceError(
            f"{source.origin} yields the {meta.file_format} file {meta.file_path}. Yield Parquet files, "
            "or read it with `read_csv`."
        )
