"""Writes the report as one HTML file that asks for nothing else: no script, no font, no picture."""

import os
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from lakehouse.operations.report import drawing
from lakehouse.operations.report.dimensions import DIMENSIONS
from lakehouse.operations.report.profiles import NumberProfile
from lakehouse.operations.report.project import LAYERS
from lakehouse.overview import size
from lakehouse.storage.errors import StorageError, disk_reason

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from lakehouse.operations.report.report import Report

TEMPLATE, STYLE = "page.html.j2", "page.css"
SHOWN_FINDINGS = 40  # in full; of the others a line
SHOWN_PROFILES = 60
SHOWN_PARTITIONS = 3
GOOD, FAIR = 99.0, 90.0  # scores from which a number is shown in green, in yellow


def page(report: "Report") -> str:
    """The page; every text of data in it is escaped."""
    template = _environment().get_template(TEMPLATE)
    style = Path(__file__).with_name(STYLE).read_text(encoding="utf-8")
    return template.render(report=report, style=style)


def write_page(report: "Report", file: Path) -> None:
    """Write the page in place of the one before, which stays until it is whole.

    Raises:
        StorageError: the file cannot be written.
    """
    text, written = page(report), None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=".", suffix=".html", delete=False
        ) as part:
            written = Path(part.name)
            part.write(text)
        written.chmod(0o666 & ~_umask())  # a temporary file is its owner's alone
        written.replace(file)
    except OSError as error:
        if written is not None:
            with suppress(OSError):
                written.unlink(missing_ok=True)
        raise StorageError(f"The report cannot be written: {disk_reason(error)}") from error


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=lambda value: f"{value:,}",
        score=_score,
        level=_level,
        moment=lambda moment: f"{moment:%Y-%m-%d %H:%M}",
        percent=lambda share: f"{100 * share:.1f} %",
        size=size,
        partitions=_partitions,
        breakable=_breakable,
        first_sentence=lambda text: text.split(". ")[0].removesuffix(".") + ".",
    )
    environment.globals.update(
        dimensions=DIMENSIONS,
        layers=LAYERS,
        score_chart=drawing.score_chart,
        past_chart=_past_chart,
        bar_chart=drawing.bar_chart,
        band_chart=drawing.band_chart,
        is_number=lambda profile: isinstance(profile, NumberProfile),
        shown_findings=SHOWN_FINDINGS,
        shown_profiles=SHOWN_PROFILES,
    )
    return environment


def _past_chart(past: list[tuple[datetime, float]]) -> drawing.Chart:
    return drawing.score_chart([(f"{moment:%Y-%m-%d %H:%M}", score) for moment, score in past])


def _score(value: float | None) -> str:
    """A score to the tenth below: 100 is said only of 100."""
    if value is None:
        return "-"
    return "100" if value == 100 else f"{int(value * 10) / 10:.1f}"  # noqa: PLR2004


def _level(value: float | None) -> str:
    """The class of a score."""
    if value is None:
        return "none"
    return "passed" if value >= GOOD else "warned" if value >= FAIR else "failed"


def _breakable(name: str) -> "Markup":
    """A long name that may go on in the next line after one of its parts."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[._])", name))


def _partitions(partitions: list[str]) -> str:
    """Partitions in words."""
    if len(partitions) <= SHOWN_PARTITIONS:
        return ", ".join(partitions)
    return f"{len(partitions):,} partitions, {partitions[0]} to {partitions[-1]}"
