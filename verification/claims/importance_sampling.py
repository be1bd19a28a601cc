"""Claims of IS: Theorem 6 and Proposition 3 against exact finite mechanisms, Propositions 16 and 17 numerically.

Legend: ε(w) is the loss at weight w, q the probability of being drawn, ψ the loss of the sampled mechanism. In the
exact claims e^ε and e^ψ are rational numbers, so that equality and order are decided without a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...accounting.amplification import proposition_3, psi, psi_add
from ...accounting.enclosures import Enclosure, Truth
from ...accounting.expressions import (
    Constant,
    Expression,
    W,
    enclose,
    exp,
    expm1,
    log1p,
    maximum,
    minimum,
    select,
    sqrt,
    variables,
)
from ...accounting.sampling.gain import elasticity_at_least_one, gains_near_one
from ...accounting.sampling.losses import PureLoss
from ...accounting.sampling.rate import SamplingRate
from ...accounting.sampling.records import Features, realise
from ...accounting.sampling.theorem_6 import add_direction, remove_direction, theorem_6
from ...plugins.contract import Case, Claim, Expectation, Finding, Proof
from ..oracles import profiles as oracles
from .enclosed import PRECISION, enclosed, enclosed_log
from .exact_logarithms import exponential, logarithm
from .finite import (
    Law,
    Mechanism,
    Sample,
    greatest_ratio,
    indistinguishability,
    loss,
    mixture,
    poisson_sampled,
    randomised_response,
    tabled,
)
from .subdivision import prove, quantity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ONE = Fraction(1)
_AGREEMENT = Fraction(1, 2**128)
"""An enclosure of e^ψ must hold the exact number and be this narrow, relatively, to be the same closed form."""


def _agrees(logarithmic: Enclosure, factor: Fraction) -> bool:
    """Whether the enclosure of a logarithm holds log(factor) and next to nothing else."""
    found = logarithmic.exp()
    return found.contains(factor) and found.width <= factor * _AGREEMENT


# Theorem 6 on the tight pair


def _profile(case: Case) -> tuple[Expression, Callable[[Fraction], Fraction]]:
    """ε(w), and the rational number e^ε(w) computed apart."""
    slope, power = case["slope"], case["power"]
    if case["family"] == "linear":  # ε(w) = w·log(1 + a): rational e^ε at whole weights
        return W * logarithm(1 + slope), lambda weight: Fraction((1 + slope) ** weight)
    return log1p(slope * W**power), lambda weight: Fraction(1 + slope * weight**power)


def _sampled_pair(factor: Fraction, rate: Fraction) -> tuple[Law, Law]:
    """Laws with and without the record, for randomised response with e^ε = factor run on a Poisson sample."""
    absent, present = randomised_response(factor)
    return mixture([(1 - rate, absent), (rate, present)]), absent


def _examine_theorem_6(case: Case) -> Finding:
    """ψ and its smaller twin equal the log-ratios of the two mixtures where the mechanism reaches its loss."""
    rate = case["rate"]
    epsilon, factor = _profile(case)
    reached = factor(1 / rate)
    with_it, without = _sampled_pair(reached, rate)
    remove, add = greatest_ratio(with_it, without), greatest_ratio(without, with_it)
    profile = theorem_6(PureLoss(epsilon), SamplingRate(Constant(rate), weighted=True))
    forms = exponential(profile.remove), exponential(profile.add)
    intervals = enclosed_log(reached), enclosed(rate)
    return Finding(
        holds=forms == (remove, add) and _agrees(psi(*intervals), remove) and _agrees(psi_add(*intervals), add),
        closed_form=f"e^ψ = {forms[0]} (remove), {forms[1]} (add); ψ = {psi(*intervals)}, {psi_add(*intervals)}",
        independent=f"largest ratios {remove} (remove), {add} (add)",
    )


def _examine_realised(case: Case) -> Finding:
    """The profile covers the binary64 probability that is drawn and the binary64 weight that is applied."""
    epsilon, factor = _profile(case)
    rate = SamplingRate(Constant(case["rate"]), weighted=True)
    drawn = realise(rate, Features(np.zeros((1, 1))))
    probability, weight = Fraction(drawn.probability[0]), Fraction(drawn.weight[0])
    with_it, without = _sampled_pair(factor(weight), probability)
    remove, add = greatest_ratio(with_it, without), greatest_ratio(without, with_it)
    profile = theorem_6(PureLoss(epsilon), rate)
    anything = Enclosure.between(-1, 1, precision=PRECISION)
    removing = profile.at({}, precision=PRECISION).exp()
    adding = enclose(profile.add, dict.fromkeys(variables(profile.add), anything), precision=PRECISION).exp()
    ends = [_at_distance(case["rate"], sign * rate.rounding, factor) for sign in (-1, 1)]
    return Finding(
        holds=removing.contains(remove)
        and adding.contains(add)
        and all(map(_reaches, (removing, adding), zip(*ends, strict=True))),
        closed_form=f"e^ψ = {removing} (remove), {adding} (add)",
        independent=f"drawn with {probability}, weight {weight}: ratios {remove} (remove), {add} (add)",
    )


def _at_distance(rate: Fraction, eta: Fraction, factor: Callable[[Fraction], Fraction]) -> tuple[Fraction, Fraction]:
    """e^ψ where probability and weight are both so far from the declared ones, relatively."""
    drawn, applied = min(_ONE, rate * (1 + eta)), factor(max(_ONE, (1 + eta) / rate))
    return 1 + drawn * (applied - 1), 1 / (1 - drawn * (1 - 1 / applied))


def _reaches(found: Enclosure, ends: tuple[Fraction, Fraction]) -> bool:
    """Whether an enclosure holds both ends and next to nothing beyond them."""
    low, high = ends
    return found.contains(low) and found.contains(high) and found.width <= high - low + high * _AGREEMENT


def _tight_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    linear = st.fixed_dictionaries(
        {
            "family": st.just("linear"),
            "slope": _slopes(),
            "power": st.just(1),
            "rate": st.integers(1, 40).map(lambda weight: Fraction(1, weight)),
        }
    )
    return linear | _logarithmic_cases(highest_power=2)


def _realised_cases() -> SearchStrategy[Case]:
    # high powers, because the profile must cover the weight's rounding beside the probability's
    return _logarithmic_cases(highest_power=60)


def _logarithmic_cases(*, highest_power: int) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    small = st.integers(1, 15).map(lambda digits: Fraction(1, 10**digits))
    rates = _rates(lowest=1) | small | st.integers(1, 18).map(lambda digits: 1 - Fraction(1, 10**digits))
    powers = st.integers(0, highest_power)
    return st.fixed_dictionaries({"family": st.just("logarithmic"), "slope": _slopes(), "power": powers, "rate": rates})


def _slopes() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(0, 8, max_denominator=9)


def _rates(*, lowest: int) -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.integers(1, 24).flatmap(lambda below: st.integers(lowest, below).map(lambda top: Fraction(top, below)))


def _examine_directions(case: Case) -> Finding:
    """Adding costs at most what removing costs, and that at most ε: for the closed forms and for the two mixtures."""
    rate, factor = case["rate"], case["factor"]
    with_it, without = _sampled_pair(factor, rate)
    direct = greatest_ratio(with_it, without), greatest_ratio(without, with_it)
    loss, drawn = logarithm(factor), Constant(rate)
    forms = exponential(remove_direction(loss, drawn)), exponential(add_direction(loss, drawn))
    return Finding(
        holds=forms == direct and forms[1] <= forms[0] <= factor,
        closed_form=f"e^ψ = {forms[0]} (remove), {forms[1]} (add), e^ε = {factor}",
        independent=f"largest ratios {direct[0]} (remove), {direct[1]} (add)",
    )


def _prove_directions() -> Proof:
    """The library's expressions in both variables; at q = 0, q = 1 and ε = 0 the sides are equal."""
    rate, loss = quantity("q"), quantity("ε")
    remove, add = remove_direction(loss, rate), add_direction(loss, rate)
    box = {rate: ("1/8", "7/8"), loss: ("1/4", "8")}
    return prove("−log(1 − q(1 − e^−ε)) ≤ log(1 + q(e^ε − 1)) ≤ ε", [remove - add, loss - remove], box)


