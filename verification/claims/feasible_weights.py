"""Claims of IS: Problem 7, Theorem 10, Algorithm 1, Proposition 12 and Equation 4, against weights found by scanning.

Legend: ε(w) is the loss at weight w, ε* the target, f = e^ε, c = e^ε* − 1. Weight w is feasible where f(w) ≤ 1 + c·w.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, log2
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure, Truth
from ...accounting.expressions import (
    Constant,
    Expression,
    W,
    derivative,
    enclose,
    exp,
    expm1,
    log1p,
    minimum,
    norm,
    simplify,
)
from ...accounting.feasible_weights import ConstrainedWeight, Reach, constrained_weight, largest_weights
from ...accounting.feasible_weights.convexity import assumption_8, assumption_9, convexity
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.domains import NormBall
from ...accounting.sampling.losses import PureLoss
from ...plugins.contract import Case, Claim, Expectation, Finding, Proof
from ..oracles import profiles as oracles
from ..oracles import weights as oracles_weights
from ..oracles.profiles import working
from ..oracles.working_precision import fraction
from .subdivision import prove, quantity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ONE = Fraction(1)
_PRECISION = 192
_ONE_FLOAT = Fraction(1, 2**51)
"""Relative distance that rounding a weight down to a binary64 may cost."""

_FAMILIES: Mapping[str, Callable[[Fraction, Fraction, Fraction], Expression]] = {
    "power": lambda a, b, p: a * W**p,
    "logarithmic": lambda a, b, p: log1p(a * W**p),
    "quadratic": lambda a, b, p: a * W + a * b * W**2,
    "exponential": lambda a, b, p: a * expm1(b * W),
}
"""The library's side of `oracles.FORMULAS`."""

_BOUNDED: Mapping[str, Callable[[Fraction, Fraction, Fraction], Expression]] = {
    "constant": lambda a, b, p: Constant(a),
    "decaying": lambda a, b, p: a + a * b / W,
    "capped": lambda a, b, p: minimum(a * W, a * b),
}
"""Losses that stay below a bound at all weights."""


def _expression(case: Case) -> Expression:
    return _FAMILIES[case["family"]](case["a"], case["b"], case["p"])


def _target(case: Case) -> Fraction:
    """ε* = ε(1)·factor where ε(1) is rational, else a number a little above that."""
    a, b, factor = case["a"], case["b"], case["factor"]
    rational = {"power": a, "quadratic": a + a * b}
    if case["family"] in rational:
        return Fraction(rational[case["family"]] * factor)
    at_one = enclose(_expression(case), {W: Enclosure.of(1, precision=_PRECISION)}, precision=_PRECISION)
    return Enclosure.of(at_one.upper * factor, precision=64).upper


def _solved(case: Case) -> ConstrainedWeight:
    return constrained_weight(PureLoss(_expression(case)), {}, _target(case))


def _scanned(case: Case) -> Fraction | None:
    return oracles_weights.largest_feasible(case["family"], case, _target(case))


def _formatted_weight(weight: Fraction | None) -> str:
    return "none below 2^48" if weight is None else repr(float(weight))


def _excess(case: Case, weight: Fraction) -> Fraction:
    return oracles_weights.excess(case["family"], case, _target(case), weight)


# Assumptions 8 and 9


def _growing_or_not(case: Case) -> Expression:
    return {**_FAMILIES, **_BOUNDED}[case["family"]](case["a"], case["b"], case["p"])


def _examine_assumption_8(case: Case) -> Finding:
    """ε(w, x) = ε(w)·‖x‖₁ on a ball of radius r: the worst record has r·ε(1), from mpmath's own functions."""
    radius, target = case["radius"], case["target"]
    domain = NormBall(norm=Norm.L1, radius=Public(radius))
    found = assumption_8(PureLoss(_growing_or_not(case) * norm(1)), domain, target)
    a, b, p = (working.number(case[name]) for name in "abp")
    worst = radius * fraction(oracles.FORMULAS[case["family"]](working.number(_ONE), a, b, p))
    tie = abs(worst - target) <= oracles.NEGLIGIBLE
    return Finding(
        holds=tie or found is (Truth.TRUE if worst < target else Truth.FALSE),
        closed_form=f"ε(1, x) ≤ ε* = {target} is {found.value} on ‖x‖₁ ≤ {radius}",
        independent=f"the largest ε(1, x) is {float(worst):.12g}",
    )


