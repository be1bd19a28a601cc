"""Claims of IS about coreset sampling (Section 4) and variance-optimal sampling (Section 3.3).

Legend: m is the expected size, n the number of records, x̃ their mean squared norm, r the radius, λ the share of the
uniform part. Data sets are small and rational, so that costs, probabilities and variances have exact values.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...accounting.amplification import psi
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.expressions import Constant, Expression, W, evaluate, expm1, log1p, norm, simplify, substitute
from ...accounting.norms import Norm
from ...accounting.provenance import Private, Public
from ...accounting.relations import AddRemove, Record
from ...accounting.sampling.domains import NormBall
from ...accounting.sampling.losses import PureLoss
from ...accounting.sampling.profiles import PureProfile
from ...accounting.sampling.theorem_6 import theorem_6
from ...plugins.contract import Case, Claim, Expectation, Finding, Proof, WeightedSample
from ...samplers.coreset import Coreset, largest_size
from ...samplers.variance_optimal import variance_optimal, weighted_sum_variance
from ..oracles import coresets as oracles_coresets
from ..oracles import lightweight_coresets
from .finite import indistinguishability, mixture, randomised_response
from .subdivision import prove, quantity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ONE = Fraction(1)
_NEXT = 1 + Fraction(1, 2**60)
_NEAR = 1e-9
_CLOSE = 1e-11
_GRID = 100
"""Points of the grid that Equation 5 is maximised on."""


def _coreset(size: Fraction, case: Case) -> Coreset:
    return Coreset(
        m=Public(size),
        n=Public(case["n"]),
        mean_squared_norm=Public(case["spread"]),
        radius=Public(case["radius"]),
        mixing=Public(case["mixing"]),
    )


def _limit(case: Case) -> Fraction:
    return largest_size(case["n"], case["spread"], case["radius"], case["mixing"])


# Rates that are computed from the data


def _examine_private_size(case: Case) -> Finding:
    """A mechanism tells by randomised response whether one certain record was drawn; it ignores the record at 0.

    All rates are m/n with m = 1 (λ = 1): n changes with the record at 0, and so does the rate of the other one.
    """
    absent, present = randomised_response(case["growth"])
    rates = [_coreset(Fraction(1), {**case, "n": Fraction(n)}) for n in (case["others"] + 1, case["others"])]
    drawn = [Fraction(evaluate(sampler.rate.probability, {norm(2): np.zeros(1)})[0]) for sampler in rates]
    laws = [mixture([(1 - rate, absent), (rate, present)]) for rate in drawn]
    claimed = psi(Enclosure.of(0), Enclosure.of(drawn[0])).exp()
    found = indistinguishability(*laws)
    return Finding(
        holds=found <= claimed.upper,
        closed_form=f"e^ψ = {claimed} for the record at 0, which the mechanism ignores",
        independent=f"another record is drawn with probability {drawn[0]}, without the one at 0 with {drawn[1]}: "
        f"the laws differ by a factor {found}",
    )


def _private_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    growth = st.integers(2, 9).map(lambda n: Fraction(n, 2))
    others = st.sampled_from([1, 3, 7, 15])  # the rates are read as drawn, in binary64
    fixed = {"spread": st.just(_ONE), "radius": st.just(_ONE), "mixing": st.just(_ONE)}
    return st.fixed_dictionaries({"others": others, "growth": growth, **fixed})


# Equation 5


_Constants: TypeAlias = tuple[float, float, float, float, float]
"""r, a, t, b and s of Equation 5."""


def _profile(case: Case) -> tuple[PureProfile[AddRemove, Record], _Constants]:
    """The library's profile of a loss w·(a₀ + t₀·‖x‖₂), and r, a, t, b, s of Equation 5."""
    size = case["share"] * _limit(case)
    loss = PureLoss(W * (Constant(case["constant"]) + case["slope"] * norm(2)))
    rate = size / case["n"]
    uniform, growth = case["mixing"] * rate, (1 - case["mixing"]) * rate / case["spread"]
    numbers = (case["radius"], case["constant"], case["slope"], uniform, growth)
    radius, a, t, b, s = map(float, numbers)
    return theorem_6(loss, _coreset(size, case).rate), (radius, a, t, b, s)


