"""What samplers really do with records in binary64, against the declared probabilities in Arb."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.errors import InvalidType, OutsideDomain, Undecided
from certdp.accounting.expressions import ONE, Expression, W, expm1, log1p, maximum, minimum, norm, select, sqrt
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.losses import PureLoss
from certdp.accounting.sampling.rate import ALWAYS, SamplingRate, norm_roundings
from certdp.accounting.sampling.records import Features, Realisation, psi_upper, realise
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

SETTINGS = examples(150)
SMALLEST = Fraction(1, 2**960)
ENTRIES = st.one_of(
    st.floats(-10, 10),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -1e-310, 1e-300, 2.0**-960, 1e-150, 1e150, 1e308]),
)
ROWS = st.integers(1, 4).flatmap(lambda d: st.lists(ENTRIES, min_size=d, max_size=d))
NORMS = (Norm.L1, Norm.L2, Norm.LINF, Norm("3/2"), Norm(3))
PROBABILITIES = st.fractions(0, 1) | st.floats(0, 1) | st.integers(1, 1080).map(lambda n: Fraction(1, 3 * 2**n))
POSITIVE = st.floats(1e-320, 1e300) | st.floats(1e-3, 10)


def norm_of(row: list[float], order: Norm) -> flint.arb:
    sizes = [abs(Fraction(x)) for x in row]
    match order:
        case Norm.L1:
            return arb_of(sum(sizes))
        case Norm.L2:
            return arb_of(sum(x * x for x in sizes)).sqrt()
        case Norm.LINF:
            return arb_of(max(sizes))
        case _:
            return power_norm_of([size for size in sizes if size], order)


def power_norm_of(sizes: list[Fraction], order: Norm) -> flint.arb:
    if not sizes:
        return arb_of(0)
    largest = max(sizes)
    total = sum((arb_of(size / largest) ** (1 / arb_of(order.reciprocal)) for size in sizes), arb_of(0))
    return arb_of(largest) * total ** arb_of(order.reciprocal)


def features(*rows: list[float]) -> Features:
    return Features(np.array(rows, dtype=np.float64))


def psi(epsilon: flint.arb, q: flint.arb) -> flint.arb:
    """log(1 + q(e^ε − 1)) without overflow."""
    if epsilon < 700:
        return (q * epsilon.expm1()).log1p()
    return epsilon + (q + (1 - q) * (-epsilon).exp()).log()


@pytest.fixture(autouse=True, scope="module")
def _precision(bits: Any) -> Any:
    with bits(2500):
        yield


def check(rate: SamplingRate, q: flint.arb, found: Realisation) -> None:
    """The first row of `found` against the declared probability q."""
    probability, weight = Fraction(float(found.probability[0])), float(found.weight[0])
    eta = arb_of(rate.rounding)
    if probability == 0:
        assert weight == np.inf
        assert q <= arb_of(SMALLEST) * (1 + eta)
        return
    assert probability >= SMALLEST
    assert probability <= 1
    assert abs(arb_of(probability) - q) <= eta * q
    if rate.weighted:
        assert weight >= 1
        assert abs(arb_of(weight) - 1 / q) <= eta / q
    else:
        assert weight == 1


@pytest.mark.slow
@SETTINGS
@given(row=ROWS, slope=POSITIVE, floor=st.sampled_from([0.0, 0.0, 1e-5, 0.3, 1.0]), order=st.sampled_from(NORMS))
@example([1e-310, 1.3e-310], 1e270, 0.0, Norm.L2)  # a norm whose own rounding is as large as its last place
@example([3e-320, 5e-320], 1e270, 0.0, Norm.L2)
@example([0.0, 0.0], 1.0, 0.0, Norm.L1)
@example([2.0**-960], 1.0, 0.0, Norm.L1)
@example([1e308, 1e308], 1e-308, 0.0, Norm.L1)
def test_importance_draws_what_it_declares(row: list[float], slope: float, floor: float, order: Norm) -> None:
    rate = Importance(rate=Public(slope), norm=Public(order), floor=Public(floor)).rate
    q = (arb_of(slope) * norm_of(row, order)).max(arb_of(floor)).min(arb_of(1))
    check(rate, q, realise(rate, features(row)))


@SETTINGS
@given(q=PROBABILITIES, weighted=st.booleans())
@example(5e-324, True)
@example(Fraction(1, 3), True)
@example(Fraction(1, 49), True)
def test_poisson_draws_what_it_declares(q: Any, weighted: bool) -> None:
    rate = Poisson(rate=Public(q), weighted=Public(weighted)).rate
    check(rate, arb_of(q), realise(rate, features([1.0])))


def test_exact_rates_have_no_rounding() -> None:
    for exact in (0, 1, 0.5, 0.75):
        assert Poisson(rate=Public(exact)).rate.rounding == 0
    assert Poisson(rate=Public(0.5), weighted=Public(True)).rate.rounding == 0
    assert Poisson(rate=Public(0.75), weighted=Public(True)).rate.rounding > 0  # 4/3 is not dyadic
    assert Poisson(rate=Public("0.1")).rate.rounding > 0
    assert Poisson(rate=Public(5e-324), weighted=Public(True)).rate.rounding > 0  # its weight exceeds binary64


def test_the_declared_rounding_of_norms_covers_that_of_the_kernels() -> None:
    u = Fraction(1, 2**53)
    for p in (*NORMS, Norm("1.0001"), Norm("inf"), Norm(10**9)):
        assert (1 - u) ** -norm_roundings(p) >= 1 + bulk.norm_relative_error(p)
    assert [norm_roundings(p) for p in NORMS[:3]] == [6, 6, 6]


CANCELLING = SamplingRate(minimum(1, maximum(0, norm(2) - 1)), weighted=True)


@pytest.mark.parametrize("exponent", [10, 30, 45, 49, 60, 200, 400, 500])
def test_cancellation_in_a_rate_is_resolved(exponent: int) -> None:
    row = [1.0, 2.0**-exponent]
    check(CANCELLING, norm_of(row, Norm.L2) - 1, realise(CANCELLING, features(row)))


def test_what_no_precision_resolves_is_refused() -> None:
    on_the_jump = SamplingRate(select(norm(2) * norm(2), ONE * 2, ONE, ONE / 2), weighted=True)
    assert realise(on_the_jump, features([1.0, 0.5])).probability.tolist() == [1.0]
    with pytest.raises(Undecided, match="row 1 is undecided at 3072 bits"):
        realise(on_the_jump, features([2.0, 0.5], [1.0, 1.0]))


def test_a_record_outside_the_domain_of_a_rate_is_refused() -> None:
    rate = SamplingRate(minimum(1, norm(1) / (2 * norm(2))), weighted=False)
    assert realise(rate, features([3.0, 4.0])).probability.tolist() == [0.7]
    with pytest.raises(OutsideDomain, match="division"):
        realise(rate, features([0.0, 0.0]))


@SETTINGS
@given(slopes=st.lists(st.fractions(Fraction(1, 50), 1, max_denominator=60), min_size=1, max_size=4), row=ROWS)
def test_rounding_never_lifts_a_probability_above_one(slopes: list[Fraction], row: list[float]) -> None:
    """Capped factors and the constant that brings their product back to 1, each rounded."""
    root: Expression = ONE
    for slope in slopes:
        root = root * (minimum(norm(1), 1 / slope) * slope)
    rate = SamplingRate(root, weighted=True)
    found = realise(rate, features(row))
    size = norm_of(row, Norm.L1)
    q = arb_of(1)
    for slope in slopes:
        q = q * size.min(arb_of(1 / slope)) * arb_of(slope)
    check(rate, q, found)


def test_a_product_that_rounds_above_one() -> None:
    for a, b in pairwise(range(3, 400)):
        rate = SamplingRate(minimum(norm(1), b) * Fraction(1, a) * a * Fraction(1, b), weighted=True)
        found = realise(rate, features([1e6]))
        assert found.probability[0] <= 1 <= found.weight[0]


# ψ


@pytest.mark.slow
@SETTINGS
@given(
    row=ROWS,
    slope=POSITIVE,
    scale=st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
    order=st.sampled_from(NORMS),
    floor=st.sampled_from([0.0, 1e-9, 0.25]),
)
@example([1.0, 1.0], 1e-12, Fraction(1, 10), Norm.L1, 0.0)
@example([1e-310], 1e300, Fraction(1), Norm.L2, 0.0)
def test_psi_is_proven_and_tight_for_what_is_drawn(
    row: list[float], slope: float, scale: Fraction, order: Norm, floor: float
) -> None:
    rate = Importance(rate=Public(slope), norm=Public(order), floor=Public(floor)).rate
    known = features(row)
    found = realise(rate, known)
    value = float(psi_upper(PureLoss(W * norm(1) / scale), found, known)[0])
    if found.probability[0] == 0:
        assert value == 0
        return
    epsilon = arb_of(float(found.weight[0])) * norm_of(row, Norm.L1) / arb_of(scale)
    assume(epsilon < 1e308)
    truth = psi(epsilon, arb_of(float(found.probability[0])))
    assert arb_of(value) >= truth
    assert arb_of(value) <= truth * (1 + arb_of(Fraction(1, 10**12))) + arb_of(Fraction(1, 2**1070))


LOSSES = [
    W * norm(1) / 7,
    sqrt(W) * norm(2) + W * norm("inf") / 3,
    W * norm("3/2") / 7 + norm(3),
    log1p(W * norm(2)),
    expm1(W / 100) * minimum(norm(1), 1),
    maximum(W * norm(2), norm(1)) / 100,
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_psi_of_other_losses(loss: Any, arb: Any, ends: Any) -> None:
    rows = np.random.default_rng(3).normal(size=(40, 3))
    rows[0], rows[1] = 0, 1e-300
    rate = Importance(rate=Public("0.3"), norm=Public(2), floor=Public("0.01")).rate
    known = Features(rows)
    found = realise(rate, known)
    values = psi_upper(PureLoss(loss), found, known)
    for i in range(len(rows)):
        row = rows[i].tolist()
        at: dict[Any, Any] = {norm(p): norm_of(row, p) for p in NORMS}
        epsilon = arb(loss, {**at, W: Fraction(float(found.weight[i]))}, 2500)
        low, high = ends(psi(epsilon, arb_of(float(found.probability[i]))))
        assert low <= Fraction(float(values[i])) <= high * (1 + Fraction(1, 10**12)) + Fraction(1, 2**1070)


def test_a_record_that_is_never_drawn_loses_nothing() -> None:
    known = features([0.0, 0.0], [1.0, 2.0])
    found = realise(Importance(rate=Public("0.1")).rate, known)
    assert found.probability[0] == 0
    assert found.weight[0] == np.inf
    assert psi_upper(PureLoss(W * norm(1)), found, known)[0] == 0
    none = realise(Poisson(rate=Public(0), weighted=Public(True)).rate, known)
    assert none.probability.tolist() == [0, 0]
    assert none.weight.tolist() == [np.inf, np.inf]
    assert psi_upper(PureLoss(W), none, known).tolist() == [0, 0]


def test_without_sampling_psi_is_the_loss() -> None:
    known = features([1.0, -2.0], [0.5, 0.0])
    found = realise(ALWAYS, known)
    assert psi_upper(PureLoss(W * norm(1) / 2), found, known) == pytest.approx([1.5, 0.25], rel=1e-12)


def test_memory_order_and_chunks_change_nothing() -> None:
    rows = np.random.default_rng(5).standard_cauchy((40_001, 7))
    rate, loss = Importance(rate=Public("0.05"), norm=Public(2)).rate, PureLoss(W * norm(1) / 160)

    def results(matrix: Any) -> bytes:
        known = Features(matrix)
        found = realise(rate, known)
        values = psi_upper(loss, found, known)
        return found.probability.tobytes() + found.weight.tobytes() + values.tobytes()

    whole = results(rows)
    assert results(np.asfortranarray(rows)) == whole
    assert results(np.hstack([rows, rows])[:, :7]) == whole
    head, tail = Features(rows[:1234]), Features(rows[1234:])
    parts = [realise(rate, part) for part in (head, tail)]
    together = np.concatenate([part.probability for part in parts]).tobytes()
    together += np.concatenate([part.weight for part in parts]).tobytes()
    values = [psi_upper(loss, found, part) for found, part in zip(parts, (head, tail), strict=True)]
    assert together + np.concatenate(values).tobytes() == whole


def test_empty_data_are_no_special_case() -> None:
    known = Features(np.empty((0, 3)))
    found = realise(Importance(rate=Public(1)).rate, known)
    assert found.probability.shape == found.weight.shape == (0,)
    assert psi_upper(PureLoss(W * norm(1)), found, known).shape == (0,)
    assert len(known) == 0


def test_features_are_norms() -> None:
    with pytest.raises(InvalidType, match="feature: got weight"):
        features([1.0]).norm(W)
