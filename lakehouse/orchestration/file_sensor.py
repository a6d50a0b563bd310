"""A sensor for each source that declares its files: new and changed ones are loaded, each version once."""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial

import dagster as dg

from lakehouse.ingest.file_pattern import FilePattern, SourceFile, version_of
from lakehouse.ingest.file_watch import FileMemory, Look, Watch, digest_below
from lakehouse.orchestration.bronze import FILES
from lakehouse.orchestration.bronze_events import FILE_VERSION
from lakehouse.orchestration.materialized import latest_materializations
from lakehouse.orchestration.ranges import Range, partitions_a_run, policies, range_tags, unbroken
from lakehouse.quality.judged_time import now_by
from lakehouse.settings import Settings

SECONDS_BETWEEN = 15
SECONDS_TO_READ = 20  # of the 60 that Dagster gives a tick
LARGEST_DIGESTED = 1 << 30  # two seconds of a tick; beyond, size and time stand for the content
SHOWN = 5


def file_sensors(assets: Iterable[object]) -> list[dg.SensorDefinition]:
    """The sensors of all assets whose sources declare their files."""
    assets = list(assets)
    by_key = policies(assets)
    specs = [spec for asset in assets if isinstance(asset, dg.AssetsDefinition) for spec in asset.specs]
    return [
        FileSensor(
            spec.key, FilePattern(spec.metadata[FILES]), spec.partitions_def, by_key[spec.key]
        ).sensor()
        for spec in specs
        if FILES in spec.metadata
    ]


