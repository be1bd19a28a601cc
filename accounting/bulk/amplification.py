"""Amplification by Poisson sampling for many records at once, in the approximate and the Rényi notion, from above.

Legend: record i enters with probability q, its pair has the parameter s (a shift in standard deviations or in scales of
the Laplace noise, or the ε of randomised response). The three pairs are symmetric: an involution of the outputs swaps
their two laws. For symmetric pairs the REMOVE direction dominates the ADD direction after sampling, for every δ(ε) and
every Rényi order (proven in `docs/soundness_amplification_rows.md`, section "Directions").

Inputs are taken as the binary64 numbers they are: a caller that computes s from other numbers rounds it up. The loops
are compiled (`certdp.accounting._kernels.amplification_rows`) and loaded at the first call. Results depend on nothing
but the inputs. The proofs are in `docs/soundness_amplification_rows.md`; they assume IEEE 754 arithmetic in its default
state, and each call raises `CertdpError` where another library has changed that state.

>>> round(float(gaussian_delta(1.0, 1.0, 0.0)), 10), float(laplace_delta(0.5, 1.0, 2.0))
(0.3829249225, 0.0)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import amplification_rows as kernels
from ..enclosures import Enclosure
from ..errors import InvalidType, InvalidValue
from ..exact import Floats
from ..relations import Direction
from . import arrays as bulk
from .arrays import UNIT
from .exact_floats import exact_floats, finite_non_negative, non_negative, probabilities, require_each
from .parts import each, flat, part, shared

_SHARE = 1 << 10  # elements worth a thread
_Kernel: TypeAlias = Callable[..., None]


def gaussian_delta(
    rate: ArrayLike,
    shift: ArrayLike,
    epsilon: ArrayLike,
    direction: Direction = Direction.REMOVE,
    *,
    threads: int = 1,
) -> Floats:
    """Upper bounds of δ(ε) of the sampled Gaussian pair.

    Args:
        rate: q, the probability with which the record enters; in [0, 1].
        shift: s, by how many standard deviations the record moves the output; finite, ≥ 0.
        epsilon: ε in nats, ≥ 0, `inf` admitted. The three are broadcast against one another.
        direction: which of the two; REMOVE bounds both.
        threads: how many threads share the work; the result is the same for any number.

    Returns:
        An array of the broadcast shape. Guarantees, for the exact binary64 inputs: each value v has δ ≤ v ≤ q; v = 0
        where q = 0, s = 0 or ε = inf. With the level L = log(1 + (e^ε − 1)/q) and a = L/s − s/2 ≤ 37.5 it exceeds δ in
        the REMOVE direction by at most the factor (800 + 64·(1 + |a|)·(1 + |a| + s))·2^-53 of it plus 2^-1068.

    Raises:
        InvalidType: for anything but arrays of real numbers.
        InvalidValue: for numbers outside the ranges above, or shapes that do not broadcast.
    """
    return _delta(rate, shift, epsilon, direction, laplace=False, threads=threads)


def laplace_delta(
    rate: ArrayLike,
    shift: ArrayLike,
    epsilon: ArrayLike,
    direction: Direction = Direction.REMOVE,
    *,
    threads: int = 1,
) -> Floats:
    """Upper bounds of δ(ε) of the sampled Laplace pair, s scales apart.

    Arguments, errors and guarantees are those of `gaussian_delta`, except that v exceeds δ in the REMOVE direction by
    at most 2^-46·q·s and by the factor 2^-48 of it, plus 2^-1068; v = 0 where the level reaches s by more than that.
    """
    return _delta(rate, shift, epsilon, direction, laplace=True, threads=threads)


def gaussian_epsilon(rate: ArrayLike, shift: ArrayLike, delta: ArrayLike, *, threads: int = 1) -> Floats:
    """Upper bounds of the smallest ε at which the sampled Gaussian pair has δ(ε) ≤ δ, in both directions.

    The level before sampling is searched in floats, its δ proven once, and amplified by Theorem 6: q·δ(L) = δ and
    ε = log(1 + q·(e^L − 1)).

    Args:
        rate: q, in [0, 1].
        shift: s, finite, ≥ 0.
        delta: δ in [0, 1]. The three are broadcast against one another.
        threads: how many threads share the work; the result is the same for any number.

    Returns:
        An array of the broadcast shape. Guarantees: each value is at least the smallest ε; 0 where δ ≥ q or s = 0; inf
        at δ = 0 otherwise. Not guaranteed but usual: within 10^-12·(1 + s)·ε unless δ < 2^-1000·q.

    Raises:
        InvalidType: for anything but arrays of real numbers.
        InvalidValue: for numbers outside the ranges above, or shapes that do not broadcast.
    """
    return _epsilon(kernels.gaussian_level, rate, finite_non_negative("shift", shift), delta, threads)


def laplace_epsilon(rate: ArrayLike, shift: ArrayLike, delta: ArrayLike, *, threads: int = 1) -> Floats:
    """As `gaussian_epsilon` for the Laplace pair, in closed form: L = s + 2·log(1 − δ/q), at least 0.

    At δ = 0 the level is s itself.
    """

    def level(q: Floats, s: Floats, d: Floats, out: Floats) -> None:
        kernels.pure_level(q, s, d, True, out)

    return _epsilon(level, rate, finite_non_negative("shift", shift), delta, threads)


def response_epsilon(rate: ArrayLike, loss: ArrayLike, delta: ArrayLike, *, threads: int = 1) -> Floats:
    """As `gaussian_epsilon` for randomised response, which bounds every mechanism with the same pure ε.

    In closed form: L = ε + log(1 − (1 + e^−ε)·δ/q), at least 0; ε = `loss`, inf admitted.
    """
    losses = non_negative("loss", loss)

    def level(q: Floats, e: Floats, d: Floats, out: Floats) -> None:
        kernels.pure_level(q, e, d, False, out)

    return _epsilon(level, rate, losses, delta, threads)


def laplace_moments(shift: ArrayLike, order: int, *, threads: int = 1) -> Floats:
    """Upper bounds of the log-moments (α − 1)·τ(α) of the Laplace pair, before sampling.

    Args:
        shift: s, finite, ≥ 0.
        order: α, a whole number ≥ 2.
        threads: how many threads share the work.

    Returns:
        An array of the shape of `shift`; each value is at least the log-moment and exceeds it by at most the factor
        2^-46·(1 + αs) of it plus 2^-1060.
    """
    return _moments(kernels.laplace_moments, finite_non_negative("shift", shift), order, threads)


def response_moments(loss: ArrayLike, order: int, *, threads: int = 1) -> Floats:
    """Upper bounds of the log-moments (α − 1)·τ(α) of randomised response with ε = `loss`, before sampling.

    Arguments and guarantees are those of `laplace_moments`, with ε in place of s, `inf` admitted.
    """
    return _moments(kernels.response_moments, non_negative("loss", loss), order, threads)


def sampled_moments(moments: ArrayLike, rate: ArrayLike, *, threads: int = 1) -> Floats:
    """Upper bounds of the log-moments after sampling, REMOVE direction: (α − 1)·τ'(α) at a whole order α.

    Args:
        moments: matrix (n, α − 1); row i holds bounds u_k ≥ (k − 1)·τ_k of record i for k = 2, …, α; ≥ 0, `inf`
            admitted.
        rate: q, one per record or one for all; in [0, 1].
        threads: how many threads share the records; the result is the same for any number.

    Returns:
        n values. Guarantees: each is at least log(1 + Σ_k C(α, k)(1 − q)^{α−k}q^k·(e^{u_k} − 1)); the excess is at most
        the factor 64·(1 + α·(1 − log q − log(1 − q)) + u_α)·2^-53 of it, plus 2^-960. 0 where q = 0, u_α where q = 1.

    Raises:
        InvalidType: for anything but arrays of real numbers.
        InvalidValue: for numbers outside the ranges above, or shapes that do not fit.
    """
    rows = np.require(exact_floats("moments", moments), requirements=["A"])
    if rows.ndim != 2 or rows.shape[1] < 1:
        raise InvalidValue("moments", f"shape {rows.shape}", "a matrix with a column for each order 2, …, α")
    require_each("moments", rows, rows >= 0, "log-moments ≥ 0, inf included")
    rates = probabilities("rate", rate)
    if rates.shape not in ((), (1,), rows.shape[:1]):
        raise InvalidValue("rate", f"shape {rates.shape}", "one rate per record, or one for all")
    q, binomials = flat(rates, rows.shape[:1]), _log_binomials(rows.shape[1] + 1)

    out = np.empty(rows.shape[0])

    def run(start: int, stop: int) -> bool:
        kernels.sampled_moments(rows[start:stop], binomials, part(q, start, stop), out[start:stop])
        return True

    shared(run, out.size, max(1, _SHARE // rows.shape[1]), threads)
    return out


def mixed_moments(moment: ArrayLike, rate: ArrayLike, *, threads: int = 1) -> Floats:
    """Upper bounds of log(1 − q + q·e^u), which bounds the log-moment after sampling in both directions at any order.

    The moment E_Q[(Q/M)^{α−1}], like E_Q[(M/Q)^α], is convex in q, and e^u at q = 1.

    Args:
        moment: u ≥ (α − 1)·τ(α) for any real α > 1; ≥ 0, `inf` admitted.
        rate: q, in [0, 1]. Broadcast against `moment`.
        threads: how many threads share the work; the result is the same for any number.

    Returns:
        An array of the broadcast shape, with the guarantees of `bulk.psi_remove`, whose formula it is.
    """
    return bulk.psi_remove(moment, rate, threads=threads)


def added_moments(spread: Floats, rate: Floats, order: Fraction) -> Floats:
    """Upper bounds of the log-moment after sampling, ADD direction, from τ_2 alone, at any order; inf at rate 1.

    That of a law of two outcomes, as `amplification.renyi_after_sampling` says, or, where its terms cancel, of the
    largest second derivative. Sums and products are within 40 roundings of terms that are within 6 of exponents that
    are; all is paid for by 2^-44·(1 + exponent).

    Args:
        spread: u ≥ τ_2 of each record; inf admitted.
        rate: q in [0, 1] of each.
        order: α > 1.
    """
    alpha = Enclosure.of(order).upper_float
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        absent = -bulk.log1p(-rate)
        exponent, steeper = (alpha - 1.0) * absent, (alpha + 1.0) * absent
        moved = (alpha - 1.0) * bulk.log1p(rate * bulk.expm1(spread))
        slack = 2.0**-44 * (1.0 + exponent)
        apart = -bulk.expm1(-spread) * bulk.expm1(exponent) * (1.0 + slack)
        together = bulk.exp(-spread) * -bulk.expm1(-moved) * (1.0 - slack)
        excess = np.where(np.isfinite(moved), apart - together, apart) + 2.0**-44 * apart
        steepest = rate * rate * bulk.expm1(spread) * (alpha * (alpha - 1.0) / 2.0) * bulk.exp(steeper)
        steepest *= 1.0 + 2.0**-44 * (1.0 + steeper)
        least = np.fmin(excess, np.where(np.isnan(steepest), np.inf, steepest))
        found = bulk.log1p(np.maximum(np.where(np.isnan(least), np.inf, least), 0.0) + 2.0**-960) * (1.0 + 2.0**-44)
        found = np.minimum(found, exponent * (1.0 + 2.0**-44))  # of the likelier outcome alone
    found = np.where(rate < 1.0, found, np.inf)
    return np.where((rate == 0.0) | (spread == 0.0), 0.0, found)


def between_integers(below: Floats, above: Floats, order: Fraction) -> Floats:
    """τ(α) from above by the chord of the log-moments, which are convex in α, between whole orders.

    Args:
        below: bounds of (n − 1)·τ(n) for n = ⌊α⌋; 0 where n = 1.
        above: the same for n + 1; not used where α is whole.
        order: α > 1.
    """
    share = order % 1
    if not share:
        return scaled(below, 1 / (order - 1))
    low, high = scaled(below, (1 - share) / (order - 1)), scaled(above, share / (order - 1))
    return np.where(below == 0.0, high, (low + high) * (1.0 + 4.0 * float(UNIT)))


def scaled(values: Floats, factor: Fraction) -> Floats:
    """values·factor from above, for values ≥ 0 and a factor > 0 within binary64; 0 stays 0."""
    if factor == 1:
        return values
    up = Enclosure.of(factor).upper_float
    with np.errstate(over="ignore"):  # inf is a bound
        return np.where(values == 0.0, 0.0, np.nextafter(values * up, np.inf))


def _delta(
    rate: ArrayLike, shift: ArrayLike, epsilon: ArrayLike, direction: Direction, *, laplace: bool, threads: int
) -> Floats:
    if not isinstance(direction, Direction):
        raise InvalidType("direction", direction, "Direction.REMOVE or Direction.ADD")
    rates, shifts = probabilities("rate", rate), finite_non_negative("shift", shift)
    epsilons = non_negative("epsilon", epsilon)

    add = direction is Direction.ADD

    def kernel(q: Floats, s: Floats, e: Floats, out: Floats) -> None:
        kernels.delta(q, s, e, add, laplace, out)

    return each(kernel, _SHARE, threads, rate=rates, shift=shifts, epsilon=epsilons)


def _epsilon(kernel: _Kernel, rate: ArrayLike, parameter: Floats, delta: ArrayLike, threads: int) -> Floats:
    rates, deltas = probabilities("rate", rate), probabilities("delta", delta)
    levels = each(kernel, _SHARE, threads, rate=rates, shift=parameter, delta=deltas)
    return bulk.psi_remove(levels, rates, threads=threads)


def _moments(kernel: _Kernel, parameter: Floats, order: int, threads: int) -> Floats:
    if isinstance(order, bool) or not isinstance(order, int):
        raise InvalidType("order", order, "a whole number ≥ 2")
    if not 2 <= order <= 2**40:
        raise InvalidValue("order", order, "a whole number from 2 to 2^40")

    def at(values: Floats, out: Floats) -> None:
        kernel(values, float(order), out)

    return each(at, _SHARE, threads, parameter=np.require(parameter))


@lru_cache(maxsize=256)
def _log_binomials(order: int) -> Floats:
    """log C(α, k) for k = 2, …, α, from above."""
    return np.array([Enclosure.of(comb(order, k)).log().upper_float for k in range(2, order + 1)])