def _examine_assumption_9(case: Case) -> Finding:
    """TRUE: weight 2^40 is infeasible at the target. FALSE: at a target above every ε(w), all weights are feasible."""
    domain = NormBall(norm=Norm.L1, radius=Public(_ONE))
    found = assumption_9(PureLoss(_growing_or_not(case)), domain)
    above = (1 + case["a"]) * (1 + case["b"])
    target = case["target"] if found is Truth.TRUE else above
    weights = [2**40] if found is Truth.TRUE else [2**exponent for exponent in range(0, 48, 4)]
    excesses = [oracles_weights.excess(case["family"], case, target, Fraction(weight)) for weight in weights]
    expected = {Truth.TRUE: min(excesses) > 0, Truth.FALSE: max(excesses) <= 0, Truth.UNDECIDED: True}
    return Finding(
        holds=expected[found] and (found is Truth.TRUE or case["family"] in _BOUNDED),
        closed_form=f"from some weight on none is feasible: {found.value} for ε(w) = {_growing_or_not(case)}",
        independent=f"relative excess {float(max(excesses)):.6g} at most over weights to {weights[-1]}, ε* = {target}",
    )


def _growing_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "family": st.sampled_from(("power", "quadratic", "exponential", *_BOUNDED)),
            "a": st.fractions(Fraction(1, 8), 2, max_denominator=8),
            "b": st.fractions(Fraction(1, 8), 2, max_denominator=8),
            "p": st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2)]),
            "radius": st.fractions(Fraction(1, 4), 4, max_denominator=4),
            "target": st.fractions(Fraction(1, 8), 8, max_denominator=8),
        }
    )


# Problem 7 and Theorem 10


def _examine_problem_7(case: Case) -> Finding:
    """The weight is feasible, so is every one below that is looked at, and the last feasible one found is no larger."""
    found = _solved(case)
    weight, last = Fraction(found.weight), _scanned(case)
    inside = all(_excess(case, 1 + (weight - 1) * share) <= oracles.NEGLIGIBLE for share in case["shares"])
    reached = last is not None and abs(weight - last) <= last * _ONE_FLOAT
    return Finding(
        holds=inside and _excess(case, weight) <= oracles.NEGLIGIBLE and reached,
        closed_form=f"largest feasible weight {found.weight!r} ({found.reach.name.lower()}) for {_expression(case)}",
        independent=f"last feasible weight found by scanning: {_formatted_weight(last)}",
    )


def _examine_theorem_10(case: Case) -> Finding:
    """What is drawn and applied keeps each record at ε*, nothing much larger does, no record matters to another."""
    target: Fraction = case["target"]
    losses = [float(target * share) for share in case["shares"]]
    losses = [loss for loss in losses if Fraction(loss) <= target]
    together = largest_weights(losses, target)
    worst, loose, apart = Fraction(-1), False, True
    for index, loss in enumerate(losses):
        weight, rate = Fraction(together.weight[index]), Fraction(together.probability[index])
        alone = largest_weights([loss], target)
        apart &= alone.weight[0] == together.weight[index] and alone.probability[0] == together.probability[index]
        if weight > 1:
            worst = max(worst, oracles_weights.realised_excess(Fraction(loss), weight, rate, target))
        beyond = weight * (1 + Fraction(together.gap) * 2)
        loose |= oracles_weights.realised_excess(Fraction(loss), beyond, 1 / beyond, target) < 0
    return Finding(
        holds=worst <= oracles.NEGLIGIBLE and not loose and apart,
        closed_form=f"weights {together.weight.tolist()}, gap {together.gap}",
        independent=f"largest relative excess {float(worst):.3g}; a larger weight is feasible: {loose}",
    )


# Algorithm 1 and Proposition 12


