"""What tasks compute: a unit's record is a function of its rows alone, and parts of one release merge to one sum."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

import certdp
from certdp import PrivateWeightedSampling, Public
from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.sampling.clipping import Outside
from certdp.engines.batches import UNIT, KeyDraws, UnitSums, kept_counts
from certdp.parts import SumPart, merged
from certdp.weighted_sampling.release import PrivateSample
from tests.support.cases import examples

RUN = certdp.SampledRun(
    mechanism=certdp.LaplaceSum(scale=Public(100)),
    sampler=certdp.Importance(rate=Public("0.1"), norm=Public(1)),
    domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(20)),
)
NUMBERS = st.floats(-1e6, 1e6) | st.just(-0.0)
ROWS = st.lists(st.tuples(st.sampled_from(["ann", "bob", "cleo"]), NUMBERS, NUMBERS), min_size=1, max_size=30)
Rows = list[tuple[str, float, float]]


def sums(most: int | None = None, outside: Outside = Outside.CLIP) -> UnitSums:
    declared = None if most is None else Public(most)
    return UnitSums.of(RUN, ["user_id", "x", "y"], "user_id", None, declared, outside)


def table(rows: Rows) -> Any:
    columns = [[row[place] for row in rows] for place in range(3)]
    types = [pa.string(), pa.float64(), pa.float64()]
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=["user_id", "x", "y"])


def held(made: UnitSums, rows: Any) -> Any:
    """The table of units and records."""
    return made.records(made.totals(table(rows)))


def records(made: UnitSums, rows: Rows) -> dict[bytes, bytes]:
    """The bits of each unit's record."""
    found = held(made, rows).to_pydict()
    return {u: np.array(record).tobytes() for u, *record in zip(found[UNIT], found["x"], found["y"], strict=True)}


@examples(60)
@given(rows=ROWS, most=st.none() | st.integers(1, 4), seed=st.randoms(use_true_random=False))
def test_a_record_is_a_function_of_its_units_own_rows(rows: Rows, most: int | None, seed: Any) -> None:
    made = sums(most)
    every = records(made, rows)
    shuffled = list(rows)
    seed.shuffle(shuffled)
    assert records(made, shuffled) == every
    for unit in {row[0] for row in rows}:
        assert records(made, [row for row in shuffled if row[0] == unit]) == {unit.encode(): every[unit.encode()]}


@examples(60)
@given(rows=ROWS)
def test_a_record_is_the_exact_sum_of_rows_on_a_grid(rows: Rows) -> None:
    made = sums()
    found = held(made, rows).to_pydict()
    assert Fraction(1, 2**made.bits) <= Fraction(20, 2**32)
    for place, name in enumerate("xy", start=1):
        for unit, number in zip(found[UNIT], found[name], strict=True):
            own = [Fraction(row[place]) for row in rows if row[0].encode() == unit]
            assert number == float(Fraction(sum(round(one * 2**made.bits) for one in own), 2**made.bits))
            assert (
                abs(Fraction(number) - sum(own))
                <= Fraction(len(own), 2 ** (made.bits + 1)) + abs(Fraction(number)) / 2**52
            )


@pytest.mark.parametrize("radius", ["1e-200", "1/3", 1, 20, 2**40, "1e200"])
def test_the_grid_follows_the_radius(radius: Any) -> None:
    ball = certdp.NormBall(norm=certdp.Norm.L1, radius=Public(radius))
    run = certdp.SampledRun(mechanism=RUN.mechanism, sampler=certdp.Full(), domain=ball)
    made = UnitSums.of(run, ["user_id", "x", "y"], "user_id", None, None, Outside.CLIP)
    grid = Fraction(2) ** -made.bits
    assert grid <= ball.radius.value / 2**32 < 2 * grid
    row = float(grid) * 3
    found = held(made, [("ann", row, 0.0), ("ann", row, row * 0.4)]).to_pydict()
    assert (found["x"], found["y"]) == ([2 * row], [float(grid)])


@pytest.mark.parametrize("radius", ["1e-300", "1e300"])
def test_a_radius_that_has_no_grid_is_refused(radius: str) -> None:
    run = certdp.SampledRun(
        mechanism=RUN.mechanism,
        sampler=certdp.Full(),
        domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(radius)),
    )
    with pytest.raises(InvalidValue, match="radius"):
        UnitSums.of(run, ["user_id", "x"], "user_id", None, None, Outside.CLIP)


@examples(30)
@given(rows=ROWS, most=st.integers(1, 4))
def test_so_many_rows_of_a_unit_count_at_most(rows: Rows, most: int) -> None:
    ones = [(unit, 1.0, float(place)) for place, (unit, *_) in enumerate(rows)]
    found = held(sums(most), ones).to_pydict()
    own = {unit: sum(row[0].encode() == unit for row in ones) for unit in found[UNIT]}
    assert {unit: min(most, own[unit]) for unit in own} == dict(zip(found[UNIT], found["x"], strict=True))


