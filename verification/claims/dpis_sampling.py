"""Claims of DPIS on its estimator and its sampler: Sections 3.2, 3.4 and 3.5, by exact enumeration of small data.

Gradients are vectors in the plane with rational lengths. Each independent side enumerates the batches with their
probabilities, by DPIS Equation 8, or integrates the densities of what is released. The negative controls are the
printed statements that errata of DPIS correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from attrs import frozen

from ...accounting.dpis.steps import Step, sampled_sum_renyi
from ...accounting.enclosures import Enclosure, Truth
from ...accounting.exact import Floats
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.clipping import Outside, confine
from ...accounting.sampling.domains import NormBall
from ...accounting.units import Order, Probability
from ...mechanisms.dpis_step import DpisStep
from ...plugins.contract import Case, Claim, Coins, Expectation, Finding, WeightedSample
from ..oracles.dpis_estimator import best_probabilities, sampling_term, second_moment, stale_bound, two_stage_rate
from ..oracles.renyi import AGREEMENT, NOISE, mixture_divergence
from .dpis import step_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PRECISION = 128
_NEARLY = 1 - Fraction(1, 2**40)
_ONE = Fraction(1)
_CLIP = Fraction(3)
"""The largest norm of a case: gradients of this norm are stretched, and clipped again by the mechanism."""
_STRETCH = Fraction(5, 2)
_FAINT = Fraction(1, 2**30)
_ROUNDING = Fraction(1, 2**40)
_DIRECTIONS = tuple(
    (Fraction(x, length), Fraction(y, length))
    for x, y, length in ((1, 0, 1), (0, 1, 1), (3, 4, 5), (-3, 4, 5), (-5, -12, 13), (8, -15, 17), (-1, 0, 1))
)

Vector: TypeAlias = tuple[Fraction, Fraction]
_ZERO: Vector = (Fraction(0), Fraction(0))


def _gradients(case: Case) -> list[Vector]:
    return [(x * length, y * length) for length, (x, y) in zip(case["norms"], case["directions"], strict=True)]


def _inner(one: Vector, other: Vector) -> Fraction:
    return one[0] * other[0] + one[1] * other[1]


def _sum(vectors: Sequence[Vector]) -> Vector:
    return sum((v[0] for v in vectors), Fraction()), sum((v[1] for v in vectors), Fraction())


def _scaled(vector: Vector, factor: Fraction) -> Vector:
    return vector[0] * factor, vector[1] * factor


def _formatted(vector: Vector) -> str:
    return f"({vector[0]}, {vector[1]})"


def _batches(rates: Sequence[Fraction]) -> Iterator[tuple[Fraction, list[int]]]:
    """Every batch with its probability (DPIS Equation 8)."""
    for drawn in product((False, True), repeat=len(rates)):
        probability = Fraction(1)
        for inside, rate in zip(drawn, rates, strict=True):
            probability *= rate if inside else 1 - rate
        yield probability, [i for i, inside in enumerate(drawn) if inside]


def _estimates(case: Case, probabilities: Sequence[Fraction], batch: Fraction) -> Iterator[tuple[Fraction, Vector]]:
    """g̃ without its noise for every batch, with the batch's probability (DPIS Equation 7)."""
    gradients = _gradients(case)
    for probability, drawn in _batches([batch * p for p in probabilities]):
        added = [_scaled(gradients[i], 1 / (len(gradients) * probabilities[i])) for i in drawn]
        yield probability, _scaled(_sum(added), 1 / batch)


def _probabilities(case: Case) -> list[Fraction]:
    total = sum(case["weights"], Fraction())
    return [weight / total for weight in case["weights"]]


def _batch(case: Case, probabilities: Sequence[Fraction]) -> Fraction:
    """As large a share of the largest admissible batch as the case says."""
    return Fraction(case["share"]) / max(probabilities)


# Section 3.2