def _printed_constant(case: Case) -> tuple[Fraction, Fraction]:
    """v̄ = min(e^ε(1) + μ/2, ε'(1)·e^ε(1) + 1) and e^ε*, by enclosures so narrow that a midpoint stands for them."""
    found = _solved(case)
    assert found.modulus is not None
    at_one = {W: Enclosure.of(1, precision=_PRECISION)}
    factor = enclose(_expression(case), at_one, precision=_PRECISION).exp()
    slope = enclose(derivative(_expression(case), W), at_one, precision=_PRECISION)
    least = (factor + found.modulus / 2).minimum(slope * factor + 1)
    return least.midpoint, Enclosure.of(_target(case), precision=_PRECISION).exp().midpoint


def _examine_algorithm_1(case: Case) -> Finding:
    """μ is a modulus of e^ε, the bracket holds the last feasible weight, and the feasible end reaches it."""
    found, last = _solved(case), _scanned(case)
    weights = [_ONE, *(1 + share * 8 for share in case["shares"])]
    least = min(oracles_weights.curvature(case["family"], case, weight) for weight in weights)
    loosened = 1 + Fraction(1, 2**50)
    bracketed = found.bracket is None or (last is not None and last <= found.bracket.upper * loosened)
    modulus = found.modulus is None or found.modulus.lower <= least * loosened
    reached = last is not None and abs(Fraction(found.weight) - last) <= last * _ONE_FLOAT
    return Finding(
        holds=bracketed and modulus and reached and found.reach is Reach.LARGEST,
        closed_form=f"μ = {found.modulus}, bracket ends at {found.bracket}, weight {found.weight!r}",
        independent=f"least curvature seen {float(least):.6g}, last feasible weight {_formatted_weight(last)}",
    )


def _bisected(case: Case, end: Fraction, halvings: int) -> tuple[Fraction, Fraction]:
    """The last bracket of a bisection of [1, end]."""
    low, high = _ONE, end
    for _ in range(halvings):
        middle = (low + high) / 2
        if _excess(case, middle) <= 0:
            low = middle
        else:
            high = middle
    return low, high


def _examine_proposition_12(case: Case) -> Finding:
    """⌈log₂((b − 1)/α)⌉ evaluations bring the feasible end of the bracket within α of the largest feasible weight."""
    found, last = _solved(case), _scanned(case)
    if found.bracket is None or last is None:
        return Finding(False, f"weight {found.weight!r} without a bracket", f"last feasible: {_formatted_weight(last)}")
    end = max(found.bracket.upper, _ONE)
    halvings = max(0, ceil(log2((end - 1) / case["accuracy"]))) if end > 1 else 0
    low, _ = _bisected(case, end, halvings)
    return _within(case, low, last, halvings)


def _formatted_profile(case: Case) -> str:
    return f"ε(w) = {str(simplify(_expression(case))).replace('W', 'w')}, ε* = {float(_target(case)):.6g}"


def _evaluations(count: int) -> str:
    return f"{count} evaluation{'' if count == 1 else 's'}"


def _within(case: Case, low: Fraction, last: Fraction, halvings: int) -> Finding:
    slack = last * oracles_weights.CLOSE
    return Finding(
        holds=low <= last + slack and last - low <= case["accuracy"] + slack,
        closed_form=f"{_formatted_profile(case)}: {float(low):.12g} after {_evaluations(halvings)}, "
        f"for accuracy {case['accuracy']}",
        independent=f"last feasible weight {float(last)!r}",
    )


def _prove_bracket() -> Proof:
    """For ε(w) = A·w and ε* = A + s: v̄ is A·e^A + 1, and b = 2((e^ε* − v̄)/μ + 1) is beyond the last feasible weight.

    That is where e^{Aw} − 1 ≤ (e^ε* − 1)w; both sides are divided by e^{Aw}.
    """
    slope, room = quantity("A"), quantity("s")
    modulus, least = slope**2 * exp(slope), slope * exp(slope) + 1
    bracket = 2 * ((exp(slope + room) - least) / modulus + 1)
    beyond = -expm1(-slope * bracket) - expm1(slope + room) * bracket * exp(-slope * bracket)
    box = {slope: ("1/2", 1), room: ("3/4", 1)}
    return prove("e^{Ab} − 1 ≥ (e^ε* − 1)b", [exp(slope) + modulus / 2 - least, beyond], box)


# What is printed


