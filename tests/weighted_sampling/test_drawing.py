"""Draws of reports: the exact law by enumeration of random words, and many draws against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta

from certdp import Coins, Delta, Epsilon
from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.errors import CertdpError, InvalidValue
from certdp.accounting.keyed.reporting import (
    EveryKey,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
    Reporting,
    Run,
)
from certdp.accounting.keyed.reporting.budget import DyadicBudget
from certdp.accounting.keyed.reporting.reporting import Origin, Walk
from certdp.sampling import Probability
from certdp.weighted_sampling import drawing
from certdp.weighted_sampling.drawing import (
    Drawn,
    ReportDrawer,
    ReportThinner,
    distinct_counts,
    draw_reports,
    sanitise_reports,
    uniform,
)
from tests.support.cases import examples

WORD = 1 << 64
RARE = 1e-9  # with which a right law fails one comparison

TINY = DyadicBudget(epsilon=Epsilon(1), delta=Delta("0.5"))


class Listed:
    """A source of random bits that gives what it was told to."""

    private = True

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)
        self.given = 0

    def bits(self, count: int) -> NDArray[np.uint64]:
        self.given += count
        return np.array([next(self._words, 0) for _ in range(count)], dtype=np.uint64)


@frozen(kw_only=True)
class Written(Reporting):
    """Rows that are written out: units out of 2^bits, not private."""

    runs: dict[int, tuple[Run, ...]]
    bits: int
    with_tokens: bool = True
    inclusion: Inclusion = field(factory=EveryKey)
    epsilon: Epsilon = field(factory=lambda: TINY.epsilon)
    delta: Delta = field(factory=lambda: TINY.delta)
    largest: int | None = None
    budget: DyadicBudget = field(factory=lambda: TINY)

    @property
    def with_frequencies(self) -> bool:
        return self.with_tokens

    def comparisons(self) -> NoReturn:
        raise NotImplementedError

    def _walk(self) -> Walk:
        return self

    def origin(self, frequency: int) -> Origin:
        return Origin(frequency, 0)

    def to(self, frequency: int) -> FrequencyRow:
        runs = self.runs[frequency]
        reported = sum(run.mass for run in runs)
        return FrequencyRow(
            frequency=frequency,
            bits=self.bits,
            subdivision=0,
            kept=1 << self.bits,
            unreported=(1 << self.bits) - reported,
            runs=runs,
        )


def counts(*values: int) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


def placed(drawn: Drawn) -> list[int | None]:
    """The token of each key, None for those that are not reported."""
    tokens = iter(drawn.tokens.tolist())
    found = [next(tokens) if kept else None for kept in drawn.kept]
    assert next(tokens, None) is None
    return found


def walked(runs: Sequence[Run], value: int) -> Run | None:
    """The run that owns a number, one token after the other."""
    for run in runs:
        if value < run.mass:
            return run
        value -= run.mass
    return None


RUNS = (Run(0, 1, 3), Run(2, 3, 2), Run(5, 1, 10))  # 19 of 64


@pytest.mark.parametrize("low", [0, 1, (1 << 58) - 1])
def test_the_exact_law_of_one_row(low: int) -> None:
    words = [(value << 58) + low for value in range(64)]
    table = Written(runs={7: RUNS}, bits=6)
    coins = Coins(Listed([*words, *range(6)]))  # the six draws of the wide run choose its tokens in turn
    drawn = placed(draw_reports(table, counts(*[7] * 64), coins))
    assert Counter(drawn) == {None: 45, 0: 3, 2: 2, 3: 2, 4: 2, 5: 10}
    keys = Written(runs={7: RUNS}, bits=6, with_tokens=False)
    found = draw_reports(keys, counts(*[7] * 64), Coins(Listed(words)))
    assert found.kept.tolist() == [value < 19 for value in range(64)]
    assert found.tokens.tolist() == [0] * 19


@pytest.mark.parametrize("together", [0, 3, 1 << 20])
@pytest.mark.parametrize("low", [0, 1])
def test_the_exact_laws_of_rows_that_are_drawn_at_once(
    low: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each word is tried once in each row; with low bits 0 those at edges are ties, which their own row decides."""
    monkeypatch.setattr(drawing, "_TOGETHER", together)
    rows: dict[int, tuple[Run, ...]] = {
        2: (Run(0, 1, 3), Run(1, 1, 5)),
        3: (),  # nothing is reported
        5: (Run(0, 1, 1), Run(3, 1, 40), Run(4, 1, 2)),
        9: (Run(8, 1, 64),),
    }
    words = [(value << 58) + low for value in range(64)]
    keys = np.random.default_rng(1).permutation(np.repeat(counts(*rows), 64))
    reporting = [frequency for frequency, runs in rows.items() if runs]
    drawn = placed(draw_reports(Written(runs=rows, bits=6), keys, Coins(Listed(words * len(reporting)))))
    for frequency, runs in rows.items():
        found = Counter(token for token, own in zip(drawn, keys.tolist(), strict=True) if own == frequency)
        expected: Counter[int | None] = Counter({run.first: run.units for run in runs})
        expected[None] = 64 - expected.total()
        assert found == +expected