def _examine_equation_7(case: Case) -> Finding:
    """E[g̃] is the mean of the clipped gradients: for the formula exactly, and for what the mechanism releases."""
    probabilities = _probabilities(case)
    batch = _batch(case, probabilities)
    mean = _scaled(_sum(_gradients(case)), Fraction(1, len(case["norms"])))
    found = _sum([_scaled(v, p) for p, v in _estimates(case, probabilities, batch)])
    gradients = [
        _scaled(v, _STRETCH if norm == _CLIP else _ONE) for norm, v in zip(case["norms"], _gradients(case), strict=True)
    ]
    released = np.zeros(2)
    for probability, drawn in _batches([batch * p for p in probabilities]):
        if drawn:
            weights = [1 / (batch * probabilities[i]) for i in drawn]
            released += float(probability) * _released([gradients[i] for i in drawn], weights, batch, len(gradients))
    return Finding(
        holds=found == mean and all(abs(Fraction(a) - b) <= _ROUNDING for a, b in zip(released, mean, strict=True)),
        closed_form=f"mean of the clipped gradients {_formatted(mean)}",
        independent=f"over all batches {_formatted(found)}; as released {tuple(map(float, released))}",
    )


def _released(gradients: Sequence[Vector], weights: Sequence[Fraction], batch: Fraction, size: int) -> Floats:
    """What a step of the mechanism adds to its noise: two releases with the same coins, one of them of nothing."""
    step = DpisStep(
        noise_multiplier=Public(_FAINT), clip=Public(_CLIP), size=Public(Fraction(size)), batch=Public(batch)
    )
    records = np.array([[float(entry) for entry in gradient] for gradient in gradients])
    applied = np.maximum(1.0, [float(weight) for weight in weights])
    samples = WeightedSample(records, applied), WeightedSample(np.zeros_like(records), applied)
    with_them, without = (step.release(sample, Coins.seeded(0)) for sample in samples)
    return np.asarray(with_them - without)


def _examine_line_26(case: Case) -> Finding:
    """As printed: (1/b)·Σ g/(Ñ·q·p), where q·p is b·p_i already."""
    probabilities = _probabilities(case)
    batch = _batch(case, probabilities)
    gradients = _gradients(case)
    mean = _scaled(_sum(gradients), Fraction(1, len(gradients)))
    found = _ZERO
    for probability, drawn in _batches([batch * p for p in probabilities]):
        added = [_scaled(gradients[i], 1 / (len(gradients) * batch * probabilities[i])) for i in drawn]
        found = _sum([found, _scaled(_sum(added), probability / batch)])
    return Finding(
        holds=found == mean,
        closed_form=f"the mean of the clipped gradients, {_formatted(mean)}",
        independent=f"on average over all batches {_formatted(found)}",
    )


def _examine_second_moment(case: Case) -> Finding:
    """E‖g̃‖² with a noise of variance v in each of two coordinates, which is independent and has mean 0."""
    probabilities, gradients = _probabilities(case), _gradients(case)
    batch = _batch(case, probabilities)
    gram = [[_inner(one, other) for other in gradients] for one in gradients]
    found = second_moment(gram, probabilities, batch=batch, noise=2 * case["variance"])
    squares = (p * _inner(v, v) for p, v in _estimates(case, probabilities, batch))
    direct = sum(squares, Fraction()) + 2 * case["variance"] / batch**2
    return Finding(holds=found == direct, closed_form=f"{found}", independent=f"over all batches {direct}")


def _examine_best_probabilities(case: Case) -> Finding:
    """No other probabilities have a smaller sampling term than those in proportion to the norms."""
    norms, batch = case["norms"], Fraction(1)
    squares, total = [norm**2 for norm in norms], sum(norms, Fraction())
    best = sampling_term(squares, best_probabilities(norms), batch=batch)
    other = sampling_term(squares, _probabilities(case), batch=batch)
    direct = total**2 / (batch * len(norms) ** 2)
    term = sum((square / p for square, p in zip(squares, _probabilities(case), strict=True)), Fraction(0))
    same = _probabilities(case) == best_probabilities(norms)
    return Finding(
        holds=best == direct
        and other == term / (batch * len(norms) ** 2)
        and (best < other or (same and best == other)),
        closed_form=f"{best} at p = ‖ḡ‖/K",
        independent=f"K²/(bN²) = {direct}, and {other} at p = {[str(p) for p in _probabilities(case)]}",
    )


# Section 3.4


@frozen
class _Drawn:
    """One record in one step: how likely it enters, and how far it then moves the sum."""

    rate: Fraction
    moved: Fraction


_Sampler: TypeAlias = Callable[[Case, Step], _Drawn]