def _examine_printed_line_6(case: Case) -> Finding:
    """Whether the bracket as printed, 2(e^ε* − v̄)/μ + 1, holds the last feasible weight."""
    last = _scanned(case)
    found = _solved(case)
    if last is None or found.modulus is None:
        return Finding(True, "no bracket", "not asked")
    least, factor = _printed_constant(case)
    end = 2 * (factor - least) / found.modulus.midpoint + 1
    return Finding(
        holds=last <= end * (1 + oracles_weights.CLOSE),
        closed_form=f"the bracket ends at {float(end):.12g} for {_formatted_profile(case)}, "
        f"v̄ = {float(least):.12g}, μ = {float(found.modulus.midpoint):.12g}",
        independent=f"last feasible weight {_formatted_weight(last)}",
    )


def _examine_printed_line_7(case: Case) -> Finding:
    """Whether leaving the root 1 behind only where ε'(1) < 0 finds the last feasible weight of a tight target."""
    last = _scanned(case)
    slope = enclose(derivative(_expression(case), W), {W: Enclosure.of(1, precision=_PRECISION)}, precision=_PRECISION)
    return Finding(
        holds=slope.lower < 0 or last == 1,
        closed_form=f"{_formatted_profile(case)}, "
        f"ε'(1) = {slope.upper_float:.12g} ≥ 0: bisection of [1, b] may end at 1",
        independent=f"last feasible weight {_formatted_weight(last)}",
    )


def _examine_printed_count(case: Case) -> Finding:
    """Whether log₂((e^ε* − v̄)/(αμ)) evaluations are enough."""
    last, found = _scanned(case), _solved(case)
    if last is None or found.modulus is None or found.bracket is None:
        return Finding(True, "no bracket", "not asked")
    least, factor = _printed_constant(case)
    ratio = (factor - least) / (case["accuracy"] * found.modulus.midpoint)
    halvings = max(0, ceil(log2(ratio))) if ratio > 0 else 0
    low, _ = _bisected(case, max(found.bracket.upper, _ONE), halvings)
    return _within(case, low, last, halvings)


def _examine_midpoint(case: Case) -> Finding:
    """Whether the midpoint of the last bracket keeps the target."""
    found = _solved(case)
    if found.bracket is None or found.bracket.upper <= 1:
        return Finding(True, "no bracket", "not asked")
    low, high = _bisected(case, found.bracket.upper, case["halvings"])
    excess = _excess(case, (low + high) / 2)
    return Finding(
        holds=excess <= oracles.NEGLIGIBLE,
        closed_form=f"{_formatted_profile(case)}: midpoint {float((low + high) / 2):.12g} "
        f"after {_evaluations(case['halvings'])}",
        independent=f"e^ψ − 1 exceeds e^ε* − 1 there by the share {float(excess):.3g}; "
        f"last feasible weight {_formatted_weight(_scanned(case))}",
    )


# Equation 4


def _lloyd(case: Case) -> Fraction:
    """A = T·(1/β_count + ‖x‖/β_sum), the loss of a record of weight 1."""
    return Fraction(case["iterations"] * case["loss"])


def _strongly_convex(case: Case, modulus: Fraction) -> bool:
    """f(v) ≥ f(u) + f'(u)(v − u) + (μ/2)(v − u)² at the case's weights (IS Equation 9), to within 2^-150."""
    a, mu = working.number(_lloyd(case)), working.number(modulus)
    u, v = (working.number(w) for w in case["weights"])
    at_u, at_v = working.exp(a * u), working.exp(a * v)
    return bool(at_v * (1 + working.mpf(2) ** -150) >= at_u + a * at_u * (v - u) + mu / 2 * (v - u) ** 2)


def _exponential(number: Fraction) -> Enclosure:
    return Enclosure.of(number, precision=_PRECISION).exp()


def _examine_equation_4(case: Case) -> Finding:
    """The library's modulus of e^{Aw} is A²e^A, and e^{Aw} is that strongly convex."""
    a = _lloyd(case)
    modulus = convexity(Constant(a) * W, {}).modulus(Constant(a) * W, {}, precision=_PRECISION)
    expected = _exponential(a) * a**2
    narrow = modulus is not None and modulus.contains(expected.midpoint)
    return Finding(
        holds=narrow and modulus is not None and _strongly_convex(case, modulus.lower),
        closed_form=f"μ = {modulus}",
        independent=f"A²e^A = {expected}",
    )


