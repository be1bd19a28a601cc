"""Claims of the laws of approximate, Rényi, zero-concentrated and Gaussian DP, against exact finite mechanisms.

A pair is the laws of one mechanism on two neighbouring data sets. Its hockey-stick divergence at a rational e^ε and,
at an integer order α, its moment E_Q[(P/Q)^α] = e^{(α−1)τ} are rational numbers: a law must cover them for every pair
drawn, and a pair that reaches it shows that it is not merely large.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from ...accounting.derivation import Theorem
from ...accounting.enclosures import Enclosure, Truth
from ...accounting.errors import InvalidValue
from ...accounting.guarantees import Guarantee, compose, for_groups
from ...accounting.notions import (
    APPROXIMATE,
    GAUSSIAN_DP,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    Bound,
    GaussianDP,
    Renyi,
    ZeroConcentrated,
)
from ...accounting.pairs import RandomisedResponsePair
from ...accounting.provenance import Released
from ...accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles import divergences as oracle
from .enclosed import enclosed_log
from .finite import (
    Law,
    adaptive_laws,
    geometric_steps,
    hockey_stick,
    indistinguishability,
    joint,
    laws,
    leak,
    moment,
    processed,
    randomised_response,
    scores,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

B = TypeVar("B", bound=Bound)

_PRECISION = 128
_FINITE = Theorem("declaration", "a finite mechanism, its loss computed exactly")


def worst_moment(first: Law, second: Law, order: int) -> Fraction:
    """The larger of the moments in both directions."""
    return max(moment(first, second, order), moment(second, first, order))


def leaking_response(factor: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """The pair that dominates all (ε, δ)-DP ones (Kairouz, Oh, Viswanath 2015).

    With probability δ it tells which law it is, else it is randomised response.
    """
    here, there = randomised_response(factor)
    rest = [(1 - delta) * p for p in here], [(1 - delta) * p for p in there]
    return (delta, Fraction(0), *rest[0]), (Fraction(0), delta, *rest[1])


def guaranteed(bound: B) -> Guarantee[B, AddRemove, Record]:
    """The guarantee of a finite mechanism whose loss is `bound`."""
    return Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=_FINITE.conclude())


def approximate(factor: Fraction, delta: Fraction) -> Approximate:
    """Return the bound with ε = log factor and this δ."""
    return Approximate(enclosed_log(factor), Enclosure.of(delta, precision=_PRECISION))


def renyi(order: int, moment_: Fraction) -> Renyi:
    """The bound at an integer order from the moment e^{(α−1)τ}."""
    return Renyi(Fraction(order), enclosed_log(moment_) / (order - 1))


def _moment_of(bound: Renyi) -> Enclosure:
    return (bound.tau * (bound.order - 1)).exp()


# Approximate DP


def _examine_approximate_composition(case: Case) -> Finding:
    """The adaptive pair stays within the sums; two leaking responses miss their δ by δ₁δ₂ at most."""
    here, there, following, elsewhere = adaptive_laws(case)
    one, two = case["factors"]
    first = leak(here, there, one)
    second = max(leak(p, q, two) for p, q in zip(following, elsewhere, strict=True))
    bound = compose(guaranteed(approximate(one, first)), guaranteed(approximate(two, second))).bound
    direct = leak(joint(here, following), joint(there, elsewhere), one * two)
    (a, b), (c, d) = leaking_response(one, first), leaking_response(two, second)
    reached = leak(joint(a, [c] * len(a)), joint(b, [d] * len(b)), one * two)
    return Finding(
        holds=bound.epsilon.exp().contains(one * two)
        and max(direct, reached) <= bound.delta.upper
        and bound.delta.lower <= reached + first * second,
        closed_form=f"{bound} from (e^ε, δ) = ({one}, {first}) and ({two}, {second})",
        independent=f"δ at {one * two} is {direct}, and {reached} for leaking responses",
    )


def _chain(case: Case) -> tuple[list[Law], int, Fraction, Fraction]:
    """The laws of a chain of neighbours, its length, e^ε and the largest δ of a step there."""
    chain, factor = laws(case["chain"]), case["factor"]
    return chain, len(chain) - 1, factor, max((leak(a, b, factor) for a, b in pairwise(chain)), default=Fraction(0))


def _approximate_group(factor: Fraction, delta: Fraction, size: int) -> Approximate:
    return for_groups(guaranteed(approximate(factor, delta)), size).bound


def _linear_group(factor: Fraction, delta: Fraction, size: int) -> Approximate:
    """A wrong law: (kε, kδ)."""
    return approximate(factor**size, min(size * delta, Fraction(1)))


def _examine_approximate_group(case: Case) -> Finding:
    """The ends of a chain stay within (kε, δ·Σe^{iε}), which the walk p → e^ε·p + δ of a probability reaches."""
    chain, steps, factor, delta = _chain(case)
    bound = _approximate_group(factor, delta, steps)
    direct = leak(chain[0], chain[-1], factor**steps)
    walk = [case["least"]]
    for _ in range(steps):
        walk.append(factor * walk[-1] + case["small"])
    coins = [(p, 1 - p) for p in walk]
    small = max((leak(a, b, factor) for a, b in pairwise(coins)), default=Fraction(0))
    reached = leak(coins[0], coins[-1], factor**steps)
    return Finding(
        holds=bound.epsilon.exp().contains(factor**steps)
        and direct <= bound.delta.upper
        and _approximate_group(factor, small, steps).delta.contains(reached),
        closed_form=f"{bound} for a group of {steps} from (e^ε, δ) = ({factor}, {delta})",
        independent=f"δ of the ends is {direct}; {reached} for the walk with δ = {small} in each step",
    )


def _examine_linear_group(case: Case) -> Finding:
    """Whether kδ covers the ends of the walk."""
    factor, steps = case["factor"], len(case["chain"]) - 1
    walk = [case["least"]]
    for _ in range(steps):
        walk.append(factor * walk[-1] + case["small"])
    coins = [(p, 1 - p) for p in walk]
    small = max((leak(a, b, factor) for a, b in pairwise(coins)), default=Fraction(0))
    bound, direct = _linear_group(factor, small, steps), leak(coins[0], coins[-1], factor**steps)
    return Finding(
        holds=direct <= bound.delta.upper,
        closed_form=f"{bound} for a group of {steps} from (e^ε, δ) = ({factor}, {small})",
        independent=f"δ of the ends is {direct}",
    )


def _examine_approximate_monotonicity(case: Case) -> Finding:
    """(ε, δ) entails (ε', δ') exactly where the leaking response does; equal ones may be undecided."""
    factor, delta, other, allowed = case["factor"], case["delta"], case["other"], case["allowed"]
    answer = APPROXIMATE.implies(approximate(factor, delta), approximate(other, allowed))
    reached = leak(*leaking_response(factor, delta), other)
    return Finding(
        holds=_answers(answer, reached, allowed),
        closed_form=f"(e^ε, δ) = ({factor}, {delta}) implies ({other}, {allowed}): {answer.value}",
        independent=f"the leaking response has δ = {reached} there",
    )


def _answers(answer: Truth, reached: Fraction, allowed: Fraction) -> bool:
    match answer:
        case Truth.TRUE:
            return reached <= allowed
        case Truth.FALSE:
            return reached > allowed
        case Truth.UNDECIDED:
            return reached == allowed
    return False


def _examine_post_processing(case: Case) -> Finding:
    """A random map of a released output costs nothing in either notion of DPIS Lemma 2.8."""
    here, there = laws(case["laws"])
    kernel, factor, order = laws(case["kernel"]), case["factor"], case["order"]
    moved = processed(here, kernel), processed(there, kernel)
    leaking = Released(0, cost=guaranteed(approximate(factor, leak(here, there, factor)))).map(abs).cost.bound
    spread = Released(0, cost=guaranteed(renyi(order, worst_moment(here, there, order)))).map(abs).cost.bound
    direct = leak(*moved, factor), worst_moment(*moved, order)
    return Finding(
        holds=direct[0] <= leaking.delta.upper and direct[1] <= _moment_of(spread).upper,
        closed_form=f"{leaking}; {spread}",
        independent=f"after the map δ is {direct[0]} and the moment of order {order} is {direct[1]}",
    )


# Rényi DP


def _orders_composed(first: Renyi, second: Renyi) -> Renyi:
    return compose(guaranteed(first), guaranteed(second)).bound


def _orders_mixed(first: Renyi, second: Renyi) -> Renyi:
    """A wrong law: losses at different orders add at the larger one."""
    return Renyi(max(first.order, second.order), first.tau + second.tau)


def _examine_renyi_composition(case: Case) -> Finding:
    """Moments of the adaptive pair are at most the product; for independent pairs they are equal to it."""
    here, there, following, elsewhere = adaptive_laws(case)
    order, other = case["orders"]
    first = worst_moment(here, there, order)
    second = max(worst_moment(p, q, order) for p, q in zip(following, elsewhere, strict=True))
    bound = _orders_composed(renyi(order, first), renyi(order, second))
    direct = worst_moment(joint(here, following), joint(there, elsewhere), order)
    refused = other == order or second == 1 or _refuses(renyi(order, first), renyi(other, second))
    return Finding(
        holds=direct <= _moment_of(bound).upper and _moment_of(bound).contains(first * second) and refused,
        closed_form=f"{bound} from the moments {first} and {second}",
        independent=f"the pair of outputs has the moment {direct}",
    )


def _refuses(first: Renyi, second: Renyi) -> bool:
    """Whether losses at two orders are refused; one that is 0 is 0 at every order."""
    try:
        _orders_composed(first, second)
    except InvalidValue as refusal:
        return refusal.parameter == "order"
    return first.tau.upper == 0 or second.tau.upper == 0


def _examine_mixed_orders(case: Case) -> Finding:
    """Whether losses at two orders add at the larger one."""
    here, there, following, elsewhere = adaptive_laws(case)
    order, other = case["orders"]
    first = renyi(order, worst_moment(here, there, order))
    second = renyi(other, max(worst_moment(p, q, other) for p, q in zip(following, elsewhere, strict=True)))
    bound = _orders_mixed(first, second)
    direct = worst_moment(joint(here, following), joint(there, elsewhere), int(bound.order))
    return Finding(
        holds=direct <= _moment_of(bound).upper,
        closed_form=f"{bound} from {first} and {second}",
        independent=f"the pair of outputs has the moment {direct}",
    )


def _examine_renyi_group(case: Case) -> Finding:
    """The ends of a chain of k ≤ 2^c steps stay within (α/2^c, 3^c·τ)."""
    chain = laws(case["chain"])
    steps = len(chain) - 1
    order = case["order"] * 2 ** max(steps - 1, 0).bit_length()
    bound = renyi(order, max((worst_moment(a, b, order) for a, b in pairwise(chain)), default=Fraction(1)))
    group = for_groups(guaranteed(bound), steps).bound
    direct = worst_moment(chain[0], chain[-1], int(group.order))
    return Finding(
        holds=direct <= _moment_of(group).upper and (steps < 2 or bound.tau.upper == 0 or group.order < bound.order),
        closed_form=f"{group} for a group of {steps} from {bound}",
        independent=f"the ends have the moment {direct}",
    )


def _examine_renyi_monotonicity(case: Case) -> Finding:
    """(α, τ) entails (β, τ') only where it holds for the pair drawn; at α = β exactly where τ ≤ τ'."""
    here, there = laws(case["laws"])
    order, other = case["orders"]
    own, direct, allowed = worst_moment(here, there, order), worst_moment(here, there, other), case["allowed"]
    answer = RENYI.implies(renyi(order, own), renyi(other, allowed))
    holds = direct <= allowed if answer is Truth.TRUE else True
    if order == other:
        holds = _answers(answer, own, allowed)
    elif other < order and own ** (other - 1) <= allowed ** (order - 1):
        holds = holds and answer is not Truth.FALSE  # τ ≤ τ'
    return Finding(
        holds=holds,
        closed_form=f"moment {own} of order {order} implies {allowed} of order {other}: {answer.value}",
        independent=f"the pair has the moment {direct} of order {other}",
    )


# Zero-concentrated DP


def _rho(factor: Fraction) -> ZeroConcentrated:
    """The loss of every ε-DP mechanism, e^ε = factor."""
    return ZeroConcentrated(RandomisedResponsePair(enclosed_log(factor)).zero_concentrated)


def _rho_group(bound: ZeroConcentrated, size: int) -> ZeroConcentrated:
    return for_groups(guaranteed(bound), size).bound


def _rho_linear(bound: ZeroConcentrated, size: int) -> ZeroConcentrated:
    """A wrong law: a group of k units loses kρ."""
    return ZeroConcentrated(bound.rho * size)


def _covers_order(bound: ZeroConcentrated, first: Law, second: Law, order: Fraction) -> bool:
    return oracle.renyi(first, second, order) <= bound.rho.upper * order + oracle.NEGLIGIBLE


def _examine_rho_composition(case: Case) -> Finding:
    """ρ₁ + ρ₂ covers the adaptive pair at the order drawn; near order 1 two randomised responses reach it."""
    here, there, following, elsewhere = adaptive_laws(case)
    first = indistinguishability(here, there)
    second = max(map(indistinguishability, following, elsewhere))
    bound = compose(guaranteed(_rho(first)), guaranteed(_rho(second))).bound
    pair = joint(here, following), joint(there, elsewhere)
    (a, b), (c, d) = randomised_response(first), randomised_response(second)
    near = 1 + Fraction(1, 2**60)
    reached = oracle.renyi(joint(a, [c, c]), joint(b, [d, d]), near) / near
    return Finding(
        holds=_covers_order(bound, *pair, case["order"])
        and _covers_order(bound, pair[1], pair[0], case["order"])
        and bound.rho.lower <= reached * (1 + Fraction(1, 10**9)),
        closed_form=f"{bound} from e^ε = {first} and {second}",
        independent=f"randomised responses have τ/α = {float(reached)!r} near α = 1",
    )


def _examine_rho_group(case: Case, law_of_groups: Callable[[ZeroConcentrated, int], ZeroConcentrated]) -> Finding:
    """Whether a law for groups covers the ends of the geometric mechanism."""
    factor, steps, order = case["factor"], case["steps"], case["order"]
    ends = geometric_steps(factor, steps)
    bound = law_of_groups(_rho(factor), steps)
    direct = oracle.renyi(ends[0], ends[-1], order)
    return Finding(
        holds=_covers_order(bound, ends[0], ends[-1], order),
        closed_form=f"{bound} for a group of {steps} from e^ε = {factor}",
        independent=f"the ends have τ({order}) = {float(direct)!r}",
    )


# Gaussian DP


def _mu(factor: Fraction) -> GaussianDP:
    """The loss of every ε-DP mechanism, e^ε = factor."""
    return GaussianDP(RandomisedResponsePair(enclosed_log(factor)).gaussian)


def _covers_hockey_stick(bound: GaussianDP, first: Law, second: Law, factor: Fraction) -> bool:
    """Whether N(0, 1) and N(μ, 1) differ at least as much at e^ε = factor."""
    direct = hockey_stick(first, second, factor)
    if bound.mu.upper == 0:
        return direct == 0
    return direct <= oracle.gaussian_delta(bound.mu.upper, oracle.logarithm(factor)) + oracle.NEGLIGIBLE


def _examine_mu_composition(case: Case) -> Finding:
    """√(μ₁² + μ₂²) covers the adaptive pair, and its square is the sum of squares."""
    here, there, following, elsewhere = adaptive_laws(case)
    first = indistinguishability(here, there)
    second = max(map(indistinguishability, following, elsewhere))
    parts = _mu(first), _mu(second)
    bound = compose(*map(guaranteed, parts)).bound
    pair = joint(here, following), joint(there, elsewhere)
    squares = sum(part.mu.midpoint**2 for part in parts)
    return Finding(
        holds=_covers_hockey_stick(bound, *pair, case["factor"])
        and _covers_hockey_stick(bound, pair[1], pair[0], case["factor"])
        and abs(bound.mu.midpoint**2 - squares) * 2**80 <= squares,
        closed_form=f"{bound} from e^ε = {first} and {second}",
        independent=f"the pair has δ = {leak(*pair, case['factor'])} at {case['factor']}",
    )


def _examine_mu_group(case: Case) -> Finding:
    """kμ covers the ends of the geometric mechanism, and is no more than k times as much."""
    factor, steps = case["factor"], case["steps"]
    ends = geometric_steps(factor, steps)
    one = _mu(factor)
    bound = for_groups(guaranteed(one), steps).bound
    return Finding(
        holds=all(_covers_hockey_stick(bound, ends[0], ends[-1], factor**power) for power in range(steps + 1))
        and bound.mu.contains(steps * one.mu.midpoint),
        closed_form=f"{bound} for a group of {steps} from e^ε = {factor}",
        independent=f"the ends have δ = {leak(ends[0], ends[-1], Fraction(1))} at ε = 0",
    )


def _examine_single_numbers(case: Case) -> Finding:
    """Bounds with one number are ordered by it, and 0 is neutral."""
    factor, allowed = case["factor"], case["allowed"]
    answers = [
        ZERO_CONCENTRATED.implies(_rho(factor), _rho(allowed)),
        GAUSSIAN_DP.implies(_mu(factor), _mu(allowed)),
    ]
    rho, mu, both = _rho(factor), _mu(factor), approximate(factor, case["delta"])
    loss = renyi(case["order"], factor)
    neutral = (
        ZERO_CONCENTRATED.compose([ZERO_CONCENTRATED.nothing, rho]) == rho
        and GAUSSIAN_DP.compose([GAUSSIAN_DP.nothing, mu]) == mu
        and APPROXIMATE.compose([APPROXIMATE.nothing, both]) == both
        and RENYI.compose([RENYI.nothing, loss, RENYI.nothing]) == loss
    )
    ordered = all(_answers(answer, factor, allowed) for answer in answers)
    return Finding(
        holds=ordered and neutral,
        closed_form=f"losses of e^ε = {factor} imply those of {allowed}: {[answer.value for answer in answers]}",
        independent="ρ and μ grow strictly with ε",
    )


# Cases


def _factors() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(1, 3, max_denominator=12)


def _probabilities() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(0, 1, max_denominator=30)


def _adaptive_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(shape: tuple[int, int]) -> SearchStrategy[Case]:
        first, second = shape
        following = st.tuples(scores(second), scores(second))
        return st.fixed_dictionaries(
            {
                "first": st.tuples(scores(first), scores(first)),
                "second": st.tuples(*[following] * first),
                "factors": st.tuples(_factors(), _factors()),
                "factor": st.fractions(1, 20, max_denominator=12),
                "orders": st.tuples(st.integers(2, 6), st.integers(2, 6)),
                "order": st.fractions(Fraction(101, 100), 20, max_denominator=100),
            }
        )

    return st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(of_shape)


def _processing_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(shape: tuple[int, int]) -> SearchStrategy[Case]:
        before, after = shape
        return st.fixed_dictionaries(
            {
                "laws": st.tuples(scores(before), scores(before)),
                "kernel": st.tuples(*[scores(after)] * before),
                "factor": _factors(),
                "order": st.integers(2, 8),
            }
        )

    return st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(of_shape)


def _chain_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(outputs: int) -> SearchStrategy[Case]:
        return st.fixed_dictionaries(
            {
                "chain": st.lists(scores(outputs), min_size=1, max_size=5).map(tuple),
                "factor": _factors(),
                "least": st.fractions(0, Fraction(1, 1000), max_denominator=2000),
                "small": st.fractions(0, Fraction(1, 1000), max_denominator=2000),
                "order": st.integers(2, 4),
            }
        )

    return st.integers(1, 4).flatmap(of_shape)


def _steps_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "factor": _factors(),
            "steps": st.integers(0, 5),
            "order": st.fractions(Fraction(101, 100), 20, max_denominator=100),
        }
    )


def _order_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def near(drawn: Fraction) -> SearchStrategy[Fraction]:
        return st.just(drawn) | st.fractions(1, 20, max_denominator=50)

    return st.fractions(1, 20, max_denominator=50).flatmap(
        lambda factor: st.fixed_dictionaries(
            {
                "factor": st.just(factor),
                "allowed": near(factor),
                "other": near(factor),
                "delta": _probabilities(),
                "order": st.integers(2, 9),
            }
        )
    )


def _trade_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    factor = st.fractions(1, 20, max_denominator=20)
    return st.fixed_dictionaries(
        {"factor": factor, "other": factor, "delta": _probabilities(), "allowed": _probabilities()}
    )


def _renyi_order_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(outputs: int) -> SearchStrategy[Case]:
        return st.fixed_dictionaries(
            {
                "laws": st.tuples(scores(outputs), scores(outputs)),
                "orders": st.tuples(st.integers(2, 6), st.integers(2, 6)),
                "allowed": st.fractions(1, 30, max_denominator=20),
            }
        )

    return st.integers(1, 4).flatmap(of_shape)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="approximate/composition",
        statement="approximate DP, adaptive composition",
        says="releasing both results costs (ε₁ + ε₂, δ₁ + δ₂), the second mechanism being chosen by the first result",
        cases=_adaptive_cases,
        examine=_examine_approximate_composition,
    ),
    Claim(
        id="approximate/group-privacy",
        statement="approximate DP, group privacy",
        says="a group of k units loses (kε, δ(e^{kε} − 1)/(e^ε − 1))",
        cases=_chain_cases,
        examine=_examine_approximate_group,
    ),
    Claim(
        id="approximate/group-linear",
        statement="approximate DP, a wrong law",
        says="a group of k units loses (kε, kδ)",
        cases=_chain_cases,
        examine=_examine_linear_group,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="approximate/monotonicity",
        statement="approximate DP, monotonicity",
        says="(ε, δ) entails (ε', δ') exactly for δ' ≥ δ + (1 − δ)[e^ε − e^ε']₊/(1 + e^ε)",
        cases=_trade_cases,
        examine=_examine_approximate_monotonicity,
    ),
    Claim(
        id="dpis/lemma-2.8",
        statement="DPIS Lemma 2.8",
        says="a random map of the output costs nothing, in approximate and in Rényi DP",
        cases=_processing_cases,
        examine=_examine_post_processing,
    ),
    Claim(
        id="renyi/composition",
        statement="Rényi DP, adaptive composition at one order",
        says="losses at one order add; at two orders they are refused",
        cases=_adaptive_cases,
        examine=_examine_renyi_composition,
    ),
    Claim(
        id="renyi/composition-of-orders",
        statement="Rényi DP, a wrong law",
        says="losses at two orders add at the larger one",
        cases=_adaptive_cases,
        examine=_examine_mixed_orders,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="renyi/group-privacy",
        statement="Rényi DP, group privacy (Mironov 2017, Proposition 2)",
        says="a group of at most 2^c units loses 3^c·τ at the order α/2^c",
        cases=_chain_cases,
        examine=_examine_renyi_group,
    ),
    Claim(
        id="renyi/monotonicity",
        statement="Rényi DP, monotonicity",
        says="(α, τ) entails (β, τ') for β ≤ α and τ ≤ τ'",
        cases=_renyi_order_cases,
        examine=_examine_renyi_monotonicity,
    ),
    Claim(
        id="zero-concentrated/composition",
        statement="zero-concentrated DP, adaptive composition",
        says="releasing both results costs ρ₁ + ρ₂",
        cases=_adaptive_cases,
        examine=_examine_rho_composition,
    ),
    Claim(
        id="zero-concentrated/group-privacy",
        statement="zero-concentrated DP, group privacy",
        says="a group of k units loses k²ρ",
        cases=_steps_cases,
        examine=lambda case: _examine_rho_group(case, _rho_group),
    ),
    Claim(
        id="zero-concentrated/group-linear",
        statement="zero-concentrated DP, a wrong law",
        says="a group of k units loses kρ",
        cases=_steps_cases,
        examine=lambda case: _examine_rho_group(case, _rho_linear),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="gaussian/composition",
        statement="Gaussian DP, adaptive composition",
        says="releasing both results costs √(μ₁² + μ₂²)",
        cases=_adaptive_cases,
        examine=_examine_mu_composition,
    ),
    Claim(
        id="gaussian/group-privacy",
        statement="Gaussian DP, group privacy",
        says="a group of k units loses kμ",
        cases=_steps_cases,
        examine=_examine_mu_group,
    ),
    Claim(
        id="notions/order-and-nothing",
        statement="zero-concentrated and Gaussian DP, monotonicity; every notion, neutral bound",
        says="a bound entails the larger ones; a mechanism that ignores its data adds 0",
        cases=_order_cases,
        examine=_examine_single_numbers,
    ),
)