def _two_stage(case: Case, step: Step) -> _Drawn:
    """The corrected sampler: ĝ is capped at C, and an accepted record adds (K̃/Ñ)·g/‖g‖."""
    norm = case["norm"] * step.clip
    bound = _bound(case, step, capped=True)
    proposed = step.batch * bound / step.norm_sum
    accepted = min(norm, bound) / bound
    return _Drawn(proposed * accepted, step.norm_sum / step.size if norm else Fraction(0))


def _saturated(case: Case, step: Step) -> _Drawn:
    """As printed: ĝ is not capped, q is cut at 1, and the gradient, clipped to min(ĝ, C), is divided by Ñ·q·p."""
    bound = _bound(case, step, capped=False)
    clipped = min(case["norm"] * step.clip, bound, step.clip)
    proposed, accepted = min(step.batch * bound / step.norm_sum, Fraction(1)), clipped / bound
    rate = proposed * accepted
    return _Drawn(rate, step.batch * clipped / (step.size * rate) if rate else Fraction(0))


def _unclipped(case: Case, step: Step) -> _Drawn:
    """A variant without the clip to ĝ: p is cut at 1, the gradient is clipped to C alone and divided by Ñ·q·p."""
    bound = _bound(case, step, capped=True)
    clipped = min(case["norm"] * step.clip, step.clip)
    rate = step.batch * bound / step.norm_sum * min(clipped / bound, Fraction(1))
    return _Drawn(rate, step.batch * clipped / (step.size * rate) if rate else Fraction(0))


def _bound(case: Case, step: Step, *, capped: bool) -> Fraction:
    """ĝ by its definition, k·max(stale norm, g_L), and with the cap at C."""
    bound = case["multiplier"] * max(case["stale"], case["floor"]) * step.clip
    return min(bound, step.clip) if capped else Fraction(bound)


def _examine_equation_15(case: Case) -> Finding:
    """Both coins together have the rate b·min(‖g‖, ĝ, C)/K̃."""
    step = step_of(case)
    bound = stale_bound(
        case["stale"] * step.clip, multiplier=case["multiplier"], floor=case["floor"] * step.clip, clip=step.clip
    )
    found = two_stage_rate(case["norm"] * step.clip, bound, batch=step.batch, norm_sum=step.norm_sum)
    drawn = _two_stage(case, step)
    return Finding(
        holds=found == drawn.rate <= step.rate,
        closed_form=f"rate {found}, at most {step.rate}",
        independent=f"the product of both coins {drawn.rate}",
    )


def _examine_printed_equation_15(case: Case) -> Finding:
    """As printed: b‖ḡ‖/K̃, whatever the stale norm."""
    step = step_of(case)
    found, drawn = step.record_rate(case["norm"] * step.clip), _two_stage(case, step)
    return Finding(
        holds=found == drawn.rate,
        closed_form=f"rate {found}",
        independent=f"the product of both coins {drawn.rate}, ĝ = {_bound(case, step, capped=True)}",
    )


def _costing(sampler: _Sampler) -> Callable[[Case], Finding]:
    """What a record's presence costs, against Lemma 3.1."""

    def examine(case: Case) -> Finding:
        step, order = step_of(case), Order(case["order"])
        drawn = sampler(case, step)
        claimed = step.renyi(order, precision=_PRECISION)
        deviation = step.noise_multiplier * step.clip
        integral = mixture_divergence(drawn.rate, drawn.moved, deviation, order.value)
        return Finding(
            holds=integral <= claimed.upper * (1 + AGREEMENT) + NOISE,
            closed_form=f"τ ≤ {claimed}",
            independent=f"integral of the densities: {float(integral):.16g}, at rate {drawn.rate}, moved {drawn.moved}",
        )

    return examine


# Section 3.5 and the releases of Ñ and K̃*


_Claimed: TypeAlias = Callable[[Case, Order], Enclosure]


def _full(case: Case, order: Order) -> Enclosure:
    return sampled_sum_renyi(Probability(1), case["noise_multiplier"], order, precision=_PRECISION)


def _subsampled(case: Case, order: Order) -> Enclosure:
    """Equation 19 as printed for K̃*: a sampled Gaussian at rate b/Ñ."""
    rate = Probability(case["batch"] / case["size"])
    return sampled_sum_renyi(rate, case["noise_multiplier"], order, precision=_PRECISION)


