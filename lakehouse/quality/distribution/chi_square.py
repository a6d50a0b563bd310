"""The tail of the chi-square distribution, which neither numpy nor the standard library has.

By the series and the continued fraction of the incomplete gamma function: NIST's Digital Library of
Mathematical Functions, 8.7.1 and 8.9.2, the latter evaluated by Lentz's method (3.10(ii)).
"""

from math import exp, lgamma, log

_PRECISE = 1e-15
_TERMS = 100_000
_TINY = 1e-300


def survival(statistic: float, freedom: int) -> float:
    """The probability of a chi-square statistic at least this high.

    Args:
        freedom: degrees of freedom, at least 1.
    """
    if statistic <= 0:
        return 1.0
    a, x = freedom / 2, statistic / 2
    scale = exp(a * log(x) - x - lgamma(a))
    return 1 - scale * _lower(a, x) if x < a + 1 else scale * _upper(a, x)


def _lower(a: float, x: float) -> float:
    term = total = 1 / a
    for n in range(1, _TERMS):
        term *= x / (a + n)
        total += term
        if term < total * _PRECISE:
            break
    return total


def _upper(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1 / _TINY
    d = value = 1 / (b or _TINY)
    for n in range(1, _TERMS):
        numerator = n * (a - n)
        b += 2
        d = 1 / (numerator * d + b or _TINY)
        c = b + numerator / c or _TINY
        value *= d * c
        if abs(d * c - 1) < _PRECISE:
            break
    return value
