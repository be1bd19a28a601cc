"""Bulk weights for linear losses against Arb: feasible as used, close to the root, and the same in any company."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting._kernels import feasible_weights as kernels
from certdp.accounting.errors import InvalidType, InvalidValue, Undecided
from certdp.accounting.feasible_weights import (
    LARGEST_RELATIVE_GAP,
    LARGEST_WEIGHT,
    REACHES,
    Reach,
    largest_weights,
    linear,
)
from certdp.accounting.feasible_weights.linear import _Given, by_enclosures, reciprocal_below
from tests.support.arb_numbers import arb_of, fraction_of

Floats = NDArray[np.float64]
TARGETS = [
    "1e-12",
    "1e-8",
    "1e-4",
    "0.01",
    "0.1",
    "1",
    "ln-like 0.693147",
    "5",
    "30",
    "300",
    "699.9",
    "700",
    "709.7",
    "709.8",
    "1000",
    "1024",
]


def exact(text: str) -> Fraction:
    return Fraction(text.rpartition(" ")[2])


def losses_for(target: Fraction, stream: int) -> Floats:
    rng = np.random.default_rng([3, stream])
    top = float(target) * (1 - 2.0**-52)
    draws = [
        top * rng.uniform(0, 1, 120),
        top * np.exp2(-rng.uniform(0, 30, 120)),
        top * np.exp2(-rng.uniform(0, 1060, 60)),
        top * (1 - np.exp2(-rng.uniform(1, 53, 120))),
        np.array([top, 5e-324, 2.0**-1022, 1e-300, 2.0**-300]),
    ]
    values = np.concatenate(draws)
    return values[(values > 0) & (values < float(target))]


def feasible(loss: float, weight: float, rate: float, odds: arb) -> bool:
    """Whether log(1 + q(e^{Aw} − 1)) ≤ ε* is certain."""
    return bool(arb(rate) * (arb(loss) * arb(weight)).expm1() <= odds)


@pytest.mark.parametrize("text", TARGETS)
def test_weights_are_feasible_as_used_and_close_to_the_root(text: str, stream: int) -> None:
    ctx.prec = 400
    target = exact(text)
    losses, odds = losses_for(target, stream), arb_of(target).expm1()
    found = largest_weights(losses, target)
    assert found.gap <= LARGEST_RELATIVE_GAP
    assert found.escalated == 0
    for a, w, q in zip(losses.tolist(), found.weight.tolist(), found.probability.tolist(), strict=True):
        assert w >= 1
        assert q in (1 / w, math.nextafter(1 / w, 0))
        assert feasible(a, w, q, odds) or w == 1, (a, w, q)
        if w < LARGEST_WEIGHT:  # a weight farther than the gap is infeasible
            beyond = arb(w) * (1 + arb(found.gap) * arb("1.0001"))
            assert (arb(a) * beyond).expm1() > odds * beyond, (a, w)


@pytest.mark.parametrize("text", ["1e-8", "0.1", "1", "700", "1000"])
def test_enclosures_agree_with_the_kernel(text: str) -> None:
    ctx.prec = 400
    target = exact(text)
    losses = losses_for(target, 7)[::17]
    found = largest_weights(losses, target)
    odds = arb_of(target).expm1()
    for a, w in zip(losses.tolist(), found.weight.tolist(), strict=True):
        weight, rate, gap = by_enclosures(a, target)
        assert gap < 2.0**-50
        assert feasible(a, weight, rate, odds) or weight == 1
        assert w <= weight <= w * (1 + 2 * LARGEST_RELATIVE_GAP)


def test_the_reference_value() -> None:
    found = largest_weights([0.1], Fraction(1))
    assert abs(found.weight[0] / 43.20709028861915 - 1) < 1e-14
    assert by_enclosures(0.1, Fraction(1))[0] == 43.20709028861915


@pytest.mark.parametrize("text", TARGETS)
def test_what_the_kernel_is_given_lies_below(text: str) -> None:
    ctx.prec = 400
    target = exact(text)
    given, odds = _Given.of(target, None), arb_of(target).expm1()
    if math.isinf(given.high):
        assert odds > arb(sys.float_info.max)
    else:
        assert odds * (1 - arb(2) ** -100) < arb_of(Fraction(given.high)) + arb_of(Fraction(given.low)) < odds
    assert odds.log() - 1e-12 < arb(given.level) < odds.log()
    assert Fraction(given.top) <= target < Fraction(math.nextafter(given.top, math.inf))


def target_of(loss: float, root: float, share: Fraction) -> Fraction:
    """A target whose largest feasible weight is root·(1 + share), to 500 bits."""
    ctx.prec = 600
    weight = arb_of(Fraction(root) * (1 + share))
    target = ((arb(loss) * weight).expm1() / weight).log1p().mid()
    return fraction_of(target)


@pytest.mark.parametrize(("loss", "root"), [(0.1, 43.25), (0.75, 1.5), (2.0**-30, 2.0**20)])
def test_a_cap_a_hair_beyond_the_root_is_not_used(loss: float, root: float) -> None:
    weight, _, _ = by_enclosures(loss, target_of(loss, root, -Fraction(1, 2**300)), root)
    assert weight == math.nextafter(root, 0)


@pytest.mark.parametrize(("loss", "root"), [(0.1, 43.25), (0.75, 1.5), (2.0**-30, 2.0**20)])
@pytest.mark.parametrize("bits", [60, 80, 100])
def test_the_gap_of_enclosures_is_the_distance_to_the_root(loss: float, root: float, bits: int) -> None:
    weight, rate, gap = by_enclosures(loss, target_of(loss, root, Fraction(1, 2**bits)))
    assert (weight, rate) == (root, reciprocal_below(root))
    distance = 1 - 1 / (1 + Fraction(1, 2**bits))
    assert distance <= Fraction(gap) <= distance * (1 + Fraction(1, 2**40))


def test_enclosures_keep_to_the_cap_and_to_the_largest_weight() -> None:
    assert by_enclosures(0.1, Fraction(1), 20.0) == (20.0, reciprocal_below(20.0), 0.0)
    assert by_enclosures(5e-324, Fraction(1)) == (LARGEST_WEIGHT, 1 / LARGEST_WEIGHT, 0.0)


def test_what_limits_a_weight_is_told() -> None:
    capped = largest_weights([0.0, 5e-324, 0.01, 0.9], Fraction(1), largest=10.0)
    assert [REACHES[code] for code in capped.reach] == [Reach.CAPPED] * 3 + [Reach.LARGEST]
    free = largest_weights([0.0, 5e-324, 0.01, 0.9], Fraction(1))
    assert [REACHES[code] for code in free.reach] == [Reach.NEVER_DRAWN, Reach.CAPPED] + [Reach.LARGEST] * 2


def test_loss_at_the_target_has_weight_one() -> None:
    found = largest_weights([0.5, 1.0], Fraction(1))
    assert found.weight[1] == found.probability[1] == 1.0
    assert by_enclosures(1.0, Fraction(1)) == (1.0, 1.0, 0.0)


def test_no_loss_is_never_drawn_or_has_the_cap() -> None:
    free = largest_weights([0.0, 0.0], Fraction(1))
    assert free.weight.tolist() == [math.inf] * 2
    assert free.probability.tolist() == [0.0] * 2
    capped = largest_weights([0.0, 0.1, 0.9], Fraction(1), largest=10.0)
    assert capped.weight[:2].tolist() == [10.0] * 2
    assert capped.probability[:2].tolist() == [0.1] * 2
    assert 1 < capped.weight[2] < 2


@given(
    st.sampled_from(["1e-8", "1e-3", "1", "20", "700", "1000"]),
    st.floats(2.0**-40, 1 - 2.0**-40) | st.integers(1, 1000).map(lambda k: 2.0**-k) | st.just(1 - 2.0**-53),
    st.floats(-0.5, 0.5) | st.sampled_from([0.0, 1e-15, -1e-15, -(2.0**-53)]),
)
@example("1", 0.1, 0.0)
@example("1e-8", 1 - 2.0**-30, -(2.0**-52))
def test_caps_beside_the_root_stay_feasible(text: str, share: float, shift: float) -> None:
    ctx.prec = 400
    target = exact(text)
    loss = float(target) * (1 - 2.0**-52) * share
    root = by_enclosures(loss, target)[0]
    cap = max(1.0, min(root * (1 + shift), LARGEST_WEIGHT))
    found = largest_weights([loss], target, largest=cap)
    weight, rate = found.weight[0], found.probability[0]
    assert weight <= cap
    assert weight >= min(cap, root) * (1 - LARGEST_RELATIVE_GAP)
    assert found.gap <= LARGEST_RELATIVE_GAP
    assert feasible(loss, weight, rate, arb_of(target).expm1()) or weight == 1
    by_cap = by_enclosures(loss, target, cap)
    assert feasible(loss, *by_cap[:2], arb_of(target).expm1()) or by_cap[0] == 1


def test_losses_above_the_target_by_rounding_have_weight_one() -> None:
    target = Fraction("0.1")  # 0.1 as a binary64 is larger
    losses = [0.05, 0.1, math.nextafter(0.1, 1)]
    found = largest_weights(losses, target, domain_loss=target)
    assert found.weight[1:].tolist() == found.probability[1:].tolist() == [1.0, 1.0]
    assert found.weight[0] == largest_weights([0.05], target).weight[0]
    narrow = Fraction(1, 10**8) + Fraction(1, 2**80)
    top = float(narrow)
    assert Fraction(top) < narrow
    below = largest_weights([top], narrow, domain_loss=narrow)
    assert below.weight[0] == largest_weights([top], narrow).weight[0] > 1
    with pytest.raises(InvalidValue, match=r"0\.1 of record 1"):
        largest_weights(losses, target)


def test_results_do_not_depend_on_chunks_threads_or_neighbours() -> None:
    rng = np.random.default_rng(5)
    losses = np.exp2(-rng.uniform(0, 300, 40_001))
    losses[::1000] = 1 - np.exp2(-rng.uniform(1, 53, 41))
    losses[7::5000] = 1e-300
    whole = largest_weights(losses, Fraction(1))
    for threads in (2, 3):
        parts = largest_weights(losses, Fraction(1), threads=threads)
        assert parts.weight.tobytes() == whole.weight.tobytes()
        assert parts.probability.tobytes() == whole.probability.tobytes()
        assert parts.gap == whole.gap
    backwards = largest_weights(losses[::-1], Fraction(1))
    assert backwards.weight[::-1].tobytes() == whole.weight.tobytes()
    alone = np.array([largest_weights(losses[i : i + 1], Fraction(1)).weight[0] for i in range(0, 40_001, 97)])
    assert alone.tobytes() == np.ascontiguousarray(whole.weight[::97]).tobytes()


def test_the_least_target_and_the_extreme_caps() -> None:
    target = Fraction(1, 2**40)
    assert largest_weights([float(target) / 2], target).weight[0] > 2
    for cap in (1.0, 1.5, LARGEST_WEIGHT):
        assert largest_weights([0.0], Fraction(1), largest=cap).weight[0] == cap


def test_the_gap_is_the_largest_of_all_threads() -> None:
    halves = np.full(20_000, 0.1), np.full(20_000, 1 - 2.0**-30)
    low, high = sorted(largest_weights(half, Fraction(1)).gap for half in halves)
    assert low < high == largest_weights(np.concatenate(halves), Fraction(1), threads=2).gap


@pytest.mark.parametrize("index", [0, 19_999, 20_000, 39_999])
def test_a_loss_over_the_target_is_refused_in_every_part(index: int) -> None:
    losses = np.full(40_000, 0.5)
    losses[index] = 2.0
    with pytest.raises(InvalidValue, match=f"of record {index};"):
        largest_weights(losses, Fraction(1), threads=2)


def test_what_no_kernel_proves_is_solved_in_enclosures(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the kernel gave up on the second record: its gap counts among the others."""

    def gives_up(losses: Floats, *others: Any) -> int:
        *_, weight, probability = others
        weight[:], probability[:] = [2.0, math.nan], [0.5, math.nan]
        return 0

    monkeypatch.setattr(kernels, "linear", gives_up)
    found = largest_weights([0.5, 0.1], Fraction(1))
    assert (found.weight[1], found.probability[1], found.gap) == by_enclosures(0.1, Fraction(1))
    assert found.weight[0] == 2.0
    assert found.escalated == 1
    assert found.gap > 0