def _examine_clip_release(case: Case, claimed: _Claimed, variances: int) -> Finding:
    """K̃* sums over all records: one of norm C* or more moves it by C*; noise of that many variances is added."""
    order = Order(case["order"])
    found = claimed(case, order)
    external = case["clip"]
    variance = variances * (case["noise_multiplier"] * external) ** 2
    exact = order.value * external**2 / (2 * variance)
    return Finding(
        holds=found.contains(exact),
        closed_form=f"τ = {found.upper_float:.12g}",
        independent=f"α·Δ²/(2·variance) = {float(exact):.16g}",
    )


def _examine_private_deviation(case: Case) -> Finding:
    """σ_N = 0.02·N, with the private N: neighbours have different variances; costed as α/(2σ_N²).

    D_α(N(m₁, v₁)‖N(m₂, v₂)) = α(m₁ − m₂)²/(2v) + log(v/(v₁^{1−α}·v₂^α))/(2(1 − α)) for v = αv₂ + (1 − α)v₁, infinite
    where v ≤ 0 (Gil, Alajaji, Linder 2013, Table 2).
    """
    records, order = case["records"], case["order"]
    claimed = Enclosure.of(order / (2 * (records / 50) ** 2), precision=_PRECISION)
    one, other = ((Fraction(number) / 50) ** 2 for number in (records + 1, records))
    mixed = order * other + (1 - order) * one
    if mixed <= 0:
        return Finding(holds=False, closed_form=f"τ = {claimed.upper_float:.12g}", independent="infinite")
    logarithm = _log(mixed) - _log(one) * (1 - order) - _log(other) * order
    exact = logarithm / (2 * (1 - order)) + order / (2 * mixed)
    return Finding(
        holds=exact.greater(claimed) is not Truth.TRUE,
        closed_form=f"τ = {claimed.upper_float:.12g}",
        independent=f"D = {exact.lower_float:.12g}",
    )


def _log(value: Fraction) -> Enclosure:
    return Enclosure.of(value, precision=_PRECISION).log()


# Cases


def _data_cases() -> SearchStrategy[Case]:
    """1 to 4 records, none with probability 0."""
    from hypothesis import strategies as st

    def of_size(count: int) -> SearchStrategy[Case]:
        return st.fixed_dictionaries(
            {
                "norms": st.lists(st.fractions(0, 3, max_denominator=6), min_size=count, max_size=count).filter(any),
                "directions": st.lists(st.sampled_from(_DIRECTIONS), min_size=count, max_size=count),
                "weights": st.lists(st.fractions(Fraction(1, 9), 9, max_denominator=9), min_size=count, max_size=count),
                "share": st.fractions(Fraction(1, 20), 1, max_denominator=20),
                "variance": st.fractions(0, 4, max_denominator=4),
            }
        )

    return st.integers(1, 4).flatmap(of_size)


def _record_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def named(case: Case) -> Case:
        batch, further = case["sizes"]
        rest = {name: value for name, value in case.items() if name != "sizes"}
        return {"batch": Fraction(batch), "size": Fraction(batch + further), **rest}

    return st.fixed_dictionaries(
        {
            "sizes": st.tuples(st.integers(1, 200), st.integers(1, 5000)),
            "clip": st.fractions(Fraction(1, 10), 10, max_denominator=10),
            "noise_multiplier": st.fractions(Fraction(1, 2), 8, max_denominator=10),
            "share": st.fractions(0, 1, max_denominator=100),
            "norm": st.fractions(0, 2, max_denominator=50),
            "stale": st.fractions(0, 2, max_denominator=50),
            "floor": st.fractions(Fraction(1, 100), Fraction(1, 5), max_denominator=100),
            "multiplier": st.integers(1, 6).map(Fraction),
            "order": st.fractions(Fraction(17, 16), 4, max_denominator=16),
        }
    ).map(named)


