"""What a source yields, taken in: rows and Arrow tables are kept in files until the partition is whole.

dlt would coerce Python values (a moment in a date column loses its time, 2 becomes true, a name is
changed), so it is given landed files only: these hold each value exactly, or none.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyiceberg.types import TimestampType, TimestamptzType

from lakehouse.ingest.columns import Column
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.incoming import Brought, Columns, Incoming
from lakehouse.ingest.landed import ROW, relation_of
from lakehouse.ingest.landing import hand_over, land
from lakehouse.ingest.row_texts import as_row, text_of, wider
from lakehouse.ingest.source import Extraction
from lakehouse.storage.errors import StorageError
from lakehouse.storage.schema import fits
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from pyiceberg.types import IcebergType

    from lakehouse.storage.staging import StagedFile

BATCH = 20_000  # rows of Python that are kept in memory


@dataclass
class Kept:
    """Files of one form: rows as text, or Arrow tables of one schema."""

    files: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    mixed: dict[str, tuple[str, str]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    rows: int = 0


@dataclass
class Intake:
    """Takes in what one partition's extraction yields."""

    extraction: Extraction
    batch: list[Mapping[str, Any]] = field(default_factory=list)
    as_text: Kept = field(default_factory=Kept)
    tables: dict[str, Kept] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    stored_as: dict[str, str] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """How messages name the source."""
        return self.extraction.source.origin

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

    def finish(self) -> Iterator[Any]:
        """Land what was taken and give it to dlt.

        Raises:
            SourceError: a value does not fit its column, a column is refused, or rows got lost.
        """
        self._keep_batch()
        kept = [each for each in (self.as_text, *self.tables.values()) if each.files]
        if not kept:
            return
        before = dict(self.extraction.quarantined.rows)
        matching = Columns(self.extraction.source, self.shown, self.extraction.held)
        brought = [self._brought(each) for each in kept]
        every = {column.name: column for columns in reversed(brought) for column in columns}
        named = set().union(*(each.names for each in kept))  # those without any value too
        matched = {c.brought.name: c for c in matching.match(list(every.values()), named)}
        fittings = [
            Fitting(
                self.extraction,
                self.shown,
                relation_of(each.files),
                (incoming := [self._as_brought(matched[column.name], column) for column in columns]),
                self._without(incoming),
                row=ROW if each is self.as_text else "row_number() over ()",
            )
            for each, columns in zip(kept, brought, strict=True)
        ]
        landed, undeclared = self._land(fittings)
        partition = self.extraction.partition
        aside = self.extraction.quarantined.rows.get(partition, 0) - before.get(partition, 0)
        taken = sum(each.rows for each in kept)
        if sum(file.rows for file in landed) + aside != taken:
            raise SourceError(
                f"{self.shown}: {taken} rows were taken, but {sum(file.rows for file in landed)} landed."
            )
        yield from hand_over(self.extraction, landed, undeclared)

    def _land(self, fittings: list[Fitting]) -> "tuple[list[StagedFile], list[Column]]":
        """Write the rows; returns the files and the columns that nobody declared."""
        import duckdb

        try:
            return self._write([fitting.strict() for fitting in fittings])
        except (StorageError, duckdb.Error):
            return self._write([fitting.sort_out() for fitting in fittings])

    def _write(self, queries: list[str]) -> "tuple[list[StagedFile], list[Column]]":
        self._refuse_mixed(queries)
        query = " union all by name ".join(f"({query})" for query in queries)
        files = land(self.extraction, query)
        known = {*self.extraction.source.column_names, ROW}
        came = to_iceberg_schema(describe(self.extraction.connection, query))
        undeclared = [column for column in came.fields if column.name not in known]
        # What the load's next partitions bring has to be of the same type.
        for column in undeclared:
            self.extraction.held.setdefault(column.name, column.field_type)
        return files, [Column(column.name, _as_told(column.field_type)) for column in undeclared]

    def _refuse_mixed(self, queries: list[str]) -> None:
        """Columns that nobody declared have one type in all forms that they come in."""
        seen: dict[str, Any] = {}
        for query in queries:
            for name, kind in describe(self.extraction.connection, query).items():
                came = to_iceberg_schema({name: kind}).find_type(name)
                other = seen.setdefault(name, came)
                if not (fits(came, other) or fits(other, came)):
                    raise SourceError(
                        f"{self.shown}: column {name} comes both as {other} and as {came}. "
                        "Declare its type in the contract."
                    )

    def _brought(self, kept: Kept) -> list[Brought]:
        present = describe(self.extraction.connection, f"select * from {relation_of(kept.files)}")
        if kept is self.as_text:  # a column that never has a value has no type either
            present = {name: kind for name, kind in present.items() if name in kept.kinds}
        return [
            Brought(name, kind, kept.kinds.get(name), kept.mixed.get(name), self.called.get(name, name))
            for name, kind in present.items()
            if name != ROW
        ]

    def _without(self, incoming: list[Incoming]) -> dict[str, str]:
        """The columns that no row can do without and that none has, as columns of nulls."""
        names = {column.name for column in incoming}
        return {name: "null" for name in self.extraction.source.required if name not in names}

    @staticmethod
    def _as_brought(matched: Incoming, brought: Brought) -> Incoming:
        return dataclasses.replace(matched, brought=brought)

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

    def _stored(self, name: str) -> str:
        """What a column is called in the files: DuckDB takes names that differ by case for one."""
        if name not in self.stored_as:
            stored, used = name, {other.lower() for other in self.called}
            while stored.lower() in used:
                stored += "_"
            self.stored_as[name], self.called[stored] = stored, name
        return self.stored_as[name]

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

    def _write_file(self, kept: Kept, table: Any) -> None:
        import pyarrow.parquet as pq

        folder = self.extraction.folder / "taken"
        folder.mkdir(exist_ok=True)
        number = sum(len(each.files) for each in (self.as_text, *self.tables.values()))
        file = folder / f"{number}.parquet"
        pq.write_table(table, file, compression="snappy")
        kept.files.append(str(file))


def _as_told(kind: "IcebergType") -> str:
    """What dlt is told of a column that nobody declared: of times the truth, which else it would change."""
    match kind:
        case TimestampType():
            return "timestamp"
        case TimestamptzType():
            return "timestamptz"
    return "varchar"
