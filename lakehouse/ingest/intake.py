"""What a source yields, taken in: the rows that were kept of a partition are landed as one.

dlt would coerce Python values (a moment in a date column loses its time, 2 becomes true, a name is
changed), so it is given landed files only: these hold each value exactly, or none.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyiceberg.types import TimestampType, TimestamptzType

from lakehouse.ingest.arrivals import note_arrivals
from lakehouse.ingest.columns import Column
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.incoming import Brought, Columns, Incoming, normalized
from lakehouse.ingest.landed import ROW, relation_of
from lakehouse.ingest.landing import hand_over, land
from lakehouse.ingest.source import Extraction
from lakehouse.ingest.spool import Kept, Spool
from lakehouse.storage.errors import StorageError
from lakehouse.storage.schema import fits
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from pyiceberg.types import IcebergType

    from lakehouse.storage.staging import StagedFile


@dataclass
class Intake:
    """Lands what was kept of one partition's extraction."""

    extraction: Extraction
    spool: Spool

    @property
    def shown(self) -> str:
        """How messages name the source."""
        return self.extraction.source.origin

    def finish(self) -> Iterator[Any]:
        """Land what was taken and give it to dlt.

        Raises:
            SourceError: a value does not fit its column, a column is refused, or rows got lost.
        """
        kept = self.spool.all()
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
                row=ROW if each is self.spool.as_text else "row_number() over ()",
            )
            for each, columns in zip(kept, brought, strict=True)
        ]
        landed, undeclared = self._land(fittings)
        for fitting in fittings:
            note_arrivals(self.extraction, fitting.columns, {*map(normalized, named), *named})
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
        if kept is self.spool.as_text:  # a column that never has a value has no type either
            present = {name: kind for name, kind in present.items() if name in kept.kinds}
        return [
            Brought(name, kind, kept.kinds.get(name), kept.mixed.get(name), self.spool.called.get(name, name))
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


def _as_told(kind: "IcebergType") -> str:
    """What dlt is told of a column that nobody declared: of times the truth, which else it would change."""
    match kind:
        case TimestampType():
            return "timestamp"
        case TimestamptzType():
            return "timestamptz"
    return "varchar"