def test_what_no_precision_proves_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "_PRECISIONS", ())
    with pytest.raises(Undecided, match=r"loss 0\.1"):
        by_enclosures(0.1, Fraction(1))


def test_no_records() -> None:
    found = largest_weights([], Fraction(1))
    assert found.weight.size == found.probability.size == found.gap == found.escalated == 0


def test_the_reciprocal_is_never_above() -> None:
    for weight in np.random.default_rng(4).uniform(1, 1e6, 300).tolist():
        rate = reciprocal_below(weight)
        assert Fraction(rate) * Fraction(weight) <= 1
        assert Fraction(math.nextafter(rate, 1)) * Fraction(weight) > 1 or rate == 1 / weight
    assert reciprocal_below(1024.0) == 2.0**-10


@pytest.mark.parametrize(
    ("call", "parameter", "message"),
    [
        (lambda: largest_weights([0.5, math.nan], Fraction(1)), "unit_loss", "another value at index 1"),
        (lambda: largest_weights([0.5, -0.1], Fraction(1)), "unit_loss", "another value at index 1"),
        (lambda: largest_weights([0.0, math.nan], Fraction(1)), "unit_loss", "another value at index 1"),
        (lambda: largest_weights([0.5, 2.0, 3.0], Fraction(1)), "unit_loss", "2.0 of record 1"),
        (lambda: largest_weights([1.0, 2.0], Fraction(1)), "unit_loss", "2.0 of record 1"),
        (lambda: largest_weights([math.inf], Fraction(1)), "unit_loss", "inf of record 0"),
        (lambda: largest_weights([0.5, 2.0], Fraction(1), first=70), "unit_loss", "2.0 of record 71"),
        (lambda: largest_weights([[0.5]], Fraction(1)), "unit_loss", "shape (1, 1)"),
        (lambda: largest_weights([2**53 + 1], Fraction(1)), "unit_loss", "2^53"),
        (lambda: largest_weights([True], Fraction(1)), "unit_loss", "dtype bool"),
        (lambda: largest_weights([0.5], 1.0), "target", "exact(target)"),  # type: ignore[arg-type]
        (lambda: largest_weights([0.5], Fraction(0)), "target", "2^-40"),
        (lambda: largest_weights([0.5], Fraction(1025)), "target", "1024"),
        (lambda: largest_weights([0.5], Fraction(1), largest=0.5), "largest", "binary64 weight from 1"),
        (lambda: largest_weights([0.5], Fraction(1), largest=2**53 + 1), "largest", "binary64 weight from 1"),
        (lambda: largest_weights([0.5], Fraction(1), largest=math.inf), "largest", "inf"),
        (lambda: largest_weights([0.5], Fraction(1), largest="9"), "largest", "weight"),  # type: ignore[arg-type]
        (lambda: largest_weights([0.5], Fraction(1), domain_loss=Fraction(2)), "domain_loss", "infeasible"),
        (lambda: largest_weights([0.5], Fraction(1), domain_loss=1.0), "domain_loss", "Fraction"),  # type: ignore[arg-type]
    ],
)
def test_refusals(call: Callable[[], object], parameter: str, message: str) -> None:
    with pytest.raises((InvalidValue, InvalidType)) as caught:
        call()
    assert caught.value.parameter == parameter
    assert message in str(caught.value)