def _saturated_cases() -> SearchStrategy[Case]:
    """K̃ close to its lower end, stale norms far from C; few cases, because shrinking a witness integrates often."""
    from hypothesis import strategies as st

    near, large = st.integers(0, 4).map(lambda n: Fraction(n, 200)), st.integers(2, 8).map(lambda n: Fraction(n, 4))
    return st.fixed_dictionaries(
        {
            "batch": st.just(Fraction(100)),
            "size": st.integers(2, 50).map(lambda times: Fraction(100 * times)),
            "clip": st.just(Fraction(1)),
            "noise_multiplier": st.integers(1, 4).map(Fraction),
            "share": near,
            "norm": large,
            "stale": st.integers(0, 8).map(lambda n: Fraction(n, 4)),
            "floor": st.just(Fraction(1, 100)),
            "multiplier": st.integers(2, 6).map(Fraction),
            "order": st.integers(2, 4).map(Fraction),
        }
    )


def _size_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"records": st.integers(10, 10**5).map(Fraction), "order": st.fractions(2, 30, max_denominator=4)}
    )


# Equation 4


def _examine_equation_4(case: Case) -> Finding:
    """ḡ = g/max(1, ‖g‖/C) in rational numbers of its square: never longer than C, not shorter by more than 2^-40."""
    gradient, clip = case["gradient"], case["clip"]
    domain = NormBall(norm=Norm.L2, radius=Public(clip), dimension=len(gradient))
    (clipped,), _ = confine(np.array([gradient]), domain, Outside.CLIP)
    before, after = ([Fraction(entry) for entry in vector] for vector in (gradient, clipped))
    length, bound = (sum((entry**2 for entry in vector), Fraction(0)) for vector in (before, after))
    least = min(clip**2, length) * _NEARLY
    along = sum((a * b for a, b in zip(before, after, strict=True)), Fraction(0))
    parallel = along**2 >= length * bound * _NEARLY and along >= 0
    return Finding(
        holds=least <= bound <= min(clip**2, length) and parallel and (length > clip**2 or before == after),
        closed_form=f"‖ḡ‖² = {float(bound):.17g}, C² = {float(clip**2):.17g}",
        independent=f"‖g‖² = {float(length):.17g}, gᵀḡ = {float(along):.17g}",
    )


def _gradient_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    entries = st.floats(-1e6, 1e6, allow_nan=False)
    clips = st.integers(1, 4000).map(lambda n: Fraction(n, 20))
    return st.fixed_dictionaries({"gradient": st.lists(entries, min_size=1, max_size=6), "clip": clips})