@pytest.mark.parametrize("with_tokens", [False, True])
@pytest.mark.parametrize("reported", [0, 1, 63, 64, 65, 1000 * 64 + 17, (1 << 70) - 1, 1 << 70])
def test_ties_of_the_leading_bits_are_decided_by_further_ones(reported: int, with_tokens: bool) -> None:
    """70 bits: each word stands for 64 numbers, and those of a tie are all gone through."""
    runs = (Run(0, 1, reported),) if reported else ()
    table = Written(runs={1: runs}, bits=70, with_tokens=with_tokens)
    for lead in sorted({min(max(0, (reported >> 6) + shift), WORD - 1) for shift in (-1, 0, 1)}):
        expected = sum(value < reported for value in range(lead << 6, (lead + 1) << 6))
        found = 0
        for rest in range(64):
            source = Listed([lead, (rest << 58) | rest])  # whichever end of the word is used
            found += int(draw_reports(table, counts(1), Coins(source)).kept.sum())
        assert found == expected


@pytest.mark.parametrize("with_tokens", [False, True])
def test_sanitising_draws_below_the_units_of_the_sampler(with_tokens: bool) -> None:
    """3/8 are sampled: of 64 words 48 are below that, and of these 38 below 19/64; the other 16 are drawn anew."""
    inclusion = ListedRates((Probability("3/8"),))
    table = Written(runs={1: (Run(0, 1, 19),)}, bits=6, inclusion=inclusion, with_tokens=with_tokens)
    words = [(value << 58) + 1 for value in range(64)]  # no ties: those take further words
    source = Listed([*words, *[1, WORD - 1] * 8, *[(47 << 58) + 1] * 8])
    drawn = sanitise_reports(table, counts(*[1] * 64), Coins(source))
    assert Fraction(3, 8) * Fraction(38, 48) == Fraction(19, 64)
    assert drawn.kept.tolist()[:48] == [value < 38 for value in range(48)]
    assert drawn.kept.tolist()[48:] == [True, False] * 8
    assert source.given == 64 + 16 + 8


@pytest.mark.parametrize("with_tokens", [False, True])
def test_a_key_sampled_less_often_than_reported_is_refused(with_tokens: bool) -> None:
    inclusion = ListedRates((Probability("1/4"),))
    table = Written(runs={1: (Run(0, 1, 17),)}, bits=6, inclusion=inclusion, with_tokens=with_tokens)
    with pytest.raises(CertdpError, match="sampled less often"):
        sanitise_reports(table, counts(1), Coins())


@given(st.integers(1, WORD), st.data())
def test_uniform_tokens(size: int, data: st.DataObject) -> None:
    """A word is taken modulo the size, and drawn anew from the largest multiple of the size on."""
    multiple = WORD // size * size
    edges = [word for word in (0, size - 1, size, multiple - 1, multiple, WORD - 1) if word < WORD]
    word = data.draw(st.sampled_from(edges) | st.integers(0, WORD - 1))
    source = Listed([word, size - 1])
    (drawn,) = uniform(np.array([size - 1], dtype=np.uint64), Coins(source)).tolist()
    assert drawn == (word % size if word < multiple else size - 1)
    assert source.given == (0 if size == 1 else 1 if word < multiple else 2)


def test_uniform_tokens_of_different_sizes_keep_their_places() -> None:
    spans = np.array([0, 4, 0, (1 << 64) - 1, 1], dtype=np.uint64)
    drawn = uniform(spans, Coins(Listed([7, WORD - 1, 3]))).tolist()
    assert drawn == [0, 2, 0, WORD - 1, 1]
    again = uniform(spans, Coins(Listed([WORD - 1, 5, 3, 9]))).tolist()  # 2^64 − 1 is beyond 5 · ⌊2^64/5⌋
    assert again == [0, 4, 0, 5, 1]


