"""What a source yields, kept in Parquet files until its partition is whole: rows as text, Arrow as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.landed import ROW
from lakehouse.ingest.row_texts import as_row, text_of, wider

BATCH = 20_000  # rows of Python that are kept in memory


@dataclass
class Kept:
    """Files of one form: rows as text, or Arrow tables of one schema.

    Args:
        kinds: the SQL type of each column that is text here.
        mixed: two values of columns whose values have no one type.
        names: the source's columns, those without any value too.
    """

    files: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    mixed: dict[str, tuple[str, str]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    rows: int = 0


@dataclass
class Spool:
    """Keeps the items of one partition.

    Args:
        shown: how messages name the source.
        folder: where to.
        called: the source's name of each column of the files.
    """

    shown: str
    folder: Path
    called: dict[str, str] = field(default_factory=dict)
    as_text: Kept = field(default_factory=Kept)
    tables: dict[str, Kept] = field(default_factory=dict)
    batch: list[Mapping[str, Any]] = field(default_factory=list)
    examples: dict[str, str] = field(default_factory=dict)
    stored_as: dict[str, str] = field(default_factory=dict)

    def take(self, item: Any) -> int:
        """Keep an item: a row, rows, or an Arrow table. Returns how many rows.

        Raises:
            SourceError: it is none of these, or holds what no table does.
        """
        if hasattr(item, "to_batches") or hasattr(item, "num_rows"):
            return self._take_table(item)
        if hasattr(item, "iloc"):  # a data frame
            import pyarrow as pa  # type: ignore[import-untyped]

            return self._take_table(pa.Table.from_pandas(item, preserve_index=False))
        if isinstance(item, list | tuple):
            return sum(map(self.take, item))
        try:
            self.batch.append(as_row(item))
        except TypeError as error:
            raise SourceError(
                f"{self.shown} yields a {error}. Yield rows (dicts), lists of them, Arrow tables, "
                "or a dlt resource."
            ) from None
        if len(self.batch) >= BATCH:
            self._keep_batch()
        return 1

    def take_file(self, file: str) -> int:
        """Keep a Parquet file as if its rows were yielded."""
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        with pq.ParquetFile(file) as parquet:
            return sum(self._take_table(batch) for batch in parquet.iter_batches())

    def all(self) -> list[Kept]:
        """Everything that was taken, by form."""
        self._keep_batch()
        return [each for each in (self.as_text, *self.tables.values()) if each.files]

    def _take_table(self, table: Any) -> int:
        import pyarrow as pa

        from lakehouse.ingest.arrow_types import readable

        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        names = list(table.column_names)
        if len(set(names)) < len(names):
            raise SourceError(f"{self.shown} yields a table that has a column twice: {', '.join(names)}.")
        clean, texts = readable(table.rename_columns(list(map(self._stored, names))), self.shown)
        if table.num_rows:
            kept = self.tables.setdefault(f"{clean.schema.remove_metadata()} {texts}", Kept())
            kept.kinds |= texts
            kept.names |= set(names)
            kept.rows += table.num_rows
            self._write_file(kept, clean)
        return int(table.num_rows)

    def _keep_batch(self) -> None:
        import pyarrow as pa

        if not self.batch:
            return
        columns: dict[str, list[str | None]] = {}
        for number, row in enumerate(self.batch):
            self.as_text.names |= row.keys()
            for name, value in row.items():
                stored = self._stored(str(name))
                text = self._text(stored, value, self.as_text.rows + number + 1)
                if text is not None:
                    columns.setdefault(stored, [None] * len(self.batch))[number] = text
        first = self.as_text.rows + 1
        self.as_text.rows += len(self.batch)
        data = {ROW: pa.array(range(first, self.as_text.rows + 1), pa.int64())}
        data |= {name: pa.array(texts, pa.string()) for name, texts in columns.items()}
        self._write_file(self.as_text, pa.table(data))
        self.batch = []

    def _text(self, name: str, value: Any, row: int) -> str | None:
        try:
            kind, text = text_of(value)
            if text is not None:
                text.encode()
        except (TypeError, ValueError) as error:
            raise SourceError(
                f"{self.shown}: row {row}, column {name}: {value!r:.200} cannot be kept ({error})."
            ) from None
        if kind is None:
            return None
        before = self.as_text.kinds.setdefault(name, kind)
        if before != kind and name not in self.as_text.mixed:
            if (both := wider(before, kind)) is not None:
                self.as_text.kinds[name] = both
            else:
                self.as_text.mixed[name] = (self.examples[name], repr(value))
        self.examples.setdefault(name, repr(value))
        return text

    def _stored(self, name: str) -> str:
        """What a column is called in the files: DuckDB takes names that differ by case for one."""
        if name not in self.stored_as:
            stored, used = name, {other.lower() for other in self.called}
            while stored.lower() in used:
                stored += "_"
            self.stored_as[name], self.called[stored] = stored, name
        return self.stored_as[name]

    def _write_file(self, kept: Kept, table: Any) -> None:
        import pyarrow.parquet as pq

        self.folder.mkdir(exist_ok=True)
        number = sum(len(each.files) for each in (self.as_text, *self.tables.values()))
        file = self.folder / f"{number}.parquet"
        pq.write_table(table, file, compression="snappy")
        kept.files.append(str(file))