@dataclass(frozen=True)
class FileSensor:
    """The sensor of one table."""

    key: dg.AssetKey
    pattern: FilePattern
    partitions_def: dg.PartitionsDefinition | None
    policy: dg.BackfillPolicy | None

    def sensor(self) -> dg.SensorDefinition:
        """The sensor; it is off until someone turns it on."""
        table = ".".join(self.key.path)

        @dg.sensor(
            name=f"{'_'.join(self.key.path)}_files",
            target=dg.AssetSelection.assets(self.key),
            minimum_interval_seconds=SECONDS_BETWEEN,
            default_status=dg.DefaultSensorStatus.STOPPED,
            description=f"Loads {table} from new and changed files {self.pattern.text}, each version once.",
        )
        def files(context: dg.SensorEvaluationContext) -> dg.SensorResult:
            return self.tick(context)

        return files

    def tick(self, context: dg.SensorEvaluationContext) -> dg.SensorResult:
        """Ask for what is new since the last tick."""
        settings = Settings()
        folder = settings.source_dir
        if not folder.is_dir():  # not every file is gone: nobody can look
            return dg.SensorResult(skip_reason=f"{folder} is not there. Nothing was looked at.")
        memory = _memory(context)
        ends = time.monotonic() + SECONDS_TO_READ
        there = list(self.pattern.find(folder))
        found = self._by_partition(there, settings)
        watch = Watch(
            digest_below(folder, LARGEST_DIGESTED),
            settings.file_settle_seconds,
            lambda: time.monotonic() < ends,
        )
        look = watch.look(memory, found, (file.name for file in there), time.time())
        wanted = {
            **{part: found[part] for part in self._wiped(context.instance, memory, found)},
            **self._not_loaded(context.instance, look.changed),
        }
        requests = list(self._requests(memory, wanted, settings))
        if requests:
            memory.requests += 1
        told = _told(look, len(there) - sum(map(len, found.values())))
        if told:
            context.log.info("; ".join(told))
        return dg.SensorResult(
            run_requests=requests,
            skip_reason=None if requests else "; ".join(told) or f"{len(there)} files, none is new.",
            cursor=memory.dumps(),
            asset_events=[self._gone(name) for name in look.gone],
        )

    def _by_partition(
        self, there: Iterable[SourceFile], settings: Settings
    ) -> dict[date | None, list[SourceFile]]:
        """The files of the partitions that there are by now."""
        keys = set(self._keys(settings))
        found: dict[date | None, list[SourceFile]] = {}
        for file in there:
            if file.partition is None or file.partition.isoformat() in keys:
                found.setdefault(file.partition, []).append(file)
        return found

    def _keys(self, settings: Settings) -> list[str]:
        if self.partitions_def is None:
            return []
        timezone = getattr(self.partitions_def, "timezone", "UTC")
        return list(self.partitions_def.get_partition_keys(current_time=now_by(settings, timezone)))

    def _wiped(
        self, instance: dg.DagsterInstance, memory: FileMemory, found: Collection[date | None]
    ) -> list[date | None]:
        """Partitions that were loaded and are no more, as someone wiped them; notes which are loaded now."""
        if self.partitions_def is None:
            is_loaded = instance.get_latest_materialization_event(self.key) is not None
            loaded = {""} if is_loaded else set()
        else:
            loaded = instance.get_materialized_partitions(self.key)
        wiped = [part for part in found if _key(part) in memory.loaded - loaded]
        memory.loaded = {_key(part) for part in found} & loaded
        return wiped

    def _not_loaded(
        self, instance: dg.DagsterInstance, changed: Mapping[date | None, list[SourceFile]]
    ) -> Mapping[date | None, list[SourceFile]]:
        """Those whose latest load read another version than this; a person may have been faster."""
        if not changed:
            return {}
        keys = None if self.partitions_def is None else [_key(part) for part in changed]
        records = latest_materializations(instance, self.key, keys)
        return {
            part: files
            for part, files in changed.items()
            if not _has_read(records.get(_key(part) or None), files)
        }

    def _requests(
        self, memory: FileMemory, wanted: Mapping[date | None, list[SourceFile]], settings: Settings
    ) -> Iterator[dg.RunRequest]:
        """Runs of as many partitions as the asset's backfill policy allows."""
        request = partial(self._request, memory)
        if self.partitions_def is None:
            yield from [request(None, files) for files in wanted.values()]
            return
        by_key = {_key(part): files for part, files in wanted.items()}
        for first, last in unbroken(self._keys(settings), by_key, partitions_a_run(self.policy)):
            files = [file for key in sorted(by_key) if first <= key <= last for file in by_key[key]]
            yield request((first, last), files)

    def _request(self, memory: FileMemory, of: Range | None, files: list[SourceFile]) -> dg.RunRequest:
        """A run that is made once if the tick is done again, and again if the same version comes again."""
        said = "|".join([memory.id, str(memory.requests), str(of), version_of(files)])
        return dg.RunRequest(
            run_key=hashlib.sha256(said.encode()).hexdigest(),
            tags=range_tags(of) if of else {},
            asset_selection=[self.key],
        )

    def _gone(self, name: str) -> dg.AssetObservation:
        """What the UI shows of a file that was taken away; its rows stay."""
        partition = self.pattern.partition_of(name)
        return dg.AssetObservation(
            self.key,
            partition=partition.isoformat() if partition else None,
            description=f"{name} is no longer there. Its rows stay in the table.",
            metadata={"file": name},
        )


def _memory(context: dg.SensorEvaluationContext) -> FileMemory:
    try:
        return FileMemory.loads(context.cursor)
    except ValueError:
        context.log.warning("The cursor cannot be read. What is loaded is found out from Dagster's history.")
        return FileMemory()


def _key(partition: date | None) -> str:
    return partition.isoformat() if partition else ""


def _has_read(record: dg.EventLogRecord | None, files: list[SourceFile]) -> bool:
    """Whether a load read these versions; of one that does not say, whether it is later than the files."""
    if record is None or record.asset_materialization is None:
        return False
    version = record.asset_materialization.metadata.get(FILE_VERSION)
    if version is not None:
        return version.value == version_of(files)
    return max(file.modified for file in files) / 1e9 < record.timestamp


def _told(look: Look, early: int) -> list[str]:
    """What a person may want to know of a look, in sentences' parts."""
    several = {
        "are gone, their rows stay": look.gone,
        "may still be written": [file.name for file in look.unsettled],
        "were touched and are the same": [file.name for file in look.touched],
    }
    told = [f"{_some(names)} {what}" for what, names in several.items() if names]
    if early:
        told.append(f"{early} files are of no partition that there is by now")
    if look.postponed:
        told.append(f"{look.postponed} partitions are left for the next tick")
    return told


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