def test_which_rows_count_follows_from_a_salt() -> None:
    rows = [("ann", 1.0, float(place)) for place in range(50)]
    assert len({records(sums(5), rows)[b"ann"] for _ in range(20)}) > 10


@examples(30)
@given(rows=ROWS, cuts=st.integers(1, 5), outside=st.sampled_from(Outside))
def test_parts_of_one_release_merge_to_the_same_sum(rows: Rows, cuts: int, outside: Outside) -> None:
    made, coins = sums(outside=outside), NamedCoins.fresh()
    some = held(made, rows)
    whole = SumPart.from_bytes(made.part(some, coins))
    step = -(-len(some) // cuts)
    pieces = [made.part(some.slice(start, step), coins) for start in range(0, len(some), step)]
    parts = [made.empty(coins), *map(SumPart.from_bytes, pieces), made.empty(coins)]
    assert merged(parts)._state.reveal().totals == whole._state.reveal().totals
    assert pieces == [made.part(some.slice(start, step), coins) for start in range(0, len(some), step)]


def test_a_part_that_two_tasks_gave_is_not_added_twice() -> None:
    made, coins = sums(), NamedCoins.fresh()
    some = held(made, [("ann", 1.0, 2.0), ("bob", 3.0, 4.0)])
    with pytest.raises(InvalidValue, match="without common records"):
        merged([SumPart.from_bytes(made.part(some, coins)) for _ in range(2)])


def test_coins_that_were_stated_make_no_private_release() -> None:
    made = sums()
    part = SumPart.from_bytes(made.part(held(made, [("ann", 1.0, 2.0)]), NamedCoins(bytes(32))))
    assert part.finish(RUN).statement.coins == "seeded"


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([("ann", np.inf, 0.0)], InvalidValue),
        ([("ann", 1e308, 0.0), ("ann", 1e308, 0.0)], InvalidValue),
        ([("ann", 2.0**33, 0.0), ("ann", -(2.0**33), 0.0)], InvalidValue),
        ([(None, 1.0, 0.0)], InvalidValue),
        ([("ann", None, 0.0)], InvalidValue),
    ],
)
def test_rows_that_cannot_be_released_from_are_refused(rows: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        held(sums(), rows)


def test_columns_of_other_kinds_are_refused() -> None:
    for columns in (
        {"user_id": [1.5], "x": [1.0], "y": [1.0]},
        {"user_id": ["ann"], "x": ["text"], "y": [1.0]},
        {"user_id": ["ann"], "x": [2**60 + 1], "y": [1.0]},
    ):
        with pytest.raises((InvalidType, InvalidValue)):
            sums().totals(pa.table(columns))


def test_names_that_are_not_one_for_each_record_are_refused() -> None:
    with pytest.raises(InvalidValue, match="one for each record"):
        SumPart.of_units(RUN, np.zeros((2, 2)), [b"a"], NamedCoins.fresh())


@pytest.mark.parametrize("frequencies", [False, True], ids=["keys", "tokens"])
def test_keys_are_kept_alike_wherever_they_lie(frequencies: bool) -> None:
    sampling = PrivateWeightedSampling.within(epsilon=1, delta="1e-3", frequencies=frequencies)
    draws, coins = KeyDraws(sampling=sampling, key="key", count="count"), NamedCoins.fresh()
    rows = pa.table({"key": [f"key {place}" for place in range(900)] * 2, "count": list(range(1, 901)) * 2})
    counts = draws.counts(rows)
    assert counts["count"].to_pylist() == [2 * place for place in range(1, 901)]
    whole = kept_counts(draws.kept(counts, coins))
    pieces = [kept_counts(draws.kept(counts.slice(start, 100), coins)) for start in range(0, 900, 100)]
    assert [key for piece in pieces for key in piece.keys.to_pylist()] == whole.keys.to_pylist()
    sample = sampling.release_kept(pieces, coins)
    assert sample.statement.private
    assert set(sample.keys.to_pylist()) <= set(whole.keys.to_pylist())
    assert PrivateSample.from_bytes(sample.to_bytes()) == sample
    with pytest.raises(InvalidValue, match="each key once"):
        sampling.release_kept([*pieces, pieces[0]], coins)
    assert not sampling.release_kept(pieces, NamedCoins(bytes(32))).statement.private
    assert len(sampling.release_kept([], coins)) == 0


def test_another_salt_is_another_bound_and_not_another_plan() -> None:
    made = sums(2)
    assert made.salt != sums(2).salt
    assert evolve(made, salt=b"") == evolve(sums(2), salt=b"")
