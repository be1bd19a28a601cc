"""Claims of the laws of pure DP and of PDP profiles, each against exact finite mechanisms.

A pair is the laws of one mechanism on two neighbouring data sets; e^ε is the largest ratio of probabilities, a
rational number. A law must cover every pair drawn, and a pair that reaches it shows that it is not merely large.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ...accounting.derivation import Theorem
from ...accounting.enclosures import Enclosure, Truth
from ...accounting.guarantees import Guarantee, compose, for_groups
from ...accounting.notions import PURE, Pure
from ...accounting.provenance import Released
from ...accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ...accounting.sampling.profiles import PureProfile, compose_profiles
from ...plugins.contract import Case, Claim, Expectation, Finding
from .exact_logarithms import exponential, logarithm
from .finite import (
    Law,
    adaptive_laws,
    geometric_steps,
    greatest_ratio,
    indistinguishability,
    joint,
    law,
    laws,
    processed,
    randomised_response,
    scores,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PRECISION = 128
_FINITE = Theorem("declaration", "a finite mechanism, its loss computed exactly")


def _bound(factor: Fraction) -> Pure:
    return Pure(Enclosure.of(factor - 1, precision=_PRECISION).log1p())


def _guarantee(factor: Fraction) -> Guarantee[Pure, AddRemove, Record]:
    """The guarantee of a mechanism with e^ε = factor."""
    return Guarantee(bound=_bound(factor), relation=ADD_REMOVE, unit=RECORD, derivation=_FINITE.conclude())


def _profile(remove: Fraction, add: Fraction) -> PureProfile[AddRemove, Record]:
    """The profile, at one record, of a mechanism with these largest ratios."""
    return PureProfile(
        remove=logarithm(remove),
        add=logarithm(add),
        relation=ADD_REMOVE,
        unit=RECORD,
        derivation=_FINITE.conclude(),
    )


def _covers(bound: Pure, ratio: Fraction) -> bool:
    """Whether the upper end of ε, with which the guarantee holds, covers a ratio of probabilities."""
    return ratio <= bound.epsilon.exp().upper


def _formatted(bound: Pure) -> str:
    return f"ε = {bound.epsilon}, e^ε = {bound.epsilon.exp()}"


# Adaptive composition


def _composed(first: Fraction, second: Fraction) -> Pure:
    return compose(_guarantee(first), _guarantee(second)).bound


def _larger(first: Fraction, second: Fraction) -> Pure:
    """A wrong law: the cost of both is the larger of the two."""
    return _bound(max(first, second))


def _examine_composition(case: Case) -> Finding:
    """The adaptive pair costs at most the sum; two randomised responses of the same losses cost exactly that."""
    here, there, following, elsewhere = adaptive_laws(case)
    first = indistinguishability(here, there)
    second = max(map(indistinguishability, following, elsewhere))
    direct = indistinguishability(joint(here, following), joint(there, elsewhere))
    (a, b), (c, d) = randomised_response(first), randomised_response(second)
    reached = indistinguishability(joint(a, [c, c]), joint(b, [d, d]))
    bound = _composed(first, second)
    return Finding(
        holds=_covers(bound, direct) and bound.epsilon.exp().contains(reached),
        closed_form=f"{_formatted(bound)} from e^ε = {first} and {second}",
        independent=f"the pair of outputs differs by a factor {direct}, and by {reached} for randomised response",
    )


def _examine_larger(case: Case) -> Finding:
    """Whether the larger of two losses covers both releases together."""
    here, there, following, elsewhere = adaptive_laws(case)
    first = indistinguishability(here, there)
    second = max(map(indistinguishability, following, elsewhere))
    direct = indistinguishability(joint(here, following), joint(there, elsewhere))
    bound = _larger(first, second)
    return Finding(
        holds=_covers(bound, direct),
        closed_form=f"{_formatted(bound)} from e^ε = {first} and {second}",
        independent=f"the pair of outputs differs by a factor {direct}",
    )


# The other laws


def _examine_post_processing(case: Case) -> Finding:
    """A random map of a released output costs nothing: the cost stays, and no ratio grows."""
    here, there = laws(case["laws"])
    kernel = laws(case["kernel"])
    released = Released(0, cost=_guarantee(indistinguishability(here, there))).map(lambda output: -output)
    direct = indistinguishability(processed(here, kernel), processed(there, kernel))
    return Finding(
        holds=_covers(released.cost.bound, direct) and direct <= indistinguishability(here, there),
        closed_form=_formatted(released.cost.bound),
        independent=f"after the map the laws differ by a factor {direct}",
    )


def _for_group(factor: Fraction, size: int) -> Pure:
    return for_groups(_guarantee(factor), size).bound


def _unscaled(factor: Fraction, _size: int) -> Pure:
    """A wrong law: a group costs what one unit does."""
    return _bound(factor)


def _examine_group(case: Case) -> Finding:
    """k neighbouring steps cost at most kε; the ends of the clamped geometric mechanism cost exactly that."""
    chain = laws(case["chain"])
    steps = len(chain) - 1
    factor = max((indistinguishability(a, b) for a, b in pairwise(chain)), default=Fraction(1))
    direct = indistinguishability(chain[0], chain[-1])
    ends = geometric_steps(factor, steps)
    reached = indistinguishability(ends[0], ends[-1])
    bound = _for_group(factor, steps)
    return Finding(
        holds=_covers(bound, direct) and bound.epsilon.exp().contains(reached),
        closed_form=f"{_formatted(bound)} for a group of {steps} from e^ε = {factor}",
        independent=f"the ends differ by a factor {direct}, and by {reached} for the geometric mechanism",
    )


def _examine_unscaled(case: Case) -> Finding:
    """Whether the loss of one step covers all steps."""
    chain = laws(case["chain"])
    factor = max((indistinguishability(a, b) for a, b in pairwise(chain)), default=Fraction(1))
    direct = indistinguishability(chain[0], chain[-1])
    bound = _unscaled(factor, len(chain) - 1)
    return Finding(
        holds=_covers(bound, direct),
        closed_form=f"{_formatted(bound)} for a group of {len(chain) - 1}",
        independent=f"the ends differ by a factor {direct}",
    )


def _examine_monotonicity(case: Case) -> Finding:
    """ε-DP entails ε'-DP exactly where randomised response with ε stays within ε'; equal ones may be undecided."""
    factor, allowed = case["factor"], case["allowed"]
    answer = PURE.implies(_bound(factor), _bound(allowed))
    reached = indistinguishability(*randomised_response(factor))
    match answer:
        case Truth.TRUE:
            holds = reached <= allowed
        case Truth.FALSE:
            holds = reached > allowed
        case Truth.UNDECIDED:
            holds = reached == allowed
    return Finding(
        holds=holds,
        closed_form=f"e^ε = {factor} implies e^ε' = {allowed}: {answer.value}",
        independent=f"randomised response with that loss differs by a factor {reached}",
    )


def _examine_nothing(case: Case) -> Finding:
    """A mechanism that ignores its data costs `nothing`, alone and beside another on either side."""
    here, there = laws(case["laws"])
    ignored = law(case["ignoring"])
    factor = indistinguishability(here, there)
    both = joint(here, [ignored] * len(here)), joint(there, [ignored] * len(there))
    direct = indistinguishability(ignored, ignored), indistinguishability(*both)
    other, nothing = _bound(factor), PURE.nothing
    sums = PURE.compose([nothing, other]), PURE.compose([other, nothing])
    alone = PURE.compose([])
    neutral = all(total.epsilon == other.epsilon for total in sums)
    zero = all(bound.epsilon.is_point and bound.epsilon.exp().contains(direct[0]) for bound in (nothing, alone))
    return Finding(
        holds=neutral and zero and direct[0] == 1 and direct[1] == factor,
        closed_form=f"nothing: {_formatted(nothing)}; beside another: {_formatted(sums[0])}, {_formatted(sums[1])}",
        independent=f"factors {direct[0]} alone, {direct[1]} beside a mechanism with e^ε = {factor}",
    )


def _examine_pdp_composition(case: Case) -> Finding:
    """Per record and apart for each direction the losses add; on independent pairs they add exactly."""
    here, there, following, elsewhere = adaptive_laws(case)
    ratios = [
        (greatest_ratio(here, there), greatest_ratio(there, here)),
        (max(map(greatest_ratio, following, elsewhere)), max(map(greatest_ratio, elsewhere, following))),
    ]
    profile = compose_profiles(*(_profile(*pair) for pair in ratios))
    bound = exponential(profile.remove), exponential(profile.add)
    with_it, without = joint(here, following), joint(there, elsewhere)
    direct = greatest_ratio(with_it, without), greatest_ratio(without, with_it)
    reached = (  # beside the member that reaches the loss, whatever the first output
        max(greatest_ratio(*_beside(here, there, p, q)) for p, q in zip(following, elsewhere, strict=True)),
        max(greatest_ratio(*_beside(there, here, q, p)) for p, q in zip(following, elsewhere, strict=True)),
    )
    return Finding(
        holds=direct[0] <= bound[0] == reached[0] and direct[1] <= bound[1] == reached[1],
        closed_form=f"e^ψ = {bound[0]} (remove), {bound[1]} (add) from {ratios}",
        independent=f"largest ratios {direct} for the adaptive pair, {reached} for independent ones",
    )


def _beside(first: Law, second: Law, then: Law, otherwise: Law) -> tuple[Law, Law]:
    return joint(first, [then] * len(first)), joint(second, [otherwise] * len(second))


# Cases


def _adaptive_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(shape: tuple[int, int]) -> SearchStrategy[Case]:
        first, second = shape
        pair = st.tuples(scores(first), scores(first))
        following = st.tuples(scores(second), scores(second))
        return st.fixed_dictionaries({"first": pair, "second": st.tuples(*[following] * first)})

    return st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(of_shape)


def _processing_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(shape: tuple[int, int]) -> SearchStrategy[Case]:
        before, after = shape
        laws = st.tuples(scores(before), scores(before))
        return st.fixed_dictionaries({"laws": laws, "kernel": st.tuples(*[scores(after)] * before)})

    return st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(of_shape)


def _chain_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(outputs: int) -> SearchStrategy[Case]:
        chain = st.lists(scores(outputs), min_size=1, max_size=6).map(tuple)
        return st.fixed_dictionaries({"chain": chain})

    return st.integers(1, 4).flatmap(of_shape)


def _order_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    factors = st.fractions(1, 20, max_denominator=50)
    near = st.tuples(factors, st.integers(-1, 1), st.integers(1, 30)).map(
        lambda drawn: (drawn[0], max(Fraction(1), drawn[0] + Fraction(drawn[1], 2 ** drawn[2])))
    )
    pairs = st.tuples(factors, factors) | near
    return pairs.map(lambda pair: {"factor": pair[0], "allowed": pair[1]})


def _neutral_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(shape: tuple[int, int]) -> SearchStrategy[Case]:
        outputs, ignoring = shape
        laws = st.tuples(scores(outputs), scores(outputs))
        return st.fixed_dictionaries({"laws": laws, "ignoring": scores(ignoring)})

    return st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(of_shape)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="pure/composition",
        statement="pure DP, adaptive composition",
        says="releasing both results costs ε₁ + ε₂, the second mechanism being chosen by the first result",
        cases=_adaptive_cases,
        examine=_examine_composition,
    ),
    Claim(
        id="pure/composition-by-maximum",
        statement="pure DP, a wrong law",
        says="releasing both results costs max(ε₁, ε₂)",
        cases=_adaptive_cases,
        examine=_examine_larger,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pure/post-processing",
        statement="pure DP, post-processing",
        says="a random map of the output costs nothing",
        cases=_processing_cases,
        examine=_examine_post_processing,
    ),
    Claim(
        id="pure/group-privacy",
        statement="pure DP, group privacy",
        says="a group of k units loses kε",
        cases=_chain_cases,
        examine=_examine_group,
    ),
    Claim(
        id="pure/group-as-one-unit",
        statement="pure DP, a wrong law",
        says="a group of k units loses ε",
        cases=_chain_cases,
        examine=_examine_unscaled,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pure/monotonicity",
        statement="pure DP, monotonicity",
        says="ε-DP entails ε'-DP exactly for ε ≤ ε'",
        cases=_order_cases,
        examine=_examine_monotonicity,
    ),
    Claim(
        id="pure/nothing",
        statement="pure DP, neutral bound",
        says="a mechanism that ignores its data costs 0 and adds 0",
        cases=_neutral_cases,
        examine=_examine_nothing,
    ),
    Claim(
        id="pure/pdp-composition",
        statement="PDP profiles, adaptive composition",
        says="losses add per record, each direction apart",
        cases=_adaptive_cases,
        examine=_examine_pdp_composition,
    ),
)