def _examine_equation_5(case: Case) -> Finding:
    """The certified supremum is the largest value of Equation 5, as a refined grid finds it, and not below it."""
    profile, numbers = _profile(case)
    found = profile.supremum(NormBall(norm=Norm.L2, radius=Public(case["radius"])))[1].enclosure
    best = oracles_coresets.largest_of_equation_5(*numbers)
    return Finding(
        holds=best * (1 - _CLOSE) <= found.upper_float and found.upper_float <= best * (1 + _NEAR),
        closed_form=f"supremum of ψ in [{found.lower_float!r}, {found.upper_float!r}]",
        independent=f"refined grid over ρ ≤ r: {best!r}",
    )


def _prove_equation_5() -> Proof:
    """One sampler and one loss: nowhere on ρ ≤ r does Equation 5 exceed the upper end of the library's supremum."""
    case: Case = {
        "n": Fraction(1000),
        "spread": _ONE,
        "radius": _ONE,
        "mixing": Fraction(1, 2),
        "share": Fraction(1, 10),
    }
    case = {**case, "constant": Fraction(1, 10), "slope": Fraction(1, 100)}
    found = _profile(case)[0].supremum(NormBall(norm=Norm.L2, radius=Public(_ONE)))[1].enclosure
    length = quantity("ρ")
    rate = case["share"] * _limit(case) * (case["mixing"] + (1 - case["mixing"]) * length**2) / case["n"]
    loss = (case["constant"] + case["slope"] * length) / rate
    most = Constant(found.upper)
    return prove("log(1 + u(exp((a + tρ)/u) − 1)) ≤ sup ψ", most - log1p(rate * expm1(loss)), {length: (0, 1)})


def _examine_grid(case: Case) -> Finding:
    """Whether 100 even points reach the supremum of ψ; only a proven shortfall counts against it."""
    profile, numbers = _profile(case)
    found = profile.supremum(NormBall(norm=Norm.L2, radius=Public(case["radius"])))[1].enclosure
    best = oracles_coresets.on_grid_of_equation_5(*numbers, points=_GRID)
    return Finding(
        holds=found.lower_float <= best * (1 + _NEAR),
        closed_form=f"grid of {_GRID} points: {best!r}",
        independent=f"supremum of ψ in [{found.lower_float!r}, {found.upper_float!r}]",
    )


# The largest expected size


def _is_accepted(size: Fraction, case: Case) -> bool:
    try:
        _coreset(size, case)
    except InvalidValue:
        return False
    return True


def _rate_at_radius(size: Fraction, case: Case) -> Fraction:
    """q of a record of norm r, before any cap."""
    share = size / case["n"]
    reached: Fraction = case["mixing"] * share + (1 - case["mixing"]) * share * case["radius"] ** 2 / case["spread"]
    return reached


def _examine_size_limit(case: Case) -> Finding:
    """q reaches 1 at norm r exactly at the limit: the sampler takes that size and refuses the next larger one."""
    limit = _limit(case)
    return Finding(
        holds=_rate_at_radius(limit, case) == 1 and _is_accepted(limit, case) and not _is_accepted(limit * _NEXT, case),
        closed_form=f"m ≤ {limit}",
        independent=f"q(r) = {_rate_at_radius(limit, case)} at that m",
    )


def _examine_printed_limit(case: Case) -> Finding:
    """Whether q reaches 1 at norm r for the printed limit n·x̃/r²."""
    printed = case["n"] * case["spread"] / case["radius"] ** 2
    reached = _rate_at_radius(printed, case)
    return Finding(
        holds=reached == 1,
        closed_form=f"printed: m ≤ {printed}",
        independent=f"q(r) = {reached} at that m; it is 1 at m = {_limit(case)}",
    )


def _prove_size() -> Proof:
    """At the largest m, q is (λ + (1 − λ)ρ²/x̃)/(λ + (1 − λ)r²/x̃); σ = ρ²/r² and t = r²/x̃."""
    share, part, spread = quantity("λ"), quantity("σ"), quantity("t")
    rate = (share + (1 - share) * part * spread) / (share + (1 - share) * spread)
    return prove("q ≤ 1", 1 - rate, {share: ("1/100", 1), part: (0, 1), spread: (1, 100)})


# Samples of small data sets


