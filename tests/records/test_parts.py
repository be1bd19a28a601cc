"""Parts over some of the records: however a data set is cut, their sum is what one pass gives, bit for bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import (
    Coins,
    Delta,
    GaussianSum,
    Importance,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Order,
    Outside,
    Poisson,
    PrivacyConstrained,
    Public,
    ResampleEach,
    SampledRun,
)
from certdp.individual import RecordLosses, RecordWeights
from certdp.parts import LossesPart, Part, WeightsPart, merged
from certdp.records.laws import At
from certdp.records.losses import record_losses
from certdp.records.weights import record_weights
from tests.support.cases import examples

LAPLACE, GAUSSIAN = LaplaceSum(scale=Public(4)), GaussianSum(scale=Public(4))
BALL = NormBall(norm=Norm.L1, radius=Public(5))
SAMPLERS: dict[str, Any] = {
    "importance": Importance(rate=Public("0.2"), floor=Public("0.01")),
    "poisson": Poisson(rate=Public("0.3")),
    "constrained": PrivacyConstrained(target=Public("1.5"), largest_weight=Public(5)),
}
RUNS: dict[str, tuple[SampledRun, At]] = {
    **{name: (SampledRun(mechanism=LAPLACE, sampler=one, domain=BALL), None) for name, one in SAMPLERS.items()},
    "delta": (SampledRun(mechanism=GAUSSIAN, sampler=SAMPLERS["poisson"], releases=ResampleEach(3)), Delta("1e-5")),
    "order": (SampledRun(mechanism=GAUSSIAN, sampler=SAMPLERS["poisson"], domain=BALL), Order(4)),
}
KINDS: dict[str, Any] = {"losses": LossesPart, "weights": WeightsPart}


def data() -> Any:
    records = np.random.default_rng(4).normal(size=(60, 3)) * np.linspace(0.01, 3, 60)[:, None]
    records[5] = 0
    return records


def cut(records: Any, cuts: list[int]) -> Iterator[Any]:
    """The records in order, in parts, empty ones where two cuts are the same."""
    ends = [0, *sorted(min(c, len(records)) for c in cuts), len(records)]
    return (records[start:end] for start, end in pairwise(ends))


def summed(parts: list[Any], order: list[int], sent: list[bool]) -> Any:
    """The parts added up in order, but associated in any way; some of them on their way through bytes or a pickle."""
    left = list(parts)
    for place, travels in zip(order, sent, strict=False):
        if len(left) == 1:
            break
        at = place % (len(left) - 1)
        both = left[at] + left[at + 1]
        left[at : at + 2] = [pickle.loads(pickle.dumps(both)) if travels else both]
    return reduce(add, left)


def same_losses(one: RecordLosses, other: RecordLosses) -> None:
    assert one.values.tobytes() == other.values.tobytes()
    assert one.quantiles == other.quantiles
    assert one.histogram.grid == other.histogram.grid
    assert one.histogram.counts.tolist() == other.histogram.counts.tolist()
    assert (one.records, one.outside, one.largest) == (other.records, other.outside, other.largest)
    assert one.expected_sample_size == other.expected_sample_size


def same_weights(one: RecordWeights, other: RecordWeights) -> None:
    assert (one.records, one.outside, one.largest_loss) == (other.records, other.outside, other.largest_loss)
    assert one.expected_sample_size == other.expected_sample_size
    assert (one.gap, one.reach) == (other.gap, other.reach)


partitionings = st.tuples(
    st.lists(st.integers(0, 60), max_size=8),
    st.lists(st.integers(0, 50), min_size=8, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
)


@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("name", RUNS)
@examples(100)
@given(partitioning=partitionings)
def test_losses_do_not_depend_on_the_parts(
    name: str, outside: Outside, partitioning: tuple[list[int], list[int], list[bool]]
) -> None:
    (run, at), (cuts, order, sent) = RUNS[name], partitioning
    parts = [LossesPart.of(run, some, outside, at=at) for some in cut(data(), cuts)]
    whole = record_losses(run, data(), outside, at=at).reveal()
    same_losses(summed(parts, order, sent).finish(run).reveal(), whole)
    assert whole.quantiles
    assert (whole.outside > 3) == (run.domain is not None)


@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("name", SAMPLERS)
@examples(100)
@given(partitioning=partitionings)
def test_weights_do_not_depend_on_the_parts(
    name: str, outside: Outside, partitioning: tuple[list[int], list[int], list[bool]]
) -> None:
    (run, _), (cuts, order, sent) = RUNS[name], partitioning
    whole: list[Any] = []
    apart: list[Any] = []
    parts = [WeightsPart.of(run, some, outside, into=apart.append) for some in cut(data(), cuts)]
    expected = record_weights(run, data(), outside, into=whole.append).reveal()
    same_weights(summed(parts, order, sent).finish(run).reveal(), expected)
    for column in ("weight", "probability"):
        one, other = (np.concatenate([getattr(piece, column) for piece in pieces]) for pieces in (apart, whole))
        assert one.tobytes() == other.tobytes()


def test_the_sum_of_many_is_that_of_one_after_the_other() -> None:
    run, _ = RUNS["poisson"]
    for count in (*range(1, 18), 60):
        parts = [LossesPart.of(run, some) for some in np.array_split(data(), count)]
        same_losses(merged(iter(parts)).finish(run).reveal(), record_losses(run, data()).reveal())
    with pytest.raises(InvalidValue, match="at least one part"):
        merged(iter(()))


def test_losses_that_go_into_a_sink_are_not_held() -> None:
    run, _ = RUNS["importance"]
    kept: list[Any] = []
    parts = [LossesPart.of(run, some, into=kept.append) for some in np.array_split(data(), 4)]
    found = pickle.loads(pickle.dumps(merged(parts))).finish(run).reveal()
    whole = record_losses(run, data()).reveal()
    assert np.concatenate(kept).tobytes() == whole.values.tobytes()
    assert (found.quantiles, found.largest) == ({}, whole.largest)
    with pytest.raises(InvalidValue, match="held"):
        _ = found.values
    with pytest.raises(InvalidValue, match="losses"):
        _ = parts[0] + LossesPart.of(run, data())


@pytest.mark.parametrize("part", [LossesPart, WeightsPart])
class TestRefusals:
    def test_no_records_at_all(self, part: Any) -> None:
        run, _ = RUNS["poisson"]
        none = part.of(run, np.empty((0, 3)))
        with pytest.raises(InvalidValue, match="at least one record"):
            (none + none).finish(run)
        (none + part.of(run, data()[:1]) + none).finish(run)

    @pytest.mark.parametrize(
        "change",
        [
            {"mechanism": LaplaceSum(scale=Public(5))},
            {"sampler": Poisson(rate=Public("0.25"))},
            {"domain": NormBall(norm=Norm.L1, radius=Public(4))},
            {"domain": None},
            {"releases": ResampleEach(2)},
        ],
        ids=["mechanism", "sampler", "radius", "no domain", "releases"],
    )
    def test_another_run(self, part: Any, change: dict[str, Any]) -> None:
        plan: dict[str, Any] = {"mechanism": LAPLACE, "sampler": SAMPLERS["poisson"], "domain": BALL}
        one, other = SampledRun(**plan), SampledRun(**{**plan, **change})
        with pytest.raises(InvalidValue) as caught:
            _ = part.of(one, data()) + part.of(other, data())
        assert caught.value.parameter == "run"
        with pytest.raises(InvalidValue) as caught:
            part.of(one, data()).finish(other)
        assert caught.value.parameter == "run"
        part.of(one, data()).finish(SampledRun(**plan))

    @pytest.mark.parametrize(
        ("parameter", "other"),
        [
            ("columns", lambda part, run: part.of(run, np.ones((2, 4)))),
            ("outside", lambda part, run: part.of(run, data(), Outside.DROP)),
            ("at", lambda part, run: part.of(run, data(), at=Delta("1e-6"))),
        ],
    )
    def test_other_options(self, part: Any, parameter: str, other: Callable[[Any, Any], Any]) -> None:
        run, _ = RUNS["poisson"]
        with pytest.raises(InvalidValue) as caught:
            _ = part.of(run, data()) + other(part, run)
        assert caught.value.parameter == parameter

    def test_another_kind_of_part(self, part: Any) -> None:
        run, _ = RUNS["poisson"]
        (other,) = set(KINDS.values()) - {part}
        with pytest.raises(InvalidType):
            _ = part.of(run, data()) + other.of(run, data())
        with pytest.raises(InvalidValue, match="the form"):
            part.from_bytes(other.of(run, data()).to_bytes())

    def test_every_changed_byte(self, part: Any) -> None:
        content = part.of(RUNS["poisson"][0], data()[:3]).to_bytes()
        for place in range(len(content)):
            damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
            with pytest.raises(InvalidValue, match="bytes that are not whole"):
                part.from_bytes(damaged)
        for end in (0, 1, len(content) // 2, len(content) - 1):
            with pytest.raises(InvalidValue, match="bytes that are not whole"):
                part.from_bytes(content[:end])
        with pytest.raises(InvalidType):
            part.from_bytes("text")

    def test_its_text_shows_nothing(self, part: Any) -> None:
        one: Part[Any] = part.of(RUNS["poisson"][0], data())
        for shown in (repr(one), str(one), f"{one}", str(one.__reduce__()[0])):
            assert "60" not in shown
            assert "largest" not in shown


def test_other_grids_of_losses_are_refused() -> None:
    run, _ = RUNS["poisson"]
    with pytest.raises(InvalidValue) as caught:
        _ = LossesPart.of(run, data()) + LossesPart.of(run, data(), grid=Public((0.5, 1)))
    assert caught.value.parameter == "grid"


def test_faults_are_named_by_their_row_in_the_data_set() -> None:
    records = data()
    records[50] = 100
    run = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=PrivacyConstrained(target=Public("1.5")))
    with pytest.raises(InvalidValue, match="of record 50"):
        WeightsPart.of(run, records[40:], first=40, rows=3)


class TestSamples:
    @pytest.mark.slow
    @pytest.mark.parametrize("parts", [1, 4])
    def test_the_law_of_a_sample_does_not_depend_on_the_parts(self, parts: int) -> None:
        """χ² of how often each record was drawn in 1,000 samples, against its probability; seeds are fixed."""
        run = SampledRun(mechanism=LAPLACE, sampler=SAMPLERS["importance"], domain=BALL)
        pieces: list[Any] = []
        record_weights(run, data(), into=pieces.append)
        expected = np.concatenate([piece.probability for piece in pieces])
        held = np.sort(data().sum(axis=1))
        assert len(set(held)) == 60
        rounds, drawn = 1_000, np.zeros(60)
        keys = {tuple(row): number for number, row in enumerate(_within(data()))}
        for seed in range(rounds):
            made = [
                WeightsPart.of(run, some, coins=Coins.seeded(1_000 * seed + number))
                for number, some in enumerate(np.array_split(data(), parts))
            ]
            sample = merged(made).finish(run).reveal().sample
            assert sample is not None
            for row in sample.records:
                drawn[keys[tuple(row)]] += 1
        open_ = (expected > 0) & (expected < 1)
        assert np.array_equal(drawn[~open_], rounds * expected[~open_])
        rates = expected[open_]
        statistic = float(((drawn[open_] - rounds * rates) ** 2 / (rounds * rates * (1 - rates))).sum())
        free = np.count_nonzero(open_)
        assert statistic < free + 2 * np.sqrt(free * 13.9) + 2 * 13.9  # Laurent, Massart 2000: else below 10^-6
        assert statistic > free - 2 * np.sqrt(free * 13.9)

    def test_a_sample_travels_with_its_part(self) -> None:
        run, _ = RUNS["poisson"]
        part = WeightsPart.of(run, data(), coins=Coins.seeded(3))
        whole = record_weights(run, data(), coins=Coins.seeded(3)).reveal().sample
        sent = pickle.loads(pickle.dumps(part)).finish(run).reveal().sample
        assert whole is not None
        assert sent.records.tobytes() == whole.records.tobytes()
        assert sent.weights.tobytes() == whole.weights.tobytes()


def _within(records: Any) -> Any:
    everything = SampledRun(mechanism=LAPLACE, sampler=Poisson(rate=Public(1)), domain=BALL)
    sample = record_weights(everything, records, coins=Coins()).reveal().sample
    assert sample is not None
    return sample.records