def _direction_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"factor": st.fractions(1, 99, max_denominator=9), "rate": _rates(lowest=0)})


# Theorem 6 and Proposition 3 on arbitrary finite mechanisms


def _examine_bound(case: Case) -> Finding:
    """No record of a data set loses more than the bound, in either direction, whatever the mechanism."""
    rates: dict[int, Fraction] = dict(enumerate(case["rates"]))
    mechanism = tabled(case["scores"], case["slopes"])
    with_all = poisson_sampled(mechanism, rates, weighted=True)
    told = []
    for record, rate in rates.items():
        others = {other: q for other, q in rates.items() if other != record}
        without = poisson_sampled(mechanism, others, weighted=True)
        direct = greatest_ratio(with_all, without), greatest_ratio(without, with_all)
        remove, add = _bounds(mechanism, record, rate, {other: 1 / q for other, q in others.items() if q})
        finding = Finding(
            holds=direct[0] <= remove and direct[1] <= add <= remove,
            closed_form=f"record {record}: e^ψ ≤ {remove} (remove), {add} (add)",
            independent=f"record {record}: largest ratios {direct[0]} (remove), {direct[1]} (add)",
        )
        if not finding.holds:
            return finding
        told.append(finding)
    return Finding(True, "; ".join(f.closed_form for f in told), "; ".join(f.independent for f in told))