def _centred(case: Case) -> list[oracles_coresets.Point]:
    """Points on a line with mean 0."""
    values = case["values"]
    middle = sum(values, Fraction(0)) / len(values)
    return [(x - middle,) for x in values]


def _rates(case: Case, points: list[oracles_coresets.Point]) -> list[Fraction]:
    """q of each point from the sampler's own expression, with n and x̃ of the data."""
    spread = sum((x**2 for (x,) in points), Fraction(0)) / len(points)
    constants = {
        "n": Fraction(len(points)),
        "spread": spread,
        "radius": max(abs(x) for (x,) in points),
        "mixing": case["mixing"],
    }
    rate: Expression = _coreset(case["share"] * _limit(constants), constants).rate.probability
    found = []
    for (x,) in points:
        value = simplify(substitute(rate, {norm(2): Constant(abs(x))}))
        assert isinstance(value, Constant)  # rational operations on rational numbers
        found.append(value.value)
    return found


def _examine_unbiased(case: Case) -> Finding:
    """Over all Poisson samples the expected size is m and the expected weighted cost is the cost of the data."""
    points = _centred(case)
    rates = _rates(case, points)
    centres = [(c,) for c in case["centres"]]
    size = expected = Fraction(0)
    for chance, chosen in oracles_coresets.subsets(rates):
        size += chance * len(chosen)
        drawn = [points[i] for i in chosen]
        expected += chance * oracles_coresets.cost(drawn, [1 / rates[i] for i in chosen], centres)
    full = oracles_coresets.cost(points, [Fraction(1)] * len(points), centres)
    wanted = case["share"] * _size_limit_of(points, case)
    return Finding(
        holds=expected == full and size == wanted,
        closed_form=f"expected size {wanted}, cost {full}",
        independent=f"over all samples: size {size}, cost {expected}",
    )


def _size_limit_of(points: list[oracles_coresets.Point], case: Case) -> Fraction:
    spread = sum((x**2 for (x,) in points), Fraction(0)) / len(points)
    return largest_size(Fraction(len(points)), spread, max(abs(x) for (x,) in points), case["mixing"])


def _examine_lightweight(case: Case) -> Finding:
    """On centred data q is m times the distribution of Bachem, Lucic and Krause, at λ = ½ and beyond."""
    points = _centred(case)
    size = case["share"] * _size_limit_of(points, case)
    moved = [(x + case["offset"],) for (x,) in points]  # they centre the data themselves
    theirs = [size * p for p in oracles_coresets.lightweight_distribution(moved, case["mixing"])]
    ours = _rates(case, points)
    return Finding(
        holds=ours == theirs,
        closed_form=f"q = {', '.join(map(str, ours))}",
        independent=f"m·q_B = {', '.join(map(str, theirs))}",
    )


def _sample(case: Case) -> tuple[Any, WeightedSample, list[oracles_coresets.Point], list[Fraction]]:
    points = [(x,) for x in case["values"]]
    drawn = [points[i % len(points)] for i in case["drawn"]]
    weights = [Fraction(w) for w in case["weights"][: len(drawn)]]
    matrix = np.array([[float(x)] for (x,) in drawn]).reshape(len(drawn), 1)
    records = np.array([[float(x)] for (x,) in points])
    return records, WeightedSample(matrix, [float(w) for w in weights]), drawn, weights


def _examine_definition_14(case: Case) -> Finding:
    """The error at given centres is that of the definition, and none exceeds the closed form for one centre."""
    records, sample, drawn, weights = _sample(case)
    points = [(x,) for x in case["values"]]
    centres = [(c,) for c in case["centres"]]
    direct = oracles_coresets.definition_14(points, drawn, weights, centres)
    found = lightweight_coresets.coreset_error(records, sample, [[float(c)] for c in case["centres"]]).reveal()
    singles = max(oracles_coresets.definition_14(points, drawn, weights, [c]) for c in centres)
    worst = lightweight_coresets.largest_error_of_one_centre(records, sample).reveal()
    reached = worst.error
    if np.isfinite(worst.centres).all() and abs(worst.centres).max() < 1e6:
        at = [(Fraction(float(worst.centres[0, 0])),)]
        reached = float(oracles_coresets.definition_14(points, drawn, weights, at))
    return Finding(
        holds=abs(found - direct) <= _CLOSE * (1 + direct)
        and singles <= worst.error * (1 + _NEAR) + _CLOSE
        and abs(reached - worst.error) <= 1e-6 * (1 + worst.error),
        closed_form=f"error {found!r}; at most {worst.error!r} for one centre",
        independent=f"by the definition {float(direct)!r}; {float(singles)!r} and {reached!r} for one centre",
    )