def _prove_equation_4() -> Proof:
    """Equation 9 for e^{Aw} at weights u ≥ 1 and u + t, in both directions, divided by e^{Au}; z = At, y = u − 1."""
    distance, slope, start = quantity("z"), quantity("A"), quantity("y")
    square = distance**2 / 2 * exp(-slope * start)
    ahead = exp(distance) - 1 - distance - square
    back = 1 - exp(distance) + distance * exp(distance) - square
    box = {distance: (0, 32), slope: (0, 32), start: (0, 1000)}
    return prove("f(v) ≥ f(u) + f'(u)(v − u) + (μ/2)(v − u)²", [ahead, back], box)


def _examine_printed_equation_4(case: Case) -> Finding:
    """Whether e^{Aw} is T²(1/β_count + ‖x‖/β_sum)e^A strongly convex, as printed."""
    modulus = (_exponential(_lloyd(case)) * (case["iterations"] ** 2 * case["loss"])).lower
    u, v = case["weights"]
    gap = v - u
    tangent = (_exponential(_lloyd(case) * u) * (1 + _lloyd(case) * gap)).lower
    return Finding(
        holds=_strongly_convex(case, modulus),
        closed_form=f"e^(Av) ≥ {float(tangent + modulus / 2 * gap**2):.6g} with μ = {float(modulus):.6g}, "
        f"A = {_lloyd(case)}, u = {u}, v = {v}",
        independent=f"e^(Av) = {_exponential(_lloyd(case) * v).upper_float:.6g}",
    )


# Cases


def _profile_cases(
    families: tuple[str, ...], exponents: tuple[str, ...], factors: SearchStrategy[Fraction]
) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "family": st.sampled_from(families),
            "a": st.fractions(Fraction(1, 16), 2, max_denominator=16),
            "b": st.fractions(Fraction(1, 8), 2, max_denominator=8),
            "p": st.sampled_from([Fraction(p) for p in exponents]),
            "factor": factors,
            "shares": st.lists(st.fractions(0, 1, max_denominator=1000), max_size=4).map(tuple),
            "accuracy": st.integers(0, 20).map(lambda k: Fraction(1, 2**k)),
            "halvings": st.integers(1, 24),
        }
    )


def _convex_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    factors = st.fractions(Fraction(9, 8), 5, max_denominator=16)
    return _profile_cases(tuple(sorted(_FAMILIES)), ("2", "3"), factors)


def _linear_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _profile_cases(("power",), ("1",), st.fractions(Fraction(9, 8), 5, max_denominator=16))


def _tight_or_loose_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    factors = st.just(_ONE) | st.fractions(Fraction(9, 8), 3, max_denominator=16)
    return _profile_cases(("power", "quadratic"), ("1", "3/2", "2"), factors)


def _root_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    large = st.fractions(Fraction(9, 8), 3, max_denominator=8)  # a·√w has a convex exponential from w = 1 on for a ≥ 1
    cases = _profile_cases(("power",), ("1/2",), st.just(_ONE))
    return st.tuples(cases, large).map(lambda pair: {**pair[0], "a": pair[1]})


def _problem_cases() -> SearchStrategy[Case]:
    return _convex_cases() | _tight_or_loose_cases() | _root_cases()


def _line_7_cases() -> SearchStrategy[Case]:
    return _root_cases()


def _bulk_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    shares = st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6) | st.integers(1, 200).map(
        lambda k: Fraction(1, 2**k)
    )
    near = st.integers(2, 52).map(lambda k: 1 - Fraction(1, 2**k))
    return st.fixed_dictionaries(
        {
            "target": st.fractions(Fraction(1, 10**8), 20, max_denominator=10**8),
            "shares": st.lists(shares | near, min_size=1, max_size=6).map(tuple),
        }
    )