_HALF_OF_TWO: Case = {
    "batch": Fraction(1),
    "size": Fraction(2),
    "clip": Fraction(1),
    "noise_multiplier": Fraction(1),
    "share": Fraction(0),
}
_HALF_OF_200 = {**_HALF_OF_TWO, "batch": Fraction(100), "size": Fraction(200)}

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="dpis/equation-7",
        statement="DPIS Equations 7 and 8",
        says="the estimator is the mean of the clipped gradients on average, for all probabilities",
        cases=_data_cases,
        examine=_examine_equation_7,
    ),
    Claim(
        id="dpis/line-26-printed",
        statement="DPIS Algorithm 1, line 26, as printed",
        says="(1/b)·Σ g/(Ñ·q·p) is the mean of the clipped gradients on average",
        cases=_data_cases,
        examine=_examine_line_26,
        expectation=Expectation.REJECTED,
        erratum="DPIS-line26",
        witness={
            "norms": [Fraction(1)],
            "directions": [(Fraction(1), Fraction(0))],
            "weights": [Fraction(1)],
            "share": Fraction(1, 2),
        },
    ),
    Claim(
        id="dpis/second-moment",
        statement="DPIS Section 3.2, E‖g̃‖²",
        says="E‖g̃‖² = E‖Z‖²/b² + Σ‖ḡ‖²/p/(bN²) + Σ_{i≠j} ḡᵀḡ/N²",
        cases=_data_cases,
        examine=_examine_second_moment,
    ),
    Claim(
        id="dpis/equation-9",
        statement="DPIS Equation 9",
        says="the sampling term is least, and K²/(bN²), at probabilities in proportion to the norms",
        cases=_data_cases,
        examine=_examine_best_probabilities,
    ),
    Claim(
        id="dpis/equation-15",
        statement="DPIS Equation 15, corrected",
        says="two-stage rejection draws a record with probability b·min(‖g‖, ĝ, C)/K̃",
        cases=_record_cases,
        examine=_examine_equation_15,
    ),
    Claim(
        id="dpis/equation-15-printed",
        statement="DPIS Equation 15, as printed",
        says="two-stage rejection draws a record with probability b‖ḡ‖/K̃, whatever the stale norm",
        cases=_record_cases,
        examine=_examine_printed_equation_15,
        expectation=Expectation.REJECTED,
        erratum="DPIS-stale",
        witness={
            **_HALF_OF_TWO,
            "norm": Fraction(1),
            "stale": Fraction(1, 10),
            "floor": Fraction(1, 100),
            "multiplier": Fraction(5),
        },
    ),
    Claim(
        id="dpis/two-stage-cost",
        statement="DPIS Section 3.4, corrected",
        says="a record costs no more than Lemma 3.1 says, whatever its stale norm, where ĝ ≤ C and (K̃/Ñ)g/‖g‖ is added",
        cases=_record_cases,
        examine=_costing(_two_stage),
    ),
    Claim(
        id="dpis/saturation-printed",
        statement="DPIS Section 3.4, step 2, as printed",
        says="a record costs no more than Lemma 3.1 says where q = min(bĝ/K̃, 1) and ĝ is not capped",
        cases=_saturated_cases,
        examine=_costing(_saturated),
        expectation=Expectation.REJECTED,
        erratum="DPIS-saturation",
        witness={
            **_HALF_OF_200,
            "norm": Fraction(1, 2),
            "stale": Fraction(1, 2),
            "floor": Fraction(1, 100),
            "multiplier": Fraction(5),
            "order": Fraction(3),
        },
    ),
    Claim(
        id="dpis/unclipped-stale",
        statement="DPIS Section 3.4, step 3, without the clip to ĝ",
        says="a record costs no more than Lemma 3.1 says where gradients are clipped to C alone",
        cases=_saturated_cases,
        examine=_costing(_unclipped),
        expectation=Expectation.REJECTED,
        erratum="DPIS-stale",
        witness={
            **_HALF_OF_200,
            "norm": Fraction(1, 2),
            "stale": Fraction(0),
            "floor": Fraction(1, 100),
            "multiplier": Fraction(2),
            "order": Fraction(2),
        },
    ),
    Claim(
        id="dpis/equation-16",
        statement="DPIS Equation 16, corrected",
        says="K̃*, a sum over all records with noise added once, costs α/(2σ_K²)",
        cases=_record_cases,
        examine=lambda case: _examine_clip_release(case, _full, 1),
    ),
    Claim(
        id="dpis/equation-16-printed",
        statement="DPIS Algorithm 1, line 28, and Equation 16, as printed",
        says="K̃* costs α/(2σ_K²) where noise is added in line 28 and in Equation 16",
        cases=_record_cases,
        examine=lambda case: _examine_clip_release(case, _full, 2),
        expectation=Expectation.REJECTED,
        erratum="DPIS-Eq16",
        witness={
            **_HALF_OF_TWO,
            "order": Fraction(2),
        },
    ),
    Claim(
        id="dpis/section-3.5-printed",
        statement="DPIS Section 3.5 and Equation 19, as printed",
        says="K̃* costs a sampled Gaussian at rate b/Ñ where it sums over all records, as in line 28",
        cases=_record_cases,
        examine=lambda case: _examine_clip_release(case, _subsampled, 1),
        expectation=Expectation.REJECTED,
        erratum="DPIS-3.5",
        witness={
            **_HALF_OF_TWO,
            "order": Fraction(2),
        },
    ),
    Claim(
        id="dpis/private-deviation",
        statement="DPIS Table 2 and Section 5.3, σ_N = 0.02·N",
        says="Ñ costs α/(2σ_N²) where σ_N is a share of the private N",
        cases=_size_cases,
        examine=_examine_private_deviation,
        expectation=Expectation.REJECTED,
        erratum="DPIS-private N",
        witness={"records": Fraction(10), "order": Fraction(2)},
    ),
    Claim(
        id="dpis/equation-4",
        statement="DPIS Equation 4",
        says="clipping gives g/max(1, ‖g‖₂/C), never longer than C",
        cases=_gradient_cases,
        examine=_examine_equation_4,
    ),
)
