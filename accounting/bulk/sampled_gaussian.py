"""Proven bounds of the sampled Gaussian mechanism for many (rate, shift) at once: Rényi divergence, ε and δ.

Legend: a record enters with probability q and then shifts a unit Gaussian by s = sensitivity/standard deviation
(s = 1/σ for noise multiplier σ). τ(α) is the Rényi divergence of order α in the remove direction, which dominates
the add direction for every α > 1 (Mironov, Talwar, Zhang 2019, Theorem 5): the bounds hold in both directions.

Inputs are taken as the binary64 numbers they are: a caller that computes s from other numbers rounds it up. The loops
are compiled (`certdp.accounting._kernels.sampled_gaussian`) and loaded at the first call. Results depend on nothing
but the inputs. The proofs are in `docs/soundness_sampled_gaussian.md`, section "The kernel"; they assume IEEE 754
arithmetic in its default state, and each call raises `CertdpError` where another library has changed that state.

>>> bound, order = epsilon_upper(0.01, 1.0, 1000, 1e-5)
>>> round(float(bound), 6), round(float(order), 2)
(2.100835, 7.78)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import sampled_gaussian as kernels
from ..exact import Floats
from .exact_floats import LARGEST_INTEGER, exact_floats, finite_non_negative, non_negative, probabilities, require_each
from .parts import common_shape, each, flat, part, shared

_SHARE = 64  # elements worth a thread


def renyi_upper(rate: ArrayLike, shift: ArrayLike, order: ArrayLike, *, threads: int = 1) -> Floats:
    """Upper bounds of τ(α), the Rényi divergence of the sampled Gaussian mechanism, for every real order.

    Args:
        rate: q, the probability with which the record enters; in [0, 1].
        shift: s, by how many standard deviations the record moves the output; finite, ≥ 0.
        order: α, finite, > 1. The three are broadcast against one another.
        threads: how many threads share the work; the result is the same for any number.

    Returns:
        An array of the broadcast shape. Guarantees, for the exact binary64 inputs: each value v has τ ≤ v; v = 0
        where q = 0 or s = 0; otherwise v ≤ α·max(s, 10^-150)²/2·(1 + 2^-48), or v is below 10^-280; v = inf
        where s² or the bound exceeds the range. Not guaranteed but usual: v is within 10^-11·τ where α·s < 100
        and s < 30, unless τ is below 10^-280. The slack grows with (α·s)², to 10^-9 at α·s = 1000.

    Raises:
        InvalidType: for anything but arrays of real numbers.
        InvalidValue: for numbers outside the ranges above, or shapes that do not broadcast.
    """
    rates, shifts = probabilities("rate", rate), finite_non_negative("shift", shift)
    orders = exact_floats("order", order)
    require_each("order", orders, (orders > 1) & np.isfinite(orders), "finite orders α > 1")

    return each(kernels.renyi, _SHARE, threads, rate=rates, shift=shifts, order=orders)


def epsilon_upper(
    rate: ArrayLike, shift: ArrayLike, steps: ArrayLike, delta: ArrayLike, *, threads: int = 1
) -> tuple[Floats, Floats]:
    """Upper bounds of ε for T steps of the sampled Gaussian mechanism at a given δ.

    The order is searched continuously in estimates, and the bound proven once at the order found: the smaller of
    Lemma 2.5 of DPIS (Canonne, Kamath, Steinke 2020) and the tangent bound of Asoodeh et al. 2021.

    Args:
        rate: q of each step, in [0, 1].
        shift: s of each step, finite, ≥ 0.
        steps: T, whole numbers ≥ 0.
        delta: δ in [0, 1]. The four are broadcast against one another.
        threads: how many threads share the work; the result is the same for any number.

    Returns:
        (ε, α), arrays of the broadcast shape. Guarantees: T steps are (v, δ)-private in both directions for each
        value v of ε. Where the formula falls below 0 the value is 0, which is then proven too, since (ε, δ) with
        ε ≤ 0 implies (0, δ). ε = 0 where q = 0, s = 0, T = 0 or δ = 1; inf at δ = 0 otherwise, and where nothing
        finite is proven. α is the order used, inf where none was needed or helps.

    Raises:
        InvalidType: for anything but arrays of real numbers.
        InvalidValue: for numbers outside the ranges above, or shapes that do not broadcast.
    """
    return _searched(kernels.epsilon, rate, shift, steps, "delta", probabilities("delta", delta), threads)


def delta_upper(
    rate: ArrayLike, shift: ArrayLike, steps: ArrayLike, epsilon: ArrayLike, *, threads: int = 1
) -> tuple[Floats, Floats]:
    """Upper bounds of δ for T steps of the sampled Gaussian mechanism at a given ε.

    Arguments and errors are those of `epsilon_upper`, with epsilon ≥ 0, `inf` admitted, in place of delta.

    Returns:
        (δ, α), arrays of the broadcast shape. Guarantees: T steps are (ε, v)-private in both directions for each
        value v of δ. Where the formula exceeds 1 the value is 1, which every mechanism satisfies. δ = 0 where
        q = 0, s = 0, T = 0 or ε = inf. α is the order used, inf where none was needed.
    """
    return _searched(kernels.delta, rate, shift, steps, "epsilon", non_negative("epsilon", epsilon), threads)


def _searched(
    kernel: Callable[[Floats, Floats, Floats, Floats, Floats, Floats], None],
    rate: ArrayLike,
    shift: ArrayLike,
    steps: ArrayLike,
    name: str,
    given: Floats,
    threads: int,
) -> tuple[Floats, Floats]:
    rates, shifts = probabilities("rate", rate), finite_non_negative("shift", shift)
    counts = exact_floats("steps", steps)
    whole = (counts >= 0) & (counts <= LARGEST_INTEGER) & (counts == np.floor(counts))
    require_each("steps", counts, whole, "whole numbers from 0 to 2^53")
    shape = common_shape(rate=rates, shift=shifts, steps=counts, **{name: given})
    out, order = np.empty(shape), np.empty(shape)
    results, orders = out.reshape(-1), order.reshape(-1)
    inputs = [flat(array, shape) for array in (rates, shifts, counts, given)]

    def run(start: int, stop: int) -> bool:
        q, s, count, target = (part(vector, start, stop) for vector in inputs)
        kernel(q, s, count, target, results[start:stop], orders[start:stop])
        return True

    shared(run, out.size, _SHARE, threads)
    return out, order