def _bounds(mechanism: Mechanism, record: int, rate: Fraction, others: Sample) -> tuple[Fraction, Fraction]:
    """e to the library's bounds for a record, from its exact loss beside every subset of the others."""
    if not rate:  # never drawn: there is no weight 1/q, and any loss ε gives 0
        zero, unit = enclosed(rate), enclosed(_ONE)
        return psi(unit, zero).exp().upper, psi_add(unit, zero).exp().upper
    epsilon = _exact_profile(lambda weight: loss(mechanism, record, weight, others), 1 / rate)
    profile = theorem_6(PureLoss(epsilon), SamplingRate(Constant(rate), weighted=True))
    return exponential(profile.remove), exponential(profile.add)


def _exact_profile(factor: Callable[[Fraction], Fraction], weight: Fraction) -> Expression:
    """A profile ε(W) that is the mechanism's exact loss at the weight in use, and at weight 1, which is not."""
    if weight == 1:
        return logarithm(factor(weight))
    return select(W, Constant((1 + weight) / 2), logarithm(factor(_ONE)), logarithm(factor(weight)))


def _examine_proposition_3(case: Case) -> Finding:
    """An ε-DP mechanism loses at most log(1 + p(e^ε − 1)) on a uniform unweighted sample; randomised response does."""
    rate: Fraction = case["rate"]
    mechanism = tabled(case["scores"], case["slopes"])
    records = range(len(case["slopes"]))
    without = {i: {other: rate for other in records if other != i} for i in records}
    factor = max(loss(mechanism, i, _ONE, dict.fromkeys(others, _ONE)) for i, others in without.items())
    with_all = poisson_sampled(mechanism, dict.fromkeys(records, rate), weighted=False)
    direct = max(
        indistinguishability(with_all, poisson_sampled(mechanism, others, weighted=False))
        for others in without.values()
    )
    tight = indistinguishability(*_sampled_pair(factor, rate))
    closed = proposition_3(enclosed_log(factor), enclosed(rate))
    profile = theorem_6(PureLoss(logarithm(factor)), SamplingRate(Constant(rate), weighted=False))
    bound = exponential(profile.remove)
    return Finding(
        holds=direct <= bound == tight and _agrees(closed, tight),
        closed_form=f"e^ε' = {bound}, ε' = {closed} from e^ε = {factor}",
        independent=f"largest ratio {direct}; {tight} for randomised response",
    )


def _mechanism_cases(*, uniform: bool) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_shape(shape: tuple[int, int]) -> SearchStrategy[Case]:
        records, outputs = shape
        row = st.tuples(*[st.integers(1, 9)] * outputs)
        slope = st.tuples(*[st.integers(0, 3)] * outputs)
        rates = {"rate": _rates(lowest=0)} if uniform else {"rates": st.tuples(*[_rates(lowest=0)] * records)}
        tables = {"scores": st.tuples(*[row] * 2**records), "slopes": st.tuples(*[slope] * records)}
        return st.fixed_dictionaries({**rates, **tables})

    return st.tuples(st.integers(1, 3), st.integers(2, 3)).flatmap(of_shape)


def _bound_cases() -> SearchStrategy[Case]:
    return _mechanism_cases(uniform=False)


def _uniform_cases() -> SearchStrategy[Case]:
    return _mechanism_cases(uniform=True)


# The last lines of the printed proof of Theorem 6


def _printed_bound(_epsilon: Expression, rate: Fraction) -> Expression:
    """log(1 + q(e^{1/q} − 1)), as printed: the exponent is the weight, not the loss at that weight."""
    return remove_direction(Constant(1 / rate), Constant(rate))


