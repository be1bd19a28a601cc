"""From one Rényi order to approximate DP: the best possible bound, and DPIS Lemma 2.5.

Legend: r = P/Q, γ = e^ε, M = e^{(α−1)τ}, so that E_Q[r] = 1 and E_Q[r^α] ≤ M. For any r₁ ≥ 0 and c > 0 let
φ(r) = r^α − α·r₁^{α−1}·r + (α − 1)·r₁^α, which is convex and touches 0 at r₁. Then, for

    r₂^{α−1} = r₁^{α−1} + 1/(αc),    γ = c(α − 1)(r₂^α − r₁^α),

the line r − γ touches the convex function c·φ(r) at r₂, and (r − γ)₊ ≤ c·φ(r) for all r ≥ 0. Integrating over Q,

    δ(ε) = E_Q[(r − γ)₊] ≤ c·B,    B = M + (α − 1)·r₁^α − α·r₁^{α−1}.

Every r₁ and c prove a bound, so floats may choose them. At r₁ = 0 it is Lemma 2.5. At the best r₁ nothing smaller
follows from α and τ: the law of r on {r₁, r₂} with E_Q[r] = 1 then has E_Q[r^α] = M and attains it. For δ ≥ 1/α that
is the law on {0, e^τ}: there r₁ = 0, and (r − γ)₊ ≤ b·r + c·r^α with b = 1 − αcM ≥ 0 gives γ = (1 − δ)·e^τ. See
Asoodeh, Liao, Calmon, Kosut, Sankar 2021, Theorem 3, for the same bound by another way. It is the best for the
divergence of P from Q; that of Q from P is not used.

Where γ < 1 follows, ε = 0 holds with the same δ, because δ(ε) does not grow with ε.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..enclosures import Enclosure
from ..enclosures.corners import writable
from ..enclosures.monotone import sharp
from ..errors import InvalidType, InvalidValue
from .renyi_search import choose_ratio, choose_touching


def lemma_2_5(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
    """The ε of DPIS Equation 2: τ + (log(1/δ) + (α − 1)·log(1 − 1/α) − log α)/(α − 1), or 0 where that is negative.

    Args:
        order: α > 1.
        tau: the Rényi bound, at least 0.
        delta: above 0.

    Guarantees: (ε, δ)-DP holds with the upper end, for every τ and δ inside.

    Raises:
        InvalidValue: for an order of at most 1, a τ below 0, and a δ of 0, for which no ε follows.
    """
    _check(order, "tau", tau)
    require_positive(delta)
    return _at_ends(lambda t, d: _eq_2(order, t, d).maximum(0), tau, delta)


def epsilon_at_order(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
    """The smallest ε such that every pair with D_α(P‖Q) ≤ τ has δ(ε) ≤ δ.

    Args:
        order: α > 1.
        tau: the Rényi bound, at least 0.
        delta: at least 0.

    Guarantees: (ε, δ)-DP holds with the upper end, for every τ and δ inside; it is at most that of `lemma_2_5`. Best
    possible but for the floats that choose r₁: relatively about 1e-12, or 1e-14 absolutely.

    Raises:
        InvalidValue: for an order of at most 1, negative arguments, and δ = 0 where τ > 0: no ε follows then.
    """
    _check(order, "tau", tau)
    _check(order, "delta", delta)
    if tau.upper == 0:
        return tau  # equal laws
    require_positive(delta)
    nothing = Enclosure.of(0, precision=tau.precision)

    def bound(t: Enclosure, d: Enclosure) -> Enclosure:
        if t.upper == 0 or d.lower >= 1:
            return nothing  # a probability is at most 1
        touching, _ = choose_touching(float(order - 1), t.upper_float, d.log().lower_float)
        least = _eq_2(order, t, d).minimum(_touching(order, t, d, Fraction(touching)))
        if 1 / order <= d.lower:
            least = least.minimum(t + (-d).log1p())
        return least.maximum(0)

    return _at_ends(bound, tau, delta)


def delta_at_order(order: Fraction, tau: Enclosure, epsilon: Enclosure) -> Enclosure:
    """The smallest δ such that every pair with D_α(P‖Q) ≤ τ has δ(ε) ≤ δ; at most 1.

    Args:
        order: α > 1.
        tau: the Rényi bound, at least 0.
        epsilon: at least 0.

    Guarantees: (ε, δ)-DP holds with the upper end, for every τ and ε inside. Best possible but for the floats that
    choose r₂/r₁: relatively about 1e-12, and more where (α − 1)τ is below 1e-28.

    Raises:
        InvalidValue: for an order of at most 1 and negative arguments.
    """
    _check(order, "tau", tau)
    _check(order, "epsilon", epsilon)
    if tau.upper == 0:
        return tau  # equal laws

    def bound(t: Enclosure, e: Enclosure) -> Enclosure:
        if t.upper == 0:
            return t
        if (e - t).upper <= _log(1 - 1 / order, t).lower:  # δ ≥ 1/α
            return writable(-(e - t).expm1())
        ratio, _ = choose_ratio(float(order - 1), t.upper_float, e.lower_float)
        return writable(_at_ratio(order, t, e, Fraction(ratio)).minimum(1))

    return _at_ends(bound, tau, epsilon)


def _check(order: Fraction, name: str, value: Enclosure) -> None:
    if not isinstance(order, Fraction):
        raise InvalidType("order", order, "a Fraction", "Write Order(value).value to read a number exactly")
    if order <= 1:
        raise InvalidValue("order", order, "an order α > 1")
    if value.lower < 0:
        raise InvalidValue(name, value, "an enclosure of a number ≥ 0")


def require_positive(delta: Enclosure) -> None:
    """Raise InvalidValue for a δ that may be 0."""
    if delta.lower <= 0:
        raise InvalidValue(
            "delta",
            delta,
            "an enclosure of a number > 0",
            "A Rényi bound leaves room for rare outputs of unbounded loss: no ε follows for δ = 0. Choose a δ > 0",
        )


def _at_ends(function: Callable[[Enclosure, Enclosure], Enclosure], tau: Enclosure, other: Enclosure) -> Enclosure:
    """From the value at the largest τ and the smallest `other`, the worst of all, to the one at the opposite ends."""
    bits = max(tau.precision, other.precision)

    def at(loss: Fraction, end: Fraction) -> Enclosure:
        def computed(t: Enclosure) -> Enclosure:
            return function(t, Enclosure.of(end, precision=t.precision))

        return sharp(computed, loss, bits)

    worst = at(tau.upper, other.lower)
    return worst if tau.is_point and other.is_point else worst.hull(at(tau.lower, other.upper))


def _log(number: Fraction, like: Enclosure) -> Enclosure:
    return Enclosure.of(number, precision=like.precision).log()


def _eq_2(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
    above = order - 1
    return tau + (_log(1 - 1 / order, tau) * above - _log(order, tau) - delta.log()) / above


def _touching(order: Fraction, tau: Enclosure, delta: Enclosure, down: Fraction) -> Enclosure:
    """log γ for r₁ = e^{−down} and the c that makes c·B = δ."""
    above = order - 1
    x = Enclosure.of(-above * down, precision=tau.precision).exp()
    mass = _mass(order, tau, Enclosure.of(down, precision=tau.precision))
    apart = (mass / (delta * x * order)).log1p() / above  # log(r₂/r₁)
    shrunk = (-(-apart * order).expm1()).log()  # r₂^α − r₁^α against r₂^α
    return (delta / mass).log() + _log(above, tau) + (apart - down) * order + shrunk


def _at_ratio(order: Fraction, tau: Enclosure, epsilon: Enclosure, apart: Fraction) -> Enclosure:
    """c·B for the r₁ with which r₂ = r₁·e^apart makes γ = e^ε."""
    above = order - 1
    spread = Enclosure.of(apart, precision=tau.precision)
    grown = -(spread * -above).expm1()  # 1 − (r₁/r₂)^{α−1}
    down = spread + (-(spread * -order).expm1() / grown).log() + _log(1 - 1 / order, tau) - epsilon
    return _mass(order, tau, down) / (((spread - down) * above).exp() * grown * order)


def _mass(order: Fraction, tau: Enclosure, down: Enclosure) -> Enclosure:
    """B = (M − 1) + (1 + (α − 1)·r₁^α − α·r₁^{α−1}) for r₁ = e^{−down}; both terms are non-negative."""
    above = order - 1
    powered = down * -above
    touched = powered.exp() * above * (-down).expm1() - powered.expm1()
    return (tau * above).expm1() + touched.maximum(0)