def inclusions() -> st.SearchStrategy[Inclusion]:
    return st.sampled_from(
        [EveryKey(), Ppswor(threshold="0.3"), PoissonPps(threshold="0.07", power="0.5"), PoissonPps(threshold="0.25")]
    )


@examples(30)
@given(
    st.fractions("1/10", 2, max_denominator=20),
    st.sampled_from(["1e-3", "0.05", "0.5"]),
    inclusions(),
    st.integers(1, 12),
    st.data(),
)
def test_draws_of_real_tables_follow_their_rows(
    epsilon: Fraction, delta: str, inclusion: Inclusion, frequency: int, data: st.DataObject
) -> None:
    """K ≤ 62: a word holds a whole number of the table, so which token it gives is known from the row."""
    budget: dict[str, Any] = {"epsilon": Epsilon(epsilon), "delta": Delta(delta)}
    noise = FrequencyNoise(**budget, subdivision=0)
    tables: list[Reporting] = [kind(**budget, inclusion=inclusion) for kind in (KeyTable, FrequencyTable)]
    for reporting in (*tables, noise):
        row, bits = reporting.row(frequency), reporting.budget.bits
        runs: Sequence[Run] = row.runs
        if reporting is noise:  # delays go from the highest token downwards
            runs = [Run(one, 1, run.units) for run in reversed(runs) for one in _downwards(run)]
        ends = list(accumulate((run.mass for run in runs), initial=0))
        near = [end + shift for end in ends for shift in (-1, 0) if 0 <= end + shift < 1 << bits]
        values = data.draw(st.lists(st.sampled_from(near) | st.integers(0, (1 << bits) - 1), min_size=1, max_size=5))
        words = [value << 64 - bits for value in values]
        coins = Coins(Listed([*words, *[0] * 9]))  # of a wide run the first token
        drawn = placed(draw_reports(reporting, counts(*[frequency] * len(values)), coins))
        owners = [walked(runs, value) for value in values]
        assert drawn == [None if owner is None else owner.first for owner in owners]


@pytest.mark.parametrize("draw", [draw_reports, sanitise_reports])
def test_every_key_has_the_row_of_its_own_frequency(draw: Any) -> None:
    """The number 0 gives the first token of a row, and no delay."""
    frequencies = np.random.default_rng(5).choice([1, 2, 3, 7, 30, 31, 32, 33, 10**6, 1 << 50], 300).astype(np.uint64)
    budget: dict[str, Any] = {"epsilon": Epsilon(1), "delta": Delta("0.1")}
    table = FrequencyTable(**budget, inclusion=PoissonPps(threshold="0.25"), subdivision=3)
    first = {frequency: table.row(frequency).runs[0].first for frequency in set(frequencies.tolist())}
    drawn = placed(draw(table, frequencies, Coins(Listed([]))))
    assert drawn == [first[frequency] for frequency in frequencies.tolist()]
    noise = FrequencyNoise(**budget, subdivision=3)
    assert placed(draw(noise, frequencies, Coins(Listed([])))) == [8 * n - 1 for n in frequencies.tolist()]


def _downwards(run: Run) -> range:
    return range(run.end - 1, run.first - 1, -1)


def consistent(hits: int, trials: int, probability: float) -> bool:
    """Whether the exact interval of Clopper and Pearson (1934) holds the probability."""
    low = beta.ppf(RARE / 2, hits, trials - hits + 1) if hits else 0.0
    high = beta.ppf(1 - RARE / 2, hits + 1, trials - hits) if hits < trials else 1.0
    return bool(low <= probability <= high)


BUDGET: dict[str, Any] = {"epsilon": Epsilon("0.5"), "delta": Delta("1e-2")}
TABLES = {
    "keys": KeyTable(**BUDGET, inclusion=Ppswor(threshold="0.1")),
    "table": FrequencyTable(**BUDGET, inclusion=Ppswor(threshold="0.1"), subdivision=2),
    "noise": FrequencyNoise(**BUDGET),
    "coarse noise": FrequencyNoise(**BUDGET, subdivision=0),
}


