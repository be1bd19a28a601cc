"""Claims of the conversions between notions, each against finite pairs or normal laws computed from the definitions.

At integer orders α the moment E_Q[(P/Q)^α] = e^{(α−1)τ} of a finite pair is rational, and so are its hockey-stick
divergences at rational γ = e^ε: a conversion must cover each pair drawn, and a witness shows that it is not too large.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.conversions import (
    best_order,
    delta_at_order,
    delta_of_rho,
    epsilon_at_order,
    epsilon_of_rho,
    gaussian_to_approximate,
    gaussian_to_approximate_at,
    gaussian_to_renyi,
    gaussian_to_zero_concentrated,
    lemma_2_5,
    pure_to_approximate,
    pure_to_gaussian,
    pure_to_renyi,
    pure_to_zero_concentrated,
    zero_concentrated_to_renyi,
)
from ...accounting.enclosures import Enclosure
from ...accounting.expressions import log
from ...accounting.notions import GaussianDP, Pure, ZeroConcentrated
from ...accounting.units import Delta, Epsilon, Order
from ...plugins.contract import Case, Claim, Expectation, Finding, Proof
from ..oracles import divergences as oracle
from .enclosed import enclosed, enclosed_log
from .finite import Law, hockey_stick, indistinguishability, law, leak, moment, randomised_response
from .notions import guaranteed, worst_moment
from .subdivision import prove, quantity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Conversion: TypeAlias = Callable[[Fraction, Enclosure, Enclosure], Enclosure]
"""ε from α, τ and δ."""

_PRECISION = 128
_CLOSE = Fraction(1, 10**9)


# Rényi DP to approximate DP


def _printed(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
    """Convert by DPIS Equation 2, as it is printed."""
    return lemma_2_5(order, tau, delta)


def _undivided(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
    """A wrong form: log α stands beside the fraction."""
    above, like = order - 1, tau.precision
    logarithms = Enclosure.of(1 - 1 / order, precision=like).log(), Enclosure.of(order, precision=like).log()
    return (tau + (logarithms[0] * above - delta.log()) / above - logarithms[1]).maximum(0)


def _misplaced(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
    """A wrong form: log(1 − 1/α) has the factor α in place of α − 1."""
    above, like = order - 1, tau.precision
    logarithms = Enclosure.of(1 - 1 / order, precision=like).log(), Enclosure.of(order, precision=like).log()
    return (tau + (logarithms[0] * order - delta.log() - logarithms[1]) / above).maximum(0)


def _examine_from_renyi(case: Case, convert: Conversion) -> Finding:
    """Whether the δ at the converted ε is covered, for the laws drawn and for (1, 0) against (q, 1 − q).

    The latter has τ(α) = log(1/q), and at δ = 1/α it reaches the Lemma: γ = (1 − 1/α)/q.
    """
    here, there = law(case["laws"][0]), law(case["laws"][1])
    order, delta, rare = case["order"], case["delta"], case["rare"]
    sure: tuple[Law, Law] = (Fraction(1), Fraction(0)), (rare, 1 - rare)
    found = []
    for pair, target in (((here, there), delta), (sure, Fraction(1, order))):
        tau = enclosed_log(moment(*pair, order)) / (order - 1)
        epsilon = convert(Fraction(order), tau, enclosed(target))
        found.append((epsilon, hockey_stick(*pair, epsilon.exp().upper), target))
    return Finding(
        holds=all(direct <= target for _, direct, target in found),
        closed_form=f"ε = {found[0][0]} at δ = {delta}, {found[1][0]} at 1/{order}",
        independent=f"δ there: {float(found[0][1])!r}, {float(found[1][1])!r}",
    )


def _examine_equation_2(case: Case) -> Finding:
    """The Lemma's ε is what Equation 2 prints, wherever that is above 0."""
    order, tau, delta = Fraction(case["order"]), case["tau"], case["delta"]
    log = oracle.logarithm
    printed = tau + (log(1 / delta) + (order - 1) * log(1 - 1 / order) - log(order)) / (order - 1)
    value = lemma_2_5(order, enclosed(tau), enclosed(delta))
    room = oracle.NEGLIGIBLE * 2
    return Finding(
        holds=value.lower - room <= max(printed, Fraction(0)) <= value.upper + room
        and value.width <= (1 + abs(printed)) / 2**80,
        closed_form=f"{value}",
        independent=f"{float(printed)!r}",
    )