def _examine_sensitivity(case: Case) -> Finding:
    """d(x, C) ≤ K·q_B(x)·(½φ_D(C) + ½φ_D({x̄})) for every record and any centres."""
    points = [(x,) for x in case["values"]]
    ones = [Fraction(1)] * len(points)
    centres = [(c,) for c in case["centres"]]
    middle = oracles_coresets.mean(points)
    scale = oracles_coresets.cost(points, ones, centres) + oracles_coresets.cost(points, ones, [middle])
    factor = lightweight_coresets.sensitivity(case["mixing"])
    theirs = oracles_coresets.lightweight_distribution(points, case["mixing"])
    needed = max(
        oracles_coresets.cost([x], [Fraction(1)], centres) / (scale / 2) / q
        for x, q in zip(points, theirs, strict=True)
    )
    return Finding(needed <= factor, f"K = {factor}", f"largest d(x, C)/((½φ_D(C) + ½φ_D(mean))·q_B(x)) = {needed}")


# Variance


def _examine_variance(case: Case) -> Finding:
    """The variance of the sum is that over all Poisson samples, plus that of the noise."""
    points, rates, scale = [(x,) for x in case["values"]], case["rates"][: len(case["values"])], case["scale"]
    total = square = Fraction(0)
    for chance, chosen in oracles_coresets.subsets(rates):
        value = sum((points[i][0] / rates[i] for i in chosen), Fraction(0))
        total, square = total + chance * value, square + chance * value**2
    direct = square - total**2 + 2 * scale**2
    records = np.array([[float(x)] for (x,) in points])
    drawn = Private(np.array([float(q) for q in rates]))
    found = float(weighted_sum_variance(records, drawn, scale=scale).reveal()[0])
    return Finding(
        holds=abs(found - direct) <= _CLOSE * direct and total == sum(case["values"]),
        closed_form=f"2b² + Σ (1/q − 1)x² = {found!r}",
        independent=f"over all samples: variance {float(direct)!r}, mean {total}",
    )


def _examine_variance_optimal(case: Case) -> Finding:
    """No probabilities of the same expected size have a smaller variance: every choice of records at 1 is tried."""
    values = case["values"]
    total = case["share"] * sum(1 for x in values if x)
    records = np.array([[float(x)] for x in values])
    found = variance_optimal(records, m=total).reveal()
    best = oracles_coresets.optimal_shares([abs(x) for x in values], total)
    return Finding(
        holds=all(abs(q - float(p)) <= _CLOSE for q, p in zip(found, best, strict=True)),
        closed_form=f"min(1, ‖x‖/τ): {found.tolist()}",
        independent=f"least variance: {[str(q) for q in best]}",
    )


def _constants() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def numbers(low: int, high: int) -> SearchStrategy[Fraction]:
        return st.fractions(Fraction(low, 10), high, max_denominator=40)

    return st.fixed_dictionaries(
        {
            "n": st.integers(1, 10**6).map(Fraction),
            "spread": numbers(1, 9),
            "radius": numbers(1, 9),
            "mixing": st.fractions(Fraction(1, 50), 1, max_denominator=50),
        }
    )


def _printed_sizes() -> SearchStrategy[Case]:
    # x̃ ≤ r², as for every data set: there the printed limit is too strict
    return _constants().map(lambda case: {**case, "spread": min(case["spread"], case["radius"] ** 2)})


def _losses() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    extra = st.fixed_dictionaries(
        {
            "share": st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
            "constant": st.fractions(0, 1, max_denominator=100),
            "slope": st.fractions(Fraction(1, 100), 3, max_denominator=100),
        }
    )
    return st.tuples(_constants(), extra).map(lambda pair: {**pair[0], **pair[1]})


