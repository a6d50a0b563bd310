"""Charts as geometry: what the page draws as SVG, in the units of its own small canvas."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 320.0, 96.0
PAD = 4.0


@dataclass(frozen=True)
class Mark:
    """A point or bar with what it stands for."""

    x: float
    y: float
    title: str
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True)
class Chart:
    """One chart.

    Args:
        line: the `d` of a path, empty for none.
        band: the `d` of a filled path, empty for none.
        low, high: what the lower and the upper edge stand for.
        first, last: what the left and the right end stand for.
    """

    line: str = ""
    band: str = ""
    marks: Sequence[Mark] = ()
    bars: Sequence[Mark] = ()
    low: str = ""
    high: str = ""
    first: str = ""
    last: str = ""
    width: float = WIDTH
    height: float = HEIGHT


def score_chart(points: Sequence[tuple[date | str, float]]) -> Chart:
    """A line of scores from 0 to 100; the lower edge is a round number below the worst."""
    low = max(0.0, min(90.0, 10 * ((min(score for _, score in points) - 1) // 10)))
    xs = _spread(len(points))
    marks = [
        Mark(x, _y(score, low, 100.0), f"{day}: {score:.1f}")
        for x, (day, score) in zip(xs, points, strict=True)
    ]
    line = _path([(mark.x, mark.y) for mark in marks])
    return Chart(
        line=line,
        band=f"{line} L{marks[-1].x:.1f} {HEIGHT:.1f} L{marks[0].x:.1f} {HEIGHT:.1f} Z",
        marks=marks,
        low=f"{low:.0f}",
        high="100",
        first=str(points[0][0]),
        last=str(points[-1][0]),
    )


def band_chart(days: Sequence[tuple[date, float, float, float]]) -> Chart:
    """A line of middles in a band from the low to the high of each partition."""
    low, high = min(day[1] for day in days), max(day[3] for day in days)
    if low == high:
        low, high = low - 1, high + 1
    xs = _spread(len(days))
    lows = [(x, _y(day[1], low, high)) for x, day in zip(xs, days, strict=True)]
    highs = [(x, _y(day[3], low, high)) for x, day in zip(xs, days, strict=True)]
    marks = [
        Mark(x, _y(middle, low, high), f"{day}: {below:g} to {above:g}, middle {middle:g}")
        for x, (day, below, middle, above) in zip(xs, days, strict=True)
    ]
    return Chart(
        line=_path([(mark.x, mark.y) for mark in marks]),
        band=f"{_path(highs)} {_path(lows[::-1]).replace('M', 'L', 1)} Z",
        marks=marks,
        low=f"{low:.4g}",
        high=f"{high:.4g}",
        first=str(days[0][0]),
        last=str(days[-1][0]),
    )


def bar_chart(counts: Sequence[tuple[date, int]], most: int = 60) -> Chart:
    """A bar for each of the last days."""
    shown = counts[-most:]
    high = max(count for _, count in shown)
    step = (WIDTH - 2 * PAD) / len(shown)
    width = min(step * 0.8, 24.0)
    bars = [
        Mark(
            PAD + step * n + (step - width) / 2,
            _y(count, 0, high),
            f"{day}: {count:,}",
            width,
            HEIGHT - _y(count, 0, high),
        )
        for n, (day, count) in enumerate(shown)
    ]
    return Chart(bars=bars, low="0", high=f"{high:,}", first=str(shown[0][0]), last=str(shown[-1][0]))


def _spread(count: int) -> list[float]:
    if count == 1:
        return [WIDTH / 2]
    return [PAD + (WIDTH - 2 * PAD) * n / (count - 1) for n in range(count)]


def _y(value: float, low: float, high: float) -> float:
    return HEIGHT - (HEIGHT - PAD) * (value - low) / (high - low)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
