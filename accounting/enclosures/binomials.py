"""Generalised binomial coefficients, binomial tails and exact confidence bounds for a rate."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ..errors import InvalidType, InvalidValue, OutsideDomain
from ._monotone import increasing_image, of_bracket
from ._series import Bracket
from .enclosure import DEFAULT_PRECISION, Enclosure
from .log_gamma import log_gamma
from .roots import increasing_root
from .truth import Truth

_GUARD = 16


def generalised_binomial(alpha: Fraction, k: int) -> Fraction:
    """α·(α−1)···(α−k+1)/k!, exactly; 0 for k < 0.

    >>> generalised_binomial(Fraction(1, 2), 3)
    Fraction(1, 16)
    """
    if k < 0:
        return Fraction(0)
    top, bottom = alpha.as_integer_ratio()
    return Fraction(math.prod(top - i * bottom for i in range(k)), bottom**k * math.factorial(k))


def binomial_tail(trials: int, least: int, probability: Enclosure) -> Enclosure:
    """P(X ≥ least) for X binomial with that many trials and that probability of success.

    Guarantees: the tail of every probability inside lies in the result, whose ends are within a few units of the last
    place of the tails at its ends, relatively, however small they are. It takes time in proportion to the standard
    deviation of X, about 10 ms for a million trials.

    Raises:
        OutsideDomain: where the probability reaches outside [0, 1].
        InvalidValue: for trials below 0.
        InvalidType: for trials and `least` that are no integers.

    >>> binomial_tail(4, 3, Enclosure.of("0.5"))
    Enclosure[0.31249999999999999999999999999, 0.31250000000000000000000000001]
    """
    _checked_count("trials", trials, 0)
    _checked_count("least", least, None)
    if probability.less(0) is not Truth.FALSE or probability.greater(1) is not Truth.FALSE:
        raise OutsideDomain(f"a binomial tail for the probability {probability}, which reaches outside [0, 1].")
    return increasing_image(probability, lambda at: _tail(trials, least, at))


def binomial_lower_bound(
    successes: int, trials: int, error: Fraction, *, precision: int = DEFAULT_PRECISION
) -> Enclosure:
    """The rate at which P(X ≥ successes) = error: Clopper and Pearson's lower bound; 0 where there is no success.

    Guarantees: the lower end of the result is a lower bound on the rate that fails with probability at most `error`,
    whatever the rate is, by the binomial tail that is proven at it.

    Args:
        successes: from 0 to `trials`.
        trials: at least 1.
        error: the probability that is allowed for the bound to be wrong, in (0, 1).
        precision: bits of the ends.

    Raises:
        InvalidValue: outside these ranges.
        InvalidType: for counts that are no integers.

    >>> binomial_lower_bound(2, 2, Fraction(1, 4))
    Enclosure[0.49999999999999999999999999999, 0.50000000000000000000000000002]
    """
    _checked_count("trials", trials, 1)
    _checked_count("successes", successes, 0)
    if successes > trials:
        raise InvalidValue("successes", successes, f"an integer of at most trials = {trials}")
    if not 0 < error < 1:
        raise InvalidValue("error", error, "a probability strictly between 0 and 1")
    if not successes:
        return Enclosure.of(0, precision=precision)
    return increasing_root(
        lambda rate: binomial_tail(trials, successes, rate) - error,
        0,
        1,
        precision=precision,
        guess=_bound_guess(successes, trials, float(error)),
    )


def binomial_upper_bound(
    successes: int, trials: int, error: Fraction, *, precision: int = DEFAULT_PRECISION
) -> Enclosure:
    """The rate at which P(X ≤ successes) = error; 1 where all trials succeed. Otherwise as `binomial_lower_bound`.

    Guarantees: the upper end of the result is an upper bound on the rate that fails with probability at most `error`.
    """
    return 1 - binomial_lower_bound(trials - successes, trials, error, precision=precision)


def binomial_interval(
    successes: int, trials: int, confidence: Fraction, *, precision: int = DEFAULT_PRECISION
) -> Enclosure:
    """Clopper and Pearson's interval for a rate, rounded outward.

    Guarantees: whatever the rate is, it lies inside with probability at least `confidence`; each side fails with at
    most half of the rest.

    Raises:
        InvalidValue: for counts and errors outside the ranges of `binomial_lower_bound`.
        InvalidType: for counts that are no integers.

    >>> binomial_interval(0, 10, Fraction(95, 100))
    Enclosure[0, 0.309]
    """
    error = (1 - confidence) / 2
    lower = binomial_lower_bound(successes, trials, error, precision=precision)
    return lower.hull(binomial_upper_bound(successes, trials, error, precision=precision))


def _checked_count(parameter: str, count: int, least: int | None) -> None:
    """Refuse what is no integer, or is below `least`."""
    admissible = "an integer" if least is None else f"an integer of at least {least}"
    match count:
        case int() if not isinstance(count, bool):
            if least is not None and count < least:
                raise InvalidValue(parameter, count, admissible)
        case _:
            raise InvalidType(parameter, count, admissible)


def _tail(trials: int, least: int, probability: Enclosure) -> Enclosure:
    """P(X ≥ least) at one probability a/(a + b), from whichever side has decreasing terms."""
    bits = probability.precision
    success = probability.lower
    if least <= 0 or (success == 1 and least <= trials):
        return Enclosure.of(1, precision=bits)
    if least > trials or not success:
        return Enclosure.of(0, precision=bits)
    a, b = success.numerator, success.denominator - success.numerator
    if least * (a + b) >= (trials + 1) * a:
        return _falling_tail(trials, least, a, b, bits)
    return 1 - _falling_tail(trials, trials - least + 1, b, a, bits)


def _falling_tail(trials: int, least: int, a: int, b: int, precision: int) -> Enclosure:
    """P(X ≥ least) where the terms decrease from `least` on: the first one times the sum of their ratios to it."""
    whole = a + b
    work = precision + trials.bit_length() + whole.bit_length().bit_length() + _GUARD
    log_first = (
        _log_factorial(trials, work)
        - _log_factorial(least, work)
        - _log_factorial(trials - least, work)
        + least * Enclosure.of_ratio(a, whole, precision=work).log()
        + (trials - least) * Enclosure.of_ratio(b, whole, precision=work).log()
    )
    return log_first.exp() * of_bracket(_ratio_sum(trials, least, a, b, work), work)


@lru_cache(maxsize=1024)  # searches ask for the same ones
def _log_factorial(count: int, precision: int) -> Enclosure:
    return log_gamma(Enclosure.of(count + 1, precision=max(precision, count.bit_length() + 1)))


def _ratio_sum(trials: int, least: int, a: int, b: int, work: int) -> Bracket:
    """Bracket of Σ_(j≥least) P(X = j)/P(X = least), in units of 2**-work."""
    term = total = 1 << work
    j = least
    while term:
        term = term * ((trials - j) * a) // ((j + 1) * b)
        j += 1
        total += term
    # A term loses less than 1 unit (and none from the first 0 on). Carried on, a loss sums to at most itself times the
    # sum, as the ratios (trials − j)·a/((j + 1)·b) decrease. So the sum falls short by at most (j − least)·sum units,
    # and j − least ≤ trials + 1 < 2**(work − 2).
    return total, total + (2 * (j - least) * total >> work) + 1, -work


def _bound_guess(successes: int, trials: int, error: float) -> float | None:
    """Estimate the bound in floats; None where that gives no number."""
    from scipy.special import betaincinv  # too slow to import with certdp

    guess = float(betaincinv(successes, trials - successes + 1, error))
    return guess if math.isfinite(guess) else None