def _data() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    coordinate = st.integers(-12, 12).map(Fraction)
    return st.fixed_dictionaries(
        {
            "values": st.lists(coordinate, min_size=2, max_size=5).filter(lambda xs: len(set(xs)) > 1).map(tuple),
            "centres": st.lists(st.fractions(-30, 30, max_denominator=4), min_size=1, max_size=3).map(tuple),
            "offset": coordinate,
            "mixing": st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20),
            "share": st.fractions(Fraction(1, 20), 1, max_denominator=20),
            "drawn": st.lists(st.integers(0, 4), max_size=4).map(tuple),
            "weights": st.tuples(*[st.integers(1, 9)] * 4),
            "rates": st.tuples(*[st.integers(1, 12).map(lambda k: Fraction(k, 12))] * 5),
            "scale": st.fractions(0, 3, max_denominator=5),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="is/equation-5",
        statement="IS Equation 5",
        says="the certified supremum of ψ under coreset sampling is the largest value of Equation 5 on ρ ≤ r",
        cases=_losses,
        examine=_examine_equation_5,
        prove=_prove_equation_5,
    ),
    Claim(
        id="is/equation-5-grid",
        statement="IS Section 4, after Equation 5",
        says="as printed, ε is the largest ψ on a grid",
        cases=_losses,
        examine=_examine_grid,
        expectation=Expectation.REJECTED,
        erratum="IS-Eq5",
        witness={
            "n": Fraction(1000),
            "spread": Fraction(1),
            "radius": Fraction(1),
            "mixing": Fraction(1, 2),
            "share": Fraction(1, 10),
            "constant": Fraction(1, 10),
            "slope": Fraction(1, 100),
        },
    ),
    Claim(
        id="is/coreset-size",
        statement="IS Section 4, coreset sampling",
        says="q ≤ 1 on ‖x‖₂ ≤ r for m ≤ n/(λ + (1 − λ)r²/x̃), and for no larger m",
        cases=_constants,
        examine=_examine_size_limit,
        prove=_prove_size,
    ),
    Claim(
        id="is/coreset-size-printed",
        statement="IS Section 4, coreset sampling",
        says="as printed, the largest size is m = n·x̃/r²",
        cases=_printed_sizes,
        examine=_examine_printed_limit,
        expectation=Expectation.REJECTED,
        erratum="IS-m-limit",
        witness={"n": Fraction(1000), "spread": Fraction(1), "radius": Fraction(2), "mixing": Fraction(1, 2)},
    ),
    Claim(
        id="is/coreset-unbiased",
        statement="IS Section 4, coreset sampling",
        says="with n and x̃ of the data, the expected size is m and the weighted k-means cost is unbiased",
        cases=_data,
        examine=_examine_unbiased,
    ),
    Claim(
        id="is/lightweight-distribution",
        statement="IS Section 4, coreset sampling",
        says="on centred data q is m times the distribution of Bachem, Lucic and Krause",
        cases=_data,
        examine=_examine_lightweight,
    ),
    Claim(
        id="is/definition-14",
        statement="IS Definition 14",
        says="the error of a sample at given centres, and its largest value over all single centres in closed form",
        cases=_data,
        examine=_examine_definition_14,
    ),
    Claim(
        id="is/theorem-15-sensitivity",
        statement="IS Theorem 15",
        says="d(x, C) ≤ K·q_B(x)·(½φ_D(C) + ½φ_D({x̄})) with K = max(8/λ, 4/(1 − λ)), the constant behind its size",
        cases=_data,
        examine=_examine_sensitivity,
    ),
    Claim(
        id="is/variance",
        statement="IS Section 3.3, variance",
        says="coordinate j of the importance-sampled Laplace sum has variance 2b² + Σ (1/q − 1)x_j²",
        cases=_data,
        examine=_examine_variance,
    ),
    Claim(
        id="is/variance-optimal",
        statement="IS Section 3.3, variance-optimal sampling",
        says="q = min(1, ‖x‖₂/τ) has the least total variance among all q ≤ 1 of its expected size",
        cases=_data,
        examine=_examine_variance_optimal,
    ),
    Claim(
        id="is/coreset-size-from-the-data",
        statement="IS Section 4, coreset sampling",
        says="Theorem 6 bounds what a record loses where n is counted in the data that are sampled",
        cases=_private_cases,
        examine=_examine_private_size,
        expectation=Expectation.REJECTED,
        erratum="IS-q_core",
        witness={"others": 1, "growth": Fraction(2), "spread": _ONE, "radius": _ONE, "mixing": _ONE},
    ),
)