def _examine_tight(case: Case) -> Finding:
    """One order covers each pair, is never above the Lemma, and r = P/Q on {r₁, r₂} attains it.

    With E_Q[r] = 1 the probability of r₂ under Q is (1 − r₁)/(r₂ − r₁), and (r − γ)₊ is touched where γ is as below.
    Where τ may be anything from 0 on, δ be anything up to 1, and ε be more, the worst of all is no other number.
    """
    order, low, high = case["order"], case["low"], 1 + case["above"]
    share = (1 - low) / (high - low)
    there: Law = (share, 1 - share)
    here: Law = (share * high, (1 - share) * low)
    gamma = (order - 1) * (high**order - low**order) / (order * (high ** (order - 1) - low ** (order - 1)))
    delta, tau = hockey_stick(here, there, gamma), enclosed_log(moment(here, there, order)) / (order - 1)
    exactly = Fraction(order)
    level = enclosed(delta)
    epsilon = epsilon_at_order(exactly, tau, level)
    uncertain = [epsilon_at_order(exactly, tau.hull(0), level), epsilon_at_order(exactly, tau, level.hull(1))]
    lemma = lemma_2_5(exactly, tau, level)
    holds = all(hockey_stick(here, there, one.exp().upper) <= delta for one in (epsilon, *uncertain))
    holds = holds and epsilon.upper <= lemma.upper and all(one.lower == 0 for one in uncertain)
    leaking = Enclosure.of(0)
    if gamma >= 1:
        at = enclosed_log(gamma)
        leaking = delta_at_order(exactly, tau, at)
        most = [delta_at_order(exactly, tau.hull(0), at), delta_at_order(exactly, tau, at.hull(at + 1))]
        holds = holds and max(one.exp().upper for one in (epsilon, *uncertain)) <= gamma * (1 + _CLOSE)
        holds = holds and all(delta <= one.upper <= delta * (1 + _CLOSE) for one in (leaking, *most))
        holds = holds and most[0].lower == 0 and most[1].lower < delta
    return Finding(
        holds=holds,
        closed_form=f"ε = {epsilon} (Lemma 2.5: {lemma}), δ = {leaking}",
        independent=f"e^ε = {gamma} and δ = {delta} for r on {low}, {high}",
    )


def _examine_whole_law(case: Case) -> Finding:
    """Where δ ≥ 1/α, (1, 0) against (q, 1 − q) attains ε = τ + log(1 − δ), and δ where it is asked for at ε."""
    order, rare = case["order"], case["rare"]
    delta = 1 - (1 - case["delta"]) * (1 - Fraction(1, order))
    tau = enclosed_log(1 / rare)
    epsilon = epsilon_at_order(Fraction(order), tau, enclosed(delta))
    gamma = max((1 - delta) / rare, Fraction(1))
    direct = hockey_stick((Fraction(1), Fraction(0)), (rare, 1 - rare), gamma)
    leaking = delta_at_order(Fraction(order), tau, enclosed_log(gamma))
    attained = (direct == delta and leaking.contains(delta)) or (gamma == 1 and direct <= delta)
    return Finding(
        holds=attained and epsilon.exp().contains(gamma) and max(epsilon.width, leaking.width) * 2**80 <= 1,
        closed_form=f"ε = {epsilon} at δ = {delta}",
        independent=f"δ({gamma}) = {direct}",
    )


def _examine_best_order(case: Case) -> Finding:
    """The best order of repeated randomised response covers it, and no order of a fine grid does better."""
    factor, times, delta = case["factor"], case["times"], case["delta"]
    pair = randomised_response(factor)

    def curve(order: Fraction) -> Enclosure:
        return enclosed(oracle.renyi(*pair, order) * times).widen(Fraction(1, 2**100)).maximum(0)

    level = enclosed(delta)
    found = best_order(curve, level)
    p, q = pair[0][1], pair[0][0]
    outputs = [
        (comb(times, k) * p**k * q ** (times - k), comb(times, k) * q**k * p ** (times - k)) for k in range(times + 1)
    ]
    here, there = (tuple(column) for column in zip(*outputs, strict=True))
    direct = hockey_stick(here, there, found.epsilon.exp().upper)
    grid = [1 + Fraction(2) ** exponent for exponent in range(-6, 9)]
    others = min(epsilon_at_order(order, curve(order), level).upper for order in grid)
    return Finding(
        holds=direct <= delta and found.epsilon.upper <= others * (1 + _CLOSE),
        closed_form=f"{found}",
        independent=f"δ there is {float(direct)!r}; the best of a grid is {float(others)!r}",
    )