def _examine_printed(case: Case) -> Finding:
    """Whether the printed bound covers the tight pair; only a proven excess counts against it."""
    rate = case["rate"]
    epsilon, factor = _profile(case)
    direct = indistinguishability(*_sampled_pair(factor(1 / rate), rate))
    printed = enclose(_printed_bound(epsilon, rate), {W: enclosed(1 / rate)}, precision=PRECISION)
    return Finding(
        holds=printed.exp().less(direct) is not Truth.TRUE,
        closed_form=f"e^ψ = {printed.exp().upper_float:.12g}",
        independent=f"e^ε = {factor(1 / rate)} at weight {1 / rate}: the laws differ by a factor {direct}",
    )


def _printed_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "family": st.just("linear"),
            "slope": st.integers(0, 12).map(Fraction),
            "power": st.just(1),
            "rate": st.integers(1, 12).map(lambda weight: Fraction(1, weight)),
        }
    )


# Propositions 16 and 17


_FAMILIES: Mapping[str, Callable[[Fraction, Fraction, Fraction], Expression]] = {
    "constant": lambda a, b, p: Constant(a),
    "power": lambda a, b, p: a * W**p,
    "root": lambda a, b, p: a * sqrt(W),
    "logarithmic": lambda a, b, p: log1p(a * W**p),
    "decaying": lambda a, b, p: a + a * b / W,
    "capped": lambda a, b, p: minimum(a * W, a * b),
    "floored": lambda a, b, p: maximum(a * W, a * b),
    "quadratic": lambda a, b, p: a * W + a * b * W**2,
    "exponential": lambda a, b, p: a * expm1(b * W),
}
"""The library's side of `oracles.FORMULAS`."""

_GRID = tuple(_ONE + Fraction(step, 8) for step in range(65)) + tuple(Fraction(w) for w in (12, 16, 24, 32))
_UNDECIDABLE = Fraction(1, 2**100)


def _expression(case: Case) -> Expression:
    return _FAMILIES[case["family"]](case["a"], case["b"], case["p"])


def _examine_proposition_16(case: Case) -> Finding:
    """TRUE has a rate q < 1 with ψ_q < ε(1); FALSE has none just below 1; UNDECIDED is a tie or a kink.

    The slope dψ_{1/w}/dw at w = 1 is ε'(1) − (1 − e^{−ε(1)}), so its sign is the condition of the proposition. At a
    kink ε has no derivative and the proposition asks nothing: only a wrong TRUE counts there.
    """
    answer = gains_near_one(_expression(case))
    left, right = oracles.slopes_at_one(case["family"], case)
    kink = abs(right - left) > oracles.NEGLIGIBLE
    weight = oracles.gaining_weight(case["family"], case) if answer is Truth.TRUE else None
    match answer:
        case Truth.TRUE:
            holds = weight is not None
        case Truth.FALSE:
            holds = kink or right > -oracles.NEGLIGIBLE
        case Truth.UNDECIDED:
            holds = kink or abs(right) < _UNDECIDABLE
    found = "none found" if weight is None else f"w = {weight}"
    return Finding(
        holds=holds,
        closed_form=f"ε'(1) < 1 − e^(−ε(1)) is {answer.value} for ε(w) = {_expression(case)}",
        independent=f"slope of ψ at w = 1: {float(right):.6g}; weight with a smaller loss: {found}",
    )


def _prove_gain() -> Proof:
    """For ε(w) = a√w the slope at 1 is a/2, below 1 − e^−a up to a = 1.59…: weights a little above 1 lose less."""
    scale = quantity("a")
    sampled = remove_direction(scale * sqrt(W), 1 / W)
    box = {scale: ("1/2", "5/4"), W: ("65/64", "5/4")}
    return prove("log(1 + (e^{ε(w)} − 1)/w) ≤ ε(1) for ε(w) = a√w", scale - sampled, box)


def _prove_inequality_of_17() -> Proof:
    """What the slope of (e^{ε(w)} − 1)/w comes down to where ε(w) ≤ w·ε'(w)."""
    loss = quantity("z")
    return prove("e^z(z − 1) + 1 ≥ 0", exp(loss) * (loss - 1) + 1, {loss: (0, 100)})


def _examine_proposition_17(case: Case) -> Finding:
    """Where ε(w) ≤ w·ε'(w) is proven, no rate gains; the paper's example f·w^p, p ≥ 1, is proven."""
    proven = elasticity_at_least_one(_expression(case))
    example = case["family"] == "power" and case["p"] >= 1
    weight = oracles.gaining_among(case["family"], case, (*_GRID, *case["weights"])) if proven else None
    found = "none" if weight is None else f"w = {weight}"
    return Finding(
        holds=weight is None and (proven or not example),
        closed_form=f"ε(w) ≤ w·ε'(w) is {'proven' if proven else 'not proven'} for ε(w) = {_expression(case)}",
        independent=f"weight with a loss below ε(1): {found}" if proven else "not asked",
    )


