"""What profiles say of two distributions is what scipy says of their rows."""

from datetime import date
from itertools import pairwise

import duckdb
import numpy as np
import pytest
from scipy import stats

from lakehouse.quality.distribution import comparison
from lakehouse.quality.distribution.chi_square import survival
from lakehouse.quality.distribution.profile import POINTS, ColumnProfile, Kind
from lakehouse.quality.distribution.profiling import profile

DAY = date(2024, 3, 9)
RANDOM = np.random.default_rng(7)
DELAYS = [np.round(RANDOM.gamma(2, 20, 900) - 15) for _ in range(6)]  # minutes, each several times
PRICES = [RANDOM.lognormal(size, 1, 5000) for size in (3.0, 3.05, 2.9, 3.2)]  # each once
LEVELS = [RANDOM.normal(1e6 + shift, 0.5, 3000) for shift in (0.0, 0.1, 0.0)]  # far from 0, close together
NUMBERS = [("delays", DELAYS), ("prices", PRICES), ("levels", LEVELS)]
SHOPS = [RANDOM.choice(["web", "shop", "phone"], 700, p=p) for p in ([0.5, 0.3, 0.2], [0.48, 0.3, 0.22])]


def profiled(values: object, kind: Kind = "number") -> ColumnProfile:
    relation = duckdb.connect()
    relation.register("given", {"x": np.asarray(values)})
    query = f"select date '{DAY}' as d, x from given"
    return profile(relation, query, "d", {"x": kind})[DAY].columns["x"]


@pytest.mark.parametrize(("name", "days"), NUMBERS)
def test_the_kolmogorov_smirnov_statistic(name: str, days: list[np.ndarray]) -> None:
    now, *before = [profiled(day) for day in days]

    found = comparison.ks(now, before).value

    expected = stats.ks_2samp(days[0], np.concatenate(days[1:])).statistic
    precision = 1e-12 if now.exact else 2 / POINTS
    assert found == pytest.approx(expected, abs=precision)
    assert now.exact == (name == "delays")


@pytest.mark.parametrize(("name", "days"), NUMBERS)
def test_the_stability_index_of_numbers(name: str, days: list[np.ndarray]) -> None:
    now, *before = [profiled(day) for day in days]

    found = comparison.psi_of_numbers(now, before).value

    was = np.concatenate(days[1:])
    deciles = np.quantile(was, np.arange(0.1, 1, 0.1), method="inverted_cdf")
    edges = [-np.inf, np.nextafter(was.min(), -np.inf), *np.unique([*deciles, was.max()]), np.inf]
    shares = [
        np.array([((values > low) & (values <= high)).mean() for low, high in pairwise(edges)])
        for values in (days[0], was)
    ]
    p, q = (np.maximum(share, comparison.NO_SHARE) for share in shares)
    there = (shares[0] > 0) | (shares[1] > 0)
    expected = (
        (stats.entropy(p, q) + stats.entropy(q, p)) if now.exact else ((p - q) * np.log(p / q))[there].sum()
    )
    assert found == pytest.approx(expected, abs=2e-4 if now.exact else 0.01)


def test_the_stability_index_of_categories() -> None:
    now, before = (profiled(day, "category") for day in SHOPS)

    found = comparison.psi_of_categories(now, [before]).value

    p, q = ([(day == shop).mean() for shop in ("web", "shop", "phone")] for day in SHOPS)
    assert found == pytest.approx(stats.entropy(p, q) + stats.entropy(q, p), rel=1e-12)


def test_the_chi_square_test() -> None:
    now, *before = (profiled(day, "category") for day in [*SHOPS, SHOPS[0]])

    found = comparison.chi_square(now, before)

    rows = [[(day == shop).sum() for shop in ("web", "shop", "phone")] for day in [*SHOPS, SHOPS[0]]]
    expected = stats.chi2_contingency([rows[0], np.sum(rows[1:], axis=0)], correction=False)
    assert found.value == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.metrics == {
        "chi_square_statistic": pytest.approx(expected.statistic, rel=1e-12),
        "degrees_of_freedom": expected.dof,
    }


@pytest.mark.parametrize("freedom", [1, 2, 5, 20, 999])
@pytest.mark.parametrize("times", [0.001, 0.3, 0.9, 1.0, 1.1, 2.0, 20.0])
def test_the_tail_of_the_chi_square_distribution(freedom: int, times: float) -> None:
    expected = stats.chi2.sf(freedom * times, freedom)

    assert survival(freedom * times, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_the_robust_z_score() -> None:
    before = RANDOM.normal(800, 40, 28)

    found = comparison.robust_z(930, before).value

    expected = (930 - np.median(before)) / stats.median_abs_deviation(before, scale="normal")
    assert found == pytest.approx(expected, rel=1e-4)