def _prove_lemma_2_5() -> Proof:
    """Pointwise: 1 − 1/x ≤ x^{α−1}·(1 − 1/α)^{α−1}/α for x = P/Q·e^−ε > 1; under P this is (ε, δ) from the moment.

    In y = 1/x both sides meet at y = 1 − 1/α; y is s(1 − 1/α) below that, and 1 − s/α above it. The logarithms are
    compared.
    """
    order, part = quantity("α"), quantity("s")
    below = -(order - 1) * log(part) - log(order - (order - 1) * part)
    above = -(order - 1) * log((order - part) / (order - 1)) - log(part)
    box = {part: ("1/1024", 1), order: ("17/16", 64)}
    return prove("y^{α−1}(1 − y) ≤ (1 − 1/α)^{α−1}/α", [below, above], box)


def _prove_equation_2() -> Proof:
    """Its ε is at most τ + log(1/δ)/(α − 1), the older conversion."""
    order = quantity("α")
    gain = log(order) - (order - 1) * log(1 - 1 / order)
    return prove("(α − 1)log(1 − 1/α) − log α ≤ 0", gain, {order: ("1025/1024", 1000)})


# Pure DP to the others


def _examine_from_pure(case: Case) -> Finding:
    """(ε, 0) and τ(α) cover the laws drawn, which are ε-indistinguishable; randomised response attains both."""
    here, there = law(case["laws"][0]), law(case["laws"][1])
    order, factor = case["order"], indistinguishability(here, there)
    pure = guaranteed(Pure(enclosed_log(factor)))
    plain = pure_to_approximate(pure).bound
    spread = pure_to_renyi(pure, Order(order)).bound
    moments = (spread.tau * (order - 1)).exp()
    reached = worst_moment(*randomised_response(factor), order)
    return Finding(
        holds=leak(here, there, plain.epsilon.exp().upper) <= plain.delta.upper
        and plain.epsilon.exp().contains(factor)
        and worst_moment(here, there, order) <= moments.upper
        and moments.contains(reached),
        closed_form=f"{plain}, {spread}",
        independent=f"e^ε = {factor}; moment {reached} of order {order} for randomised response",
    )


def _hyperbolic(bound: Pure) -> ZeroConcentrated:
    return pure_to_zero_concentrated(guaranteed(bound)).bound


def _quarter(bound: Pure) -> ZeroConcentrated:
    """A wrong law: ρ = ε²/4."""
    return ZeroConcentrated(bound.epsilon.square() * Fraction(1, 4))


def _examine_rho(case: Case, convert: Callable[[Pure], ZeroConcentrated]) -> Finding:
    """Whether ρα covers randomised response at the order drawn and near order 1."""
    factor = case["factor"]
    pair, rho = randomised_response(factor), convert(Pure(enclosed_log(factor))).rho
    near = 1 + Fraction(1, 2**60)
    reached = {order: oracle.renyi(*pair, order) / order for order in (near, case["order"])}
    return Finding(
        holds=max(reached.values()) <= rho.upper + oracle.NEGLIGIBLE * 2**64
        and rho.lower <= reached[near] * (1 + _CLOSE),
        closed_form=f"ρ = {rho}",
        independent=f"τ(α)/α = {[float(value) for value in reached.values()]}",
    )


def _examine_mu(case: Case) -> Finding:
    """The normal laws leak at least what randomised response does, and err as often where its errors are equal."""
    factor, at = case["factor"], case["at"]
    mu = pure_to_gaussian(guaranteed(Pure(enclosed_log(factor)))).bound.mu
    direct = hockey_stick(*randomised_response(factor), at)
    allowed = oracle.gaussian_delta(mu.upper, oracle.logarithm(at)) if mu.upper else Fraction(0)
    error = 1 / (1 + factor)
    kink = oracle.normal_cdf(-mu.midpoint / 2)
    return Finding(
        holds=direct <= allowed + oracle.NEGLIGIBLE and abs(kink - error) * 2**80 <= error,
        closed_form=f"μ = {mu}",
        independent=f"δ({at}) = {float(direct)!r} of {float(allowed)!r}; both errors {error}",
    )


# Zero-concentrated and Gaussian DP