def _examine_proof_of_17(case: Case) -> Finding:
    """The step of the printed proof at a loss z; the conclusion needs e^z(z − 1) + 1 ≥ 0 alone."""
    z: Fraction = case["z"]
    left = enclosed(z).exp() * (z - 1) + 1
    return Finding(
        holds=left.less(z**2) is not Truth.TRUE,
        closed_form=f"e^z(z − 1) + 1 ≥ z² = {z**2}",
        independent=f"e^z(z − 1) + 1 = {left.upper_float:.12g} at z = {z}",
    )


def _loss_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"z": st.fractions(0, 4, max_denominator=16)})


def _profile_cases(families: Iterable[str], exponents: tuple[Fraction, Fraction]) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "family": st.sampled_from(sorted(families)),
            "a": st.fractions(0, 4, max_denominator=16),
            "b": st.fractions(0, 3, max_denominator=8),
            "p": st.fractions(*exponents, max_denominator=6),
            "weights": st.lists(st.fractions(1, 32, max_denominator=1000), max_size=4).map(tuple),
        }
    )


def _concave_cases() -> SearchStrategy[Case]:
    return _profile_cases(_FAMILIES, (Fraction(1, 6), Fraction(3, 2)))


def _elastic_cases() -> SearchStrategy[Case]:
    return _profile_cases(_FAMILIES.keys(), (Fraction(1, 2), Fraction(3)))


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="is/theorem-6",
        statement="IS Theorem 6",
        says="ψ = log(1 + q(e^{ε(1/q)} − 1)), and its smaller twin for adding, are exact for randomised response",
        cases=_tight_cases,
        examine=_examine_theorem_6,
    ),
    Claim(
        id="is/theorem-6-directions",
        statement="IS Theorem 6",
        says="adding a record costs at most what removing it costs, which is at most ε",
        cases=_direction_cases,
        examine=_examine_directions,
        prove=_prove_directions,
    ),
    Claim(
        id="is/theorem-6-bound",
        statement="IS Theorem 6",
        says="no finite mechanism on a Poisson importance sample loses more than ψ about a record",
        cases=_bound_cases,
        examine=_examine_bound,
    ),
    Claim(
        id="is/theorem-6-realised",
        statement="IS Theorem 6",
        says="the profile covers the binary64 probability drawn and weight applied, and no more than η around each",
        cases=_realised_cases,
        examine=_examine_realised,
    ),
    Claim(
        id="is/theorem-6-proof-printed",
        statement="IS Theorem 6, last lines of the proof",
        says="as printed, with e^{1/q} in place of e^{ε(1/q)}",
        cases=_printed_cases,
        examine=_examine_printed,
        expectation=Expectation.REJECTED,
        erratum="IS-T6-proof",
        witness={"family": "linear", "slope": Fraction(2), "power": 1, "rate": Fraction(1)},
    ),
    Claim(
        id="is/proposition-3",
        statement="IS Proposition 3",
        says="uniform unweighted Poisson sampling turns ε-DP into log(1 + p(e^ε − 1))-DP",
        cases=_uniform_cases,
        examine=_examine_proposition_3,
    ),
    Claim(
        id="is/proposition-16",
        statement="IS Proposition 16",
        says="where ε'(1) < 1 − e^{−ε(1)} some weighted sampling loses less than ε(1)",
        cases=_concave_cases,
        examine=_examine_proposition_16,
        prove=_prove_gain,
    ),
    Claim(
        id="is/proposition-17",
        statement="IS Proposition 17",
        says="where ε(w) ≤ w·ε'(w) for all w ≥ 1 no weighted sampling loses less than ε(1)",
        cases=_elastic_cases,
        examine=_examine_proposition_17,
        prove=_prove_inequality_of_17,
    ),
    Claim(
        id="is/proposition-17-proof-printed",
        statement="IS Proposition 17, proof",
        says="e^z(z − 1) + 1 ≥ (z + 1)(z − 1) + 1 = z² for every loss z ≥ 0",
        cases=_loss_cases,
        examine=_examine_proof_of_17,
        expectation=Expectation.REJECTED,
        erratum="IS-P17-proof",
        witness={"z": Fraction(1, 2)},
    ),
)