def in_two_steps(reporting: Reporting, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
    """Kept by their names in two places, and reported in one."""
    thinner, by_name = ReportThinner(reporting), NamedCoins(coins.source.bits(4).tobytes())
    names = [str(place).encode() for place in range(len(counts))]
    half = len(counts) // 2
    places = (slice(half), slice(half, None))
    kept = np.concatenate([thinner.kept(names[place], counts[place], by_name) for place in places])
    drawn = thinner.reported(counts[kept], coins)
    kept[kept] = drawn.kept
    return Drawn(kept, drawn.tokens)


def test_hardly_any_key_is_kept_that_is_not_reported() -> None:
    for reporting in TABLES.values():
        frequencies = np.tile(np.array([1, 2, 5, 9, 20, 40], dtype=np.uint64), 500)
        thinner, coins = ReportThinner(reporting), NamedCoins.fresh()
        kept = frequencies[thinner.kept([str(place).encode() for place in range(3000)], frequencies, coins)]
        assert 0 < len(kept) < 3000
        assert thinner.reported(kept, Coins()).kept.all()  # but for one in 2^200


@pytest.mark.parametrize("draw", [draw_reports, in_two_steps])
@pytest.mark.parametrize("name", TABLES)
def test_a_million_draws(name: str, draw: Any, stream: int) -> None:
    reporting = TABLES[name]
    frequencies = np.tile(np.array([1, 2, 5, 9, 20, 40], dtype=np.uint64), 170_000)
    drawn = draw(reporting, frequencies, Coins.seeded(stream))
    tokens = np.zeros(len(frequencies), dtype=np.uint64)
    tokens[drawn.kept] = drawn.tokens
    for frequency in (1, 2, 5, 9, 20, 40):
        row, here = reporting.row(frequency), frequencies == frequency
        trials = int(here.sum())
        assert consistent(int(drawn.kept[here].sum()), trials, float(row.probability))
        reported = tokens[here & drawn.kept]
        if len(reported):
            assert reported.max() < row.runs[-1].end
        for token in {row.runs[len(row.runs) // 2].first, row.runs[-1].end - 1} if row.runs else ():
            above = Fraction(row.units_from(token), 1 << row.bits)
            assert consistent(int((reported >= token).sum()), trials, float(above))


@pytest.mark.parametrize("name", ["keys", "table"])
def test_sampled_then_sanitised_draws(name: str, stream: int) -> None:
    """A key that was kept with q_i is reported with π_i/q_i."""
    reporting = TABLES[name]
    for frequency in (2, 9, 20):
        trials = 30_000
        drawn = sanitise_reports(
            reporting, np.full(trials, frequency, dtype=np.uint64), Coins.seeded(1000 * stream + frequency)
        )
        ratio = reporting.row(frequency).probability / Fraction(reporting.inclusion.drawn(frequency), 1 << 256)
        assert consistent(int(drawn.kept.sum()), trials, float(ratio))


def test_a_table_without_sampling_is_sanitised_as_in_one_pass() -> None:
    frequencies = np.arange(1, 60, dtype=np.uint64)
    for reporting in (TABLES["noise"], KeyTable(**BUDGET)):
        one, other = (draw(reporting, frequencies, Coins.seeded(3)) for draw in (draw_reports, sanitise_reports))
        assert placed(one) == placed(other)


def test_certain_keys_are_always_reported_whatever_the_word() -> None:
    for reporting in (KeyTable(**BUDGET), FrequencyNoise(**BUDGET), FrequencyTable(**BUDGET)):
        for word in (0, WORD - 1):
            assert draw_reports(reporting, counts(1000), Coins(Listed([word] * 99))).kept.all()


def test_tokens_up_to_the_last_that_fits() -> None:
    reporting = FrequencyNoise(**BUDGET, subdivision=60)
    (token,) = draw_reports(reporting, counts(16), Coins(Listed([0] * 9))).tokens.tolist()
    assert token == WORD - 1  # no delay
    with pytest.raises(InvalidValue, match=r"at most 2\^64/2\^r with r = 60"):
        draw_reports(reporting, counts(17), Coins())
    huge = 1 << 53
    (token,) = draw_reports(FrequencyNoise(**BUDGET, subdivision=11), counts(huge), Coins(Listed([0] * 9))).tokens
    assert int(token) == WORD - 1


@pytest.mark.parametrize("draw", [draw_reports, sanitise_reports, in_two_steps])
def test_bad_counts_are_refused(draw: Any) -> None:
    for reporting in TABLES.values():
        for bad in (counts(3, 0), counts((1 << 53) + 1), np.array([1, 2]), np.array([[1]], dtype=np.uint64)):
            with pytest.raises(InvalidValue, match="counts: got"):
                draw(reporting, bad, Coins())
    listed = KeyTable(**BUDGET, inclusion=ListedRates((Probability("0.1"), Probability("0.2"))))
    with pytest.raises(InvalidValue, match="at most 2, the last that has a rate"):
        draw(listed, counts(2, 3), Coins())


def test_no_keys_are_no_draws() -> None:
    for reporting in TABLES.values():
        for draw in (draw_reports, sanitise_reports):
            source = Listed([])
            drawn = draw(reporting, counts(), Coins(source))
            assert (drawn.kept.size, drawn.tokens.size, source.given) == (0, 0, 0)
            assert (str(drawn.kept.dtype), str(drawn.tokens.dtype)) == ("bool", "uint64")


@pytest.mark.parametrize("name", TABLES)
def test_frequencies_beyond_a_public_largest_one_count_as_that(name: str) -> None:
    reporting = TABLES[name].capped(9)
    words = np.arange(999, dtype=np.uint64) << np.uint64(54)
    capped, plain = (
        draw_reports(table, np.full(999, frequency, dtype=np.uint64), Coins(Listed([*words.tolist(), *range(999)])))
        for table, frequency in ((reporting, 1 << 50), (TABLES[name], 9))
    )
    assert 0 < capped.kept.sum() < 999
    assert placed(capped) == placed(plain)


def test_what_was_sampled_by_its_own_frequency_is_sanitised_by_the_capped_one(stream: int) -> None:
    """A key of frequency 40 was kept with q_40 and is reported with π_9: with π_9/q_40."""
    for name in ("keys", "table"):
        reporting = TABLES[name].capped(9)
        drawn = sanitise_reports(reporting, np.full(50_000, 40, dtype=np.uint64), Coins.seeded(stream + 77))
        ratio = reporting.row(9).probability / Fraction(reporting.inclusion.drawn(40), 1 << 256)
        assert consistent(int(drawn.kept.sum()), 50_000, float(ratio))
        other = reporting.row(9).probability / Fraction(reporting.inclusion.drawn(9), 1 << 256)
        assert not consistent(int(drawn.kept.sum()), 50_000, float(other))


def test_rates_that_end_and_a_public_largest_frequency() -> None:
    inclusion = ListedRates((Probability("0.1"), Probability("0.2")))
    for reporting in (KeyTable(**BUDGET, inclusion=inclusion), FrequencyTable(**BUDGET, inclusion=inclusion)):
        assert draw_reports(reporting.capped(2), counts(1, 3, 99), Coins()).kept.size == 3
        with pytest.raises(InvalidValue, match="at most 2, the last that has a rate"):
            sanitise_reports(reporting.capped(2), counts(1, 3, 99), Coins())


def test_rows_that_repeat_serve_many_frequencies(stream: int) -> None:
    """Beyond 4 every key is kept: rows of a table repeat, moved, whatever the frequency."""
    reporting = FrequencyTable(epsilon=Epsilon(1), delta=Delta("0.1"), inclusion=PoissonPps(threshold="0.25"))
    for frequency in (60, 61, 10**6 + 7, (1 << 53) - 1):
        drawn = draw_reports(reporting, np.full(20_000, frequency, dtype=np.uint64), Coins.seeded(stream + frequency))
        row = reporting.row(frequency)
        assert consistent(int(drawn.kept.sum()), 20_000, float(row.probability))
        for run in row.runs:
            hits = int(((drawn.tokens >= run.first) & (drawn.tokens < run.end)).sum())
            assert consistent(hits, 20_000, float(Fraction(run.mass, 1 << row.bits)))


@given(st.lists(st.integers(1, 1 << 53) | st.integers(1, 9) | st.integers((1 << 20) - 3, (1 << 20) + 3), max_size=30))
def test_distinct_counts(values: list[int]) -> None:
    found, places = distinct_counts(counts(*values))
    assert found == sorted(set(values))
    assert [found[place] for place in places] == values


@pytest.mark.parametrize("largest", [None, 12])
def test_keys_in_chunks_are_drawn_as_each_chunk_by_itself(largest: int | None) -> None:
    table = FrequencyTable(**BUDGET, inclusion=Ppswor(threshold="0.3"), subdivision=3, largest=largest)
    drawer, generator = ReportDrawer(table), np.random.default_rng(8)
    one, other = Coins.seeded(4), Coins.seeded(4)
    for size in (1, 0, 30_000, 500, 10_000):
        chunk = generator.integers(1, 80, size).astype(np.uint64)
        found, expected = drawer.draw(chunk, one), draw_reports(table, chunk, other)
        assert np.array_equal(found.kept, expected.kept)
        assert np.array_equal(found.tokens, expected.tokens)