def _examine_gaussian(case: Case) -> Finding:
    """δ(ε) and ε(δ) of normal laws are enclosed; ρ and τ(α) are theirs; no route through ρ proves less."""
    mu, epsilon, delta = case["mu"], case["epsilon"], case["delta"]
    gaussian = guaranteed(GaussianDP(enclosed(mu)))
    direct = oracle.gaussian_delta(mu, epsilon)
    leaking = gaussian_to_approximate_at(gaussian, Epsilon(epsilon)).bound.delta
    level = gaussian_to_approximate(gaussian, Delta(delta)).bound.epsilon
    above, below = oracle.gaussian_delta(mu, level.upper), oracle.gaussian_delta(mu, level.lower)
    concentrated = gaussian_to_zero_concentrated(gaussian)
    spread = gaussian_to_renyi(gaussian, Order(case["order"])).bound
    detour = zero_concentrated_to_renyi(concentrated, Order(case["order"])).bound
    through = epsilon_of_rho(concentrated.bound.rho, enclosed(delta)).epsilon
    room = oracle.NEGLIGIBLE
    return Finding(
        holds=leaking.lower - room <= direct <= leaking.upper + room
        and above <= delta + room
        and (level.lower == 0 or below >= delta - room)
        and level.width <= level.upper / 10**12 + Fraction(1, 2**60)
        and spread.tau.contains(case["order"] * mu**2 / 2)
        and detour.tau.contains(case["order"] * mu**2 / 2)
        and level.lower <= through.upper,
        closed_form=f"δ = {leaking}, ε = {level}; through ρ: {through}",
        independent=f"δ({epsilon}) = {float(direct)!r}",
    )


def _examine_classical(case: Case) -> Finding:
    """The best order of ρ-zCDP proves less than ρ + 2√(ρ·log(1/δ)), and covers the normal laws; and so for δ at ε."""
    rho, delta = case["rho"], case["delta"]
    found = epsilon_of_rho(enclosed(rho), enclosed(delta))
    excess = found.epsilon.upper - rho  # compared squared, to need no root
    classical = 4 * rho * oracle.logarithm(1 / delta)
    mu = Enclosure.of(2 * rho, precision=_PRECISION).sqrt()
    direct = oracle.gaussian_delta(mu.lower, found.epsilon.upper)
    back = delta_of_rho(enclosed(rho), Enclosure.of(found.epsilon.upper, precision=_PRECISION)).delta.upper
    return Finding(
        holds=(excess <= 0 or excess**2 <= classical)
        and direct <= min(delta, back) + oracle.NEGLIGIBLE
        and back <= delta * (1 + _CLOSE),
        closed_form=f"{found}; δ there {float(back)!r}",
        independent=f"(ε − ρ)² of the classical bound: {float(classical)!r}; δ of normal laws {float(direct)!r}",
    )


# Cases


def _deltas() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100) | st.integers(3, 40).map(
        lambda digits: Fraction(1, 2**digits)
    )


def _pair_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(outputs: int) -> SearchStrategy[Case]:
        row = st.tuples(*[st.integers(1, 30)] * outputs)
        return st.fixed_dictionaries(
            {
                "laws": st.tuples(row, row),
                "order": st.integers(2, 12),
                "delta": _deltas(),
                "rare": st.fractions(Fraction(1, 50), Fraction(1, 2), max_denominator=50),
            }
        )

    return st.integers(1, 4).flatmap(of_shape)


def _formula_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "order": st.fractions(Fraction(101, 100), 200, max_denominator=100),
            "tau": st.fractions(0, 50, max_denominator=1000),
            "delta": _deltas(),
        }
    )


def _witness_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "order": st.integers(2, 20),
            "low": st.fractions(Fraction(3, 4), Fraction(99, 100), max_denominator=100)  # below, Lemma 2.5 is as good
            | st.fractions(0, Fraction(99, 100), max_denominator=100),
            "above": st.fractions(Fraction(1, 5), 2, max_denominator=50)
            | st.fractions(Fraction(1, 50), 1000, max_denominator=50),
        }
    )


def _response_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "factor": st.fractions(1, 30, max_denominator=60),
            "at": st.fractions(1, 30, max_denominator=60),
            "order": st.fractions(Fraction(101, 100), 50, max_denominator=100),
        }
    )


def _repeated_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "factor": st.fractions(Fraction(21, 20), 5, max_denominator=20),
            "times": st.integers(1, 12),
            "delta": _deltas(),
        }
    )


def _normal_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "mu": st.fractions(Fraction(1, 50), 5, max_denominator=50),
            "epsilon": st.fractions(0, 8, max_denominator=50),
            "order": st.fractions(Fraction(101, 100), 50, max_denominator=100),
            "delta": _deltas(),
        }
    )


