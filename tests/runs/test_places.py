"""Places of batches: the law of each scheme against all of its outcomes, and what a run does not cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy.stats import chi2

from certdp import (
    AllocatedRun,
    FixedBatches,
    Full,
    GaussianSum,
    Importance,
    NormBall,
    Poisson,
    Public,
    RandomAllocation,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
    SampleOnce,
    TruncatedPoisson,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.plugins.contract import Coins
from certdp.runs.places import drawn_places
from certdp.sampling import NormStrata, Shuffled, ShuffledBatches, Strata, StratifiedRun

P = Public
GAUSSIAN = GaussianSum(noise_multiplier=P(1))
NOISY, WIDE = GaussianSum(scale=P(2)), NormBall(norm=Norm.L2, radius=P(2))
STEPS = NormStrata(bounds=P("1"), rates=P("1,1"))
QUARTER = Fraction(1, 4)
Batch: TypeAlias = tuple[int, ...]
Law: TypeAlias = Mapping[Any, Fraction]


def sampled(sampler: Any, steps: int = 1, mechanism: Any = GAUSSIAN) -> SampledRun:
    return SampledRun(mechanism=mechanism, sampler=sampler, releases=ResampleEach(steps))


def independent(rates: Iterable[Fraction]) -> dict[Batch, Fraction]:
    """The law of the set of records drawn, each by itself."""
    chances = list(rates)
    law = {}
    for bits in product((False, True), repeat=len(chances)):
        parts = [q if bit else 1 - q for q, bit in zip(chances, bits, strict=True)]
        law[tuple(i for i, bit in enumerate(bits) if bit)] = prod(parts, start=Fraction(1))
    return law


def truncated(rate: Fraction, size: int, most: int) -> dict[Batch, Fraction]:
    law: dict[Batch, Fraction] = {}
    for drawn, chance in independent([rate] * size).items():
        kept = list(combinations(drawn, min(most, len(drawn))))
        for batch in kept:
            law[batch] = law.get(batch, Fraction(0)) + chance / len(kept)
    return law


SCHEMES: dict[str, tuple[Callable[[int], Any], int, Any, int, Law]] = {
    # a run of so many draws, its records, their labels, batches of a draw, and its law
    "poisson": (lambda n: sampled(Poisson(rate=P(QUARTER)), n), 3, None, 1, independent([QUARTER] * 3)),
    "fixed": (
        lambda n: sampled(FixedBatches(batch_size=P(2), data_size=P(4)), n),
        4,
        None,
        1,
        {batch: Fraction(1, comb(4, 2)) for batch in combinations(range(4), 2)},
    ),
    "truncated": (
        lambda n: sampled(TruncatedPoisson(rate=P("1/2"), batch_size=P(2), data_size=P(4)), n),
        4,
        None,
        1,
        truncated(Fraction(1, 2), 4, 2),
    ),
    "strata": (
        lambda n: StratifiedRun(mechanism=GAUSSIAN, sampler=Strata(rates=P("a:1/4,b:3/4")), releases=ResampleEach(n)),
        3,
        ["b", "a", "b"],
        1,
        independent([3 * QUARTER, QUARTER, 3 * QUARTER]),
    ),
    "allocation": (
        lambda n: AllocatedRun(mechanism=GAUSSIAN, sampler=RandomAllocation(batches=P(3)), epochs=n),
        2,
        None,
        3,
        {
            tuple(tuple(i for i in range(2) if where[i] == batch) for batch in range(3)): Fraction(1, 9)
            for where in product(range(3), repeat=2)
        },
    ),
    "allocation, several": (
        lambda n: AllocatedRun(
            mechanism=GAUSSIAN, sampler=RandomAllocation(batches=P(3), participations=P(2)), epochs=n
        ),
        2,
        None,
        3,
        {
            tuple(tuple(i for i in range(2) if where[i] != batch) for batch in range(3)): Fraction(1, 9)
            for where in product(range(3), repeat=2)
        },
    ),
    "shuffled": (
        lambda n: AllocatedRun(mechanism=GAUSSIAN, sampler=ShuffledBatches(batch_size=P(2), data_size=P(4)), epochs=n),
        4,
        None,
        2,
        {(order[:2], order[2:]): Fraction(1, 24) for order in permutations(range(4))},
    ),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_places_have_the_law_of_the_scheme(scheme: str) -> None:
    build, size, labels, each, law = SCHEMES[scheme]
    count = 3000
    run = build(count)
    drawn = [tuple(places.tolist()) for places in drawn_places(run, size, labels=labels, coins=Coins.seeded(11))]
    assert len(drawn) == run.steps == count * each
    outcomes: list[Any] = [tuple(drawn[i : i + each]) if each > 1 else drawn[i] for i in range(0, len(drawn), each)]
    counts = Counter[Any](outcomes)
    assert sum(law.values()) == 1
    assert set(counts) <= set(law)
    statistic = sum((counts[one] - count * float(p)) ** 2 / (count * float(p)) for one, p in law.items())
    assert statistic < chi2.ppf(1 - 1e-6, len(law) - 1)


def test_one_sample_is_handed_out_again() -> None:
    run = SampledRun(mechanism=GAUSSIAN, sampler=Poisson(rate=P("1/2")), releases=SampleOnce(3))
    first, *others = [places.tolist() for places in drawn_places(run, 40)]
    assert others == [first, first]


def test_nothing_is_drawn_before_it_is_asked_for() -> None:
    coins = Coins.seeded(1)
    found = drawn_places(sampled(Poisson(rate=P("1/2")), 2), 64, coins=coins)
    _ = iter(found)
    assert len(found) == 2
    before = Coins.seeded(1).bernoulli(np.full(64, 0.5))
    assert (coins.bernoulli(np.full(64, 0.5)) == before).all()


BALL = NormBall(norm=Norm.L2, radius=P(1))


@pytest.mark.parametrize(
    ("run", "size", "labels", "says"),
    [
        (sampled(Poisson(rate=P("1/2"))), 0, None, "size"),
        (sampled(Poisson(rate=P("1/2"))), 3, ["a"] * 3, "without strata"),
        (sampled(Poisson(rate=P("1/2"), weighted=P(True))), 3, None, "without weights"),
        (sampled(FixedBatches(batch_size=P(2), data_size=P(4))), 5, None, "data_size"),
        (sampled(TruncatedPoisson(rate=P("1/2"), batch_size=P(2), data_size=P(4))), 5, None, "data_size"),
        (
            SampledRun(mechanism=GaussianSum(scale=P(1)), sampler=Importance(rate=P("1/2"), norm=P(2)), domain=BALL),
            3,
            None,
            "constant rate",
        ),
        (
            sampled(Shuffled(users=P(3)), mechanism=RandomisedResponse(categories=P(3), epsilon=P(1))),
            3,
            None,
            "for sums",
        ),
        (
            AllocatedRun(mechanism=GAUSSIAN, sampler=ShuffledBatches(batch_size=P(2), data_size=P(4))),
            6,
            None,
            "data_size",
        ),
        (AllocatedRun(mechanism=GAUSSIAN, sampler=RandomAllocation(batches=P(2))), 3, ["a"] * 3, "without strata"),
        (StratifiedRun(mechanism=GAUSSIAN, sampler=Strata(rates=P("a:1/2"))), 3, None, "labels"),
        (StratifiedRun(mechanism=GAUSSIAN, sampler=Strata(rates=P("a:1/2"))), 3, ["a"], "one for each"),
        (
            StratifiedRun(
                mechanism=GaussianSum(scale=P(1)), sampler=Strata(rates=P("a:1/2"), weighted=P(True)), domain=BALL
            ),
            3,
            ["a"] * 3,
            "without weights",
        ),
        (StratifiedRun(mechanism=NOISY, sampler=STEPS, domain=WIDE), 3, None, "by label"),
        (GAUSSIAN, 3, None, "SampledRun"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_run_does_not_cover_is_refused_at_once(run: Any, size: int, labels: Any, says: str) -> None:
    with pytest.raises((InvalidType, InvalidValue), match=says):
        drawn_places(run, size, labels=labels)


def test_everything_is_a_batch_too() -> None:
    assert [places.tolist() for places in drawn_places(sampled(Full(), 2), 3)] == [[0, 1, 2]] * 2


def test_batches_are_handed_out_once() -> None:
    found = drawn_places(sampled(Poisson(rate=P("1/2")), 2), 3)
    _ = iter(found)  # which draws nothing
    assert len(list(found)) == 2
    with pytest.raises(InvalidValue, match="once"):
        next(iter(found))
    begun = drawn_places(sampled(Poisson(rate=P("1/2")), 2), 3)
    next(iter(begun))
    with pytest.raises(InvalidValue, match="once"):
        next(iter(begun))


def test_a_record_may_be_alone() -> None:
    assert [places.tolist() for places in drawn_places(sampled(Full(), 2), 1)] == [[0], [0]]


def test_weights_of_some_records_are_refused() -> None:
    """A stratum that is always drawn has weight 1, and the other one has not."""
    run = StratifiedRun(
        mechanism=GaussianSum(scale=P(9)),
        sampler=Strata(rates=P("a:1,b:1/2"), weighted=P(True)),
        domain=NormBall(radius=P(1), norm=Norm.L2),
    )
    with pytest.raises(InvalidValue, match="a sampler without weights"):
        drawn_places(run, 2, labels=["a", "b"])
