"""A full disk or a lost catalog under a load: one sentence, the table as before, and the next load works."""

import multiprocessing
import resource
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
from sources import D1, D2, DAILY, Lake

from lakehouse.catalog import open_catalog
from lakehouse.ingest import items
from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.load import load
from lakehouse.settings import Settings

KILO = 1024


@pytest.fixture
def two_days(lake: Lake) -> Lake:
    for day in (D1, D2):
        lake.write_day(day, f"{day},1,old\n")
    lake.load(DAILY, [D1, D2])
    return lake


def load_with_small_files(kilobytes: int, settings: Settings) -> list[str]:
    """What a load says where no file can be larger."""
    other = Settings(data_dir=settings.data_dir / "other", source_dir=settings.source_dir)
    load(DAILY, other, [D1])  # what is imported late is imported before the limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * KILO, resource.RLIM_INFINITY))
    try:
        return list(load(DAILY, settings, [D1, D2]).failures.values())
    except LoadError as error:
        return [str(error)]


def in_a_child(work: Callable[..., list[str]], *arguments: object) -> list[str]:
    """What a process of its own says; one that dies is an error, and not waited for."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def is_as_before(lake: Lake) -> None:
    assert lake.read("bronze.daily", "d, id, name") == [(D1, 1, "old"), (D2, 1, "old")]
    assert lake.working_folders() == []
    for day in (D1, D2):
        lake.write_day(day, f"{day},2,new\n")
    lake.load(DAILY, [D1, D2])
    assert lake.read("bronze.daily", "d, id, name") == [(D1, 2, "new"), (D2, 2, "new")]


@pytest.mark.parametrize(("kilobytes", "named"), [(100, [str(D1), str(D2)]), (2, ["bronze.daily"])])
def test_a_load_that_does_not_fit_the_disk(two_days: Lake, kilobytes: int, named: list[str]) -> None:
    rows = 10_000 if kilobytes > 2 else 1
    for day in (D1, D2):
        two_days.write_day(day, "".join(f"{day},{n},{uuid.uuid4()}\n" for n in range(rows)))
    said = in_a_child(load_with_small_files, kilobytes, two_days.settings)

    assert len(said) == len(named)
    for sentence in said:
        assert "File too large" in sentence and "free some space on that disk" in sentence
        assert "Traceback" not in sentence and "\n" not in sentence
    is_as_before(two_days)


def test_a_load_whose_catalog_is_gone(two_days: Lake) -> None:
    file = two_days.settings.catalog_file
    away = file.rename(file.with_suffix(".away"))
    with pytest.raises(LoadError, match=r"^bronze\.daily: The catalog .* is missing, but .* holds tables"):
        two_days.load(DAILY, [D1])
    assert not file.exists()
    away.rename(file)

    assert [table for _, table in open_catalog(two_days.settings).list_tables("bronze")] == ["daily"]
    is_as_before(two_days)


def test_a_load_whose_catalog_goes_away_under_it(two_days: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    file = two_days.settings.catalog_file

    def vanish(*taken: Any) -> Iterator[Any]:
        if file.exists():
            file.rename(file.with_suffix(".away"))
        yield from items_taken(*taken)

    items_taken = items._taken
    monkeypatch.setattr(items, "_taken", vanish)  # called while rows are taken
    with pytest.raises(LoadError, match=r"^bronze\.daily: The catalog .* is gone: restore it"):
        two_days.load(DAILY, [D1, D2])
    monkeypatch.undo()
    file.with_suffix(".away").rename(file)
    is_as_before(two_days)