def _rho_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    rhos = st.fractions(Fraction(1, 1000), 20, max_denominator=1000) | st.integers(1, 60).map(
        lambda bits: Fraction(1, 2**bits)
    )
    return st.fixed_dictionaries({"rho": rhos, "delta": _deltas()})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="dpis/lemma-2.5",
        statement="DPIS Lemma 2.5",
        says="(α, τ)-Rényi DP is (ε, δ)-DP with the ε of Equation 2",
        cases=_pair_cases,
        examine=lambda case: _examine_from_renyi(case, _printed),
        prove=_prove_lemma_2_5,
    ),
    Claim(
        id="dpis/equation-2",
        statement="DPIS Equation 2",
        says="ε = τ + (log(1/δ) + (α − 1)log(1 − 1/α) − log α)/(α − 1)",
        cases=_formula_cases,
        examine=_examine_equation_2,
        prove=_prove_equation_2,
    ),
    Claim(
        id="dpis/lemma-2.5-log-undivided",
        statement="DPIS Lemma 2.5, a wrong form",
        says="ε = τ + (log(1/δ) + (α − 1)log(1 − 1/α))/(α − 1) − log α",
        cases=_pair_cases,
        examine=lambda case: _examine_from_renyi(case, _undivided),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="dpis/lemma-2.5-factor-misplaced",
        statement="DPIS Lemma 2.5, a wrong form",
        says="ε = τ + (log(1/δ) + α·log(1 − 1/α) − log α)/(α − 1)",
        cases=_pair_cases,
        examine=lambda case: _examine_from_renyi(case, _misplaced),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="conversions/renyi-to-approximate",
        statement="Asoodeh et al. 2021, Theorem 3",
        says="the best ε from one Rényi order covers every pair",
        cases=_pair_cases,
        examine=lambda case: _examine_from_renyi(case, epsilon_at_order),
    ),
    Claim(
        id="conversions/renyi-to-approximate-attained",
        statement="Asoodeh et al. 2021, Theorem 3",
        says="a pair of laws on two outputs attains the best ε, and the best δ",
        cases=_witness_cases,
        examine=_examine_tight,
    ),
    Claim(
        id="conversions/renyi-to-approximate-large-delta",
        statement="Asoodeh et al. 2021, Theorem 3",
        says="for δ ≥ 1/α the best ε is τ + log(1 − δ)",
        cases=_pair_cases,
        examine=_examine_whole_law,
    ),
    Claim(
        id="conversions/best-order",
        statement="Rényi DP at every order to approximate DP",
        says="the best order covers repeated randomised response and beats a grid of orders",
        cases=_repeated_cases,
        examine=_examine_best_order,
    ),
    Claim(
        id="conversions/pure-to-others",
        statement="pure DP to approximate and Rényi DP",
        says="ε-DP is (ε, 0)-DP and has the Rényi losses of randomised response",
        cases=_pair_cases,
        examine=_examine_from_pure,
    ),
    Claim(
        id="conversions/pure-to-zero-concentrated",
        statement="pure DP to zero-concentrated DP",
        says="ε-DP is ε·tanh(ε/2)-zCDP, and no smaller ρ would do",
        cases=_response_cases,
        examine=lambda case: _examine_rho(case, _hyperbolic),
    ),
    Claim(
        id="conversions/pure-to-zero-concentrated-quarter",
        statement="pure DP to zero-concentrated DP, a wrong law",
        says="ε-DP is ε²/4-zCDP",
        cases=_response_cases,
        examine=lambda case: _examine_rho(case, _quarter),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="conversions/pure-to-gaussian",
        statement="pure DP to Gaussian DP",
        says="ε-DP is 2Φ⁻¹(e^ε/(1 + e^ε))-GDP, and no smaller μ would do",
        cases=_response_cases,
        examine=_examine_mu,
    ),
    Claim(
        id="conversions/gaussian-to-others",
        statement="Gaussian DP to approximate, zero-concentrated and Rényi DP",
        says="δ(ε) and ε(δ) are those of normal laws, ρ = μ²/2 and τ(α) = αμ²/2",
        cases=_normal_cases,
        examine=_examine_gaussian,
    ),
    Claim(
        id="conversions/zero-concentrated-to-approximate",
        statement="zero-concentrated DP to approximate DP",
        says="the best order proves less than ρ + 2√(ρ·log(1/δ)), and no more than δ at that ε",
        cases=_rho_cases,
        examine=_examine_classical,
    ),
)
