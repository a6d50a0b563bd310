"""Staging a write: all of its partitions at once, or one by one where that fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.storage.errors import PartitionMismatchError, StorageError, reason
from lakehouse.storage.prestaged import adopt
from lakehouse.storage.staging import (
    Audit,
    RowSource,
    Sift,
    StagedFile,
    discard,
    discarded_on_error,
    select_as,
    stage,
    without,
)
from lakehouse.storage.tables import TableSpec

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


@dataclass(frozen=True)
class StagedWrite:
    """Files that are ready to be committed, and the partitions that will not be.

    Args:
        partitions: the partitions to publish; None for a write of the whole table.
        failures: the others, each with the reason.
        removed: the table's files that these take the place of; None if the commit finds them
            by what the write removes.
        merged: rows of the batch, for a merge, whose files hold other rows too.
    """

    files: list[StagedFile]
    partitions: list[date] | None
    failures: dict[date, str]
    removed: "list[DataFile] | None" = None
    merged: int | None = None

    @property
    def rows(self) -> int:
        """Rows of the source that are to be published, or were merged."""
        return sum(file.rows for file in self.files) if self.merged is None else self.merged

    def rows_by_partition(self) -> dict[date, int]:
        """Rows of each partition to be published, 0 for an empty one."""
        counts = dict.fromkeys(self.partitions or (), 0)
        for file in self.files:
            if file.partition in counts:
                counts[file.partition] += file.rows
        return counts


def refuse_if_judged_bad(spec: TableSpec, audit: Audit | None, files: Sequence[StagedFile]) -> None:
    """Judge a write that is published as a whole or not at all.

    Raises:
        StorageError: it is not; its files are removed.
    """
    if audit is None:
        return
    with discarded_on_error(files):
        if verdicts := audit(files):
            raise StorageError(f"{spec.name}: {'; '.join(dict.fromkeys(verdicts.values()))}")


@dataclass(frozen=True)
class Stager:
    """Stages the rows of one write, as often as its attempts need it.

    Args:
        partitions: what is to be written; None for the whole table.
        audit: judges the staged rows before anything is published.
        prestaged: files that hold the source's rows and may be taken as they are.
        sift: tells which staged rows to leave out, before the audit.
    """

    spec: TableSpec
    source: RowSource
    partitions: Sequence[date] | None
    audit: Audit | None
    prestaged: Sequence[str] = ()
    sift: Sift | None = None
    follows_base: bool = False

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write the files below the table's location; what the table holds does not matter.

        Raises:
            duckdb.Error, StorageError: nothing can be published, and not because of single
                partitions; no file is left.
        """
        import duckdb

        adopted = adopt(self.prestaged, self.spec, schema, location, self.partitions)
        if adopted is not None:
            return self._audited(self._sifted(adopted, schema), {})
        try:
            files = self._stage_rows(self.partitions, schema, location, present)
            failures: dict[date, str] = {}
        except (duckdb.Error, PartitionMismatchError):
            if self.partitions is None:
                raise
            files, failures = self._stage_one_by_one(self.partitions, schema, location, present)
        return self._audited(self._sifted(files, schema), failures)

    def _stage_one_by_one(
        self, partitions: Sequence[date], schema: "Schema", location: str, present: Sequence[str]
    ) -> tuple[list[StagedFile], dict[date, str]]:
        """A query fails as a whole: only its partitions, tried alone, tell which of them is to blame."""
        import duckdb

        files: list[StagedFile] = []
        failures: dict[date, str] = {}
        with discarded_on_error(files):
            for partition in partitions:
                try:
                    files += self._stage_rows([partition], schema, location, present)
                except (duckdb.Error, PartitionMismatchError) as error:
                    failures[partition] = reason(error)
        return files, failures

    def _stage_rows(
        self, partitions: Sequence[date] | None, schema: "Schema", location: str, present: Sequence[str]
    ) -> list[StagedFile]:
        query = select_as(self.source.query(partitions), schema, present)
        files = stage(
            self.source.connection,
            query,
            schema,
            location,
            partition_by=self.spec.partition_by,
            sort_by=self.spec.sort_by,
        )
        strays = [file for file in files if partitions is not None and file.partition not in partitions]
        if strays:
            discard(files)
            rows = sum(file.rows for file in strays)
            raise PartitionMismatchError(
                f"{rows} rows belong to another partition than the one being written, such as "
                f"{min(str(file.partition) for file in strays)}. Limit the rows to the partition by "
                f"their {self.spec.partition_by}."
            )
        return files

    def _sifted(self, files: list[StagedFile], schema: "Schema") -> list[StagedFile]:
        """Write those files again that hold rows to leave out."""
        if self.sift is None:
            return files
        kept = list(files)
        with discarded_on_error(kept):
            for path, condition in self.sift(files).items():
                file = next(file for file in kept if file.path == path)
                kept += without(self.source.connection, file, condition, schema, self.spec.sort_by)
                kept.remove(file)
        return kept

    def _audited(self, files: list[StagedFile], failures: dict[date, str]) -> StagedWrite:
        """Take out what the audit refuses; a partition that failed before keeps its first reason."""
        with discarded_on_error(files):
            verdicts: Mapping[date | None, str] = self.audit(files) if self.audit else {}
            if None in verdicts:
                raise StorageError(f"{self.spec.name}: {verdicts[None]}")
        refused = {partition: why for partition, why in verdicts.items() if partition is not None}
        failures = refused | failures
        discard([file for file in files if file.partition in failures])
        return StagedWrite(
            files=[file for file in files if file.partition not in failures],
            partitions=None if self.partitions is None else [p for p in self.partitions if p not in failures],
            failures=failures,
        )