def _lloyd_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    weights = st.fractions(1, 20, max_denominator=100)
    return st.fixed_dictionaries(
        {
            "iterations": st.integers(1, 10),
            "loss": st.fractions(Fraction(1, 100), 2, max_denominator=100),
            "weights": st.tuples(weights, weights),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="is/problem-7",
        statement="IS Problem 7",
        says="the largest feasible weight keeps ψ ≤ ε*, as does every smaller one, and no larger one does",
        cases=_problem_cases,
        examine=_examine_problem_7,
    ),
    Claim(
        id="is/theorem-10",
        statement="IS Theorem 10",
        says="the weights and probabilities in use satisfy ε*-DP, each from its own record alone",
        cases=_bulk_cases,
        examine=_examine_theorem_10,
    ),
    Claim(
        id="is/algorithm-1",
        statement="IS Algorithm 1, corrected",
        says="the bracket ends beyond the last feasible weight, and its feasible end reaches that",
        cases=_problem_cases,
        examine=_examine_algorithm_1,
        prove=_prove_bracket,
    ),
    Claim(
        id="is/proposition-12",
        statement="IS Proposition 12, corrected",
        says="log₂((b − 1)/α) evaluations bring the feasible end within α of the largest feasible weight",
        cases=_convex_cases,
        examine=_examine_proposition_12,
    ),
    Claim(
        id="is/equation-4",
        statement="IS Equation 4, corrected",
        says="the exponential of a linear loss A·w is A²e^A-strongly convex on w ≥ 1",
        cases=_lloyd_cases,
        examine=_examine_equation_4,
        prove=_prove_equation_4,
    ),
    Claim(
        id="is/equation-4-printed",
        statement="IS Equation 4",
        says="as printed, with the bracket in A² not squared",
        cases=_lloyd_cases,
        examine=_examine_printed_equation_4,
        expectation=Expectation.REJECTED,
        erratum="IS-Eq4",
        witness={"iterations": 1, "loss": Fraction(1, 10), "weights": (Fraction(1), Fraction(2))},
    ),
    Claim(
        id="is/algorithm-1-line-6-printed",
        statement="IS Algorithm 1, line 6",
        says="as printed, with a bracket that ends at 2(e^ε* − v̄)/μ + 1",
        cases=_convex_cases,
        examine=_examine_printed_line_6,
        expectation=Expectation.REJECTED,
        erratum="IS-A1-line6",
        witness={"family": "power", "a": Fraction(1), "b": Fraction(0), "p": Fraction(1), "factor": Fraction(3, 2)},
    ),
    Claim(
        id="is/algorithm-1-line-7-printed",
        statement="IS Algorithm 1, line 7",
        says="as printed, leaving the root 1 behind only where ε'(1) < 0",
        cases=_line_7_cases,
        examine=_examine_printed_line_7,
        expectation=Expectation.REJECTED,
        erratum="IS-A1-line7",
        witness={"family": "power", "a": Fraction(6, 5), "b": Fraction(0), "p": Fraction(1, 2), "factor": Fraction(1)},
    ),
    Claim(
        id="is/proposition-12-printed",
        statement="IS Proposition 12",
        says="as printed, with log₂((e^ε* − v̄)/(αμ)) evaluations",
        cases=_convex_cases,
        examine=_examine_printed_count,
        expectation=Expectation.REJECTED,
        erratum="IS-P12",
        witness={
            "family": "power",
            "a": Fraction(1),
            "b": Fraction(0),
            "p": Fraction(1),
            "factor": Fraction(3, 2),
            "accuracy": Fraction(1, 10),
        },
    ),
    Claim(
        id="is/algorithm-1-midpoint-printed",
        statement="IS Algorithm 1, the value returned",
        says="as printed, with a midpoint in place of the feasible end",
        cases=_linear_cases,
        examine=_examine_midpoint,
        expectation=Expectation.REJECTED,
        erratum="IS-bisection",
        witness={
            "family": "power",
            "a": Fraction(1),
            "b": Fraction(0),
            "p": Fraction(1),
            "factor": Fraction(5, 4),
            "halvings": 1,
        },
    ),
    Claim(
        id="is/assumption-8",
        statement="IS Assumption 8",
        says="whether ε(1, x) ≤ ε* on a public domain is decided, and rightly",
        cases=_growing_cases,
        examine=_examine_assumption_8,
    ),
    Claim(
        id="is/assumption-9",
        statement="IS Assumption 9",
        says="where it is proven large weights are infeasible; where it is refuted some target admits them all",
        cases=_growing_cases,
        examine=_examine_assumption_9,
    ),
)
