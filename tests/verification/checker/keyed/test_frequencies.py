"""Rows of tokens and laws of delays against the definition and the stated rule, token by token."""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

import pytest

from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.keyed.frequencies import _Rule, _Run, prove_delays, prove_rows
from certdp.verification.checker.keyed.rates import EveryKey, ListedRates, Rates
from certdp.verification.checker.keyed.units import Units
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(96)


class Row(NamedTuple):
    """The units of a key of one frequency: not reported, and of every token there is."""

    unreported: int
    tokens: tuple[int, ...]

    @property
    def reported(self) -> int:
        return sum(self.tokens)

    def runs(self) -> list[_Run]:
        """The tokens of positive units, neighbours of equal units together."""
        found: list[_Run] = []
        for place, units in enumerate(self.tokens):
            if not units:
                continue
            if place and found and self.tokens[place - 1] == units:
                found[-1] = found[-1]._replace(width=found[-1].width + 1)
            else:
                found.append(_Run(place, 1, units))
        return found


class Law(NamedTuple):
    """The growth G and the allowance D in units of which C are certain."""

    bits: int
    growth: int
    allowance: int

    @property
    def certain(self) -> int:
        return 1 << self.bits

    @property
    def factor(self) -> Fraction:
        return Fraction(self.growth, self.certain)

    @property
    def units(self) -> Units:
        return Units(self.bits, self.growth, self.allowance)

    def near(self, one: Row, other: Row) -> bool:
        """Whether the definition holds for all sets of outcomes, both ways."""
        length = max(len(one.tokens), len(other.tokens))
        a, b = ((row.unreported, *row.tokens, *[0] * (length - len(row.tokens))) for row in (one, other))
        return all(
            sum(max(Fraction(0), p - self.factor * q) for p, q in zip(x, y, strict=True)) <= self.allowance
            for x, y in ((a, b), (b, a))
        )

    def next(self, row: Row, kept: int, columns: int) -> Row | None:
        """The row after this one by the rule, or None where the rule gives none."""
        growth, spare = self.factor, self.allowance
        least_withheld = ceil(max(0, self.certain - row.reported - spare) / growth)
        reported = min(
            kept,
            floor(growth * row.reported) + spare,
            self.certain - least_withheld,
            spare + sum(floor(growth * units) for units in row.tokens),
        )
        unreported = self.certain - reported
        left: Fraction = self.allowance - max(Fraction(0), row.unreported - growth * unreported)
        limits = list[int]()
        for units in row.tokens:
            if left > 0:
                limits.append(0 if left >= units else ceil((units - left) / growth))
                left = max(Fraction(0), left - units)
            else:
                limits.append(ceil(units / growth))
        rest = reported - sum(limits)
        if rest < 0:
            return None
        fresh = min(self.allowance, rest)
        rest -= fresh
        for place in reversed(range(len(limits))):
            raised = min(rest, floor(growth * row.tokens[place]) - limits[place])
            limits[place] += raised
            rest -= raised
        each, more = divmod(fresh, columns)
        new = [each] * (columns - more) + [each + 1] * more
        return Row(unreported, (*limits, *new))


def a_law(source: random.Random) -> Law:
    bits = source.randint(3, 9)
    growth = source.choice([2**bits, 2 ** (bits + 1), source.randint(2**bits, 2 ** (bits + 2))])
    return Law(bits, growth, source.choice([0, 1, 2, 5, source.randint(1, 2 ** (bits - 2)), 2**bits]))


def what_is_kept(source: random.Random, law: Law) -> list[int]:
    """Rising mostly, to an end or not."""
    kept, found = 0, list[int]()
    most = source.choice([law.certain, law.certain // 2])
    for _ in range(source.randint(1, 14)):
        kept = min(most, kept + source.choice([0, 1, law.allowance, source.randint(0, law.certain), most]))
        found.append(kept if source.random() < 0.9 else source.randint(0, law.certain))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_those_of_the_rule_token_by_token(seed: int) -> None:
    source, steps = random.Random(seed), 0
    for _ in range(60):
        law, columns = a_law(source), 1 << source.randint(0, 3)
        rule, row = _Rule(law.units, columns, Budget()), Row(law.certain, ())
        for kept in what_is_kept(source, law):
            following = law.next(row, kept, columns)
            if following is None or not law.near(row, following):
                with pytest.raises(Refused):
                    rule.step(kept)
                break
            rule.step(kept)
            row = following
            assert (rule.unreported, rule.runs) == (row.unreported, row.runs()), (law, columns)
            assert row.reported <= kept
            steps += 1
    assert steps > 200


def changed(source: random.Random, law: Law, row: Row) -> Row:
    """A row that may follow, as units of the tokens there are and of new ones: near the definition's limits, or not."""
    after = list(row.tokens)
    for place, units in enumerate(after):
        low, high = ceil(units / law.factor), floor(law.factor * units)
        after[place] = max(0, source.choice([units, units, low, high, high + 1, low - 1]))
    return Row(source.randint(0, law.certain), tuple(after))


def rows_one_after_the_other(source: random.Random, law: Law, columns: int) -> tuple[Row, Row, int]:
    """Two rows, and the units that are fresh in the second."""
    before = law.next(Row(law.certain, ()), source.randint(0, law.certain), columns)
    assert before is not None
    while True:
        after = changed(source, law, before)
        fresh = source.choice([0, law.allowance, law.allowance + 1, source.randint(0, law.certain)])
        unreported = law.certain - after.reported - fresh + source.choice([0, 0, 0, 0, 0, 1, -1])
        if unreported >= 0:
            each, more = divmod(fresh, columns)
            new = [each] * (columns - more) + [each + 1] * more
            return before, Row(unreported, (*after.tokens, *new)), fresh


@pytest.mark.parametrize("seed", range(8))
def test_a_row_is_accepted_exactly_where_it_is_a_law_near_the_one_before(seed: int) -> None:
    """Whatever rule made it: units that add up, no more reported than kept, and the definition both ways."""
    source, seen = random.Random(seed), {True: 0, False: 0}
    for _ in range(250):
        law, columns = a_law(source), 1 << source.randint(0, 2)
        before, after, fresh = rows_one_after_the_other(source, law, columns)
        kept = source.choice([law.certain, after.reported, after.reported - 1])
        rule = _Rule(law.units, columns, Budget())
        rule.step(before.reported)
        changes = list[tuple[_Run, int]]()
        for place, (units, old) in enumerate(zip(after.tokens, before.tokens, strict=False)):
            run, was = changes[-1] if changes else (_Run(0, 0, -1), -1)
            if (run.units, was) == (units, old):
                changes[-1] = run._replace(width=run.width + 1), was
            else:
                changes.append((_Run(place, 1, units), old))
        true = law.near(before, after) and after.unreported + after.reported == law.certain and after.reported <= kept
        seen[true] += 1
        if true:
            rule._accept(changes, fresh, kept, after.unreported)
            assert (rule.unreported, rule.runs) == (after.unreported, after.runs())
        else:
            state = rule.unreported, rule.runs
            with pytest.raises(Refused):
                rule._accept(changes, fresh, kept, after.unreported)
            assert (rule.unreported, rule.runs) == state
    assert min(seen.values()) > 30


@pytest.mark.parametrize(
    ("before", "after", "most"),
    [(4, 0, 24), (4, 1, 12), (1, 4, 12), (1, 3, 6)],  # 6·(4 - 2·0), 6·(4 - 2·1), 6·(4 - 2·1), 6·(3 - 2·1)
)
def test_every_token_of_a_run_counts(before: int, after: int, most: int) -> None:
    """At a growth of 2, where what is not reported changes too little to tell."""
    for allowance in range(30):
        rule = _Rule(Units(6, 128, allowance), 1, Budget())
        rule.unreported, rule.runs = 64 - 6 * before, [_Run(0, 6, before)]
        changes, unreported = [(_Run(0, 6, after), before)], 64 - 6 * after
        if allowance >= most:
            rule._accept(changes, 0, 64, unreported)
        else:
            with pytest.raises(Refused, match="does not hold between frequencies"):
                rule._accept(changes, 0, 64, unreported)


def digest_of(rows: list[Row]) -> str:
    lines = (
        f"{row.unreported}:{';'.join(f'{run.first},{run.width},{run.units}' for run in row.runs())}\n" for row in rows
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def is_a_copy(law: Law, rows: list[Row], kept: list[int], period: int, columns: int) -> bool:
    """Whether the last row is the one of so many frequencies before, moved, and as many are kept since."""
    earlier = Row(law.certain, ()) if period == len(rows) else rows[-1 - period]
    moved = (*[0] * (period * columns), *earlier.tokens)
    return rows[-1] == Row(earlier.unreported, moved) and len(set(kept[-period:])) == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_table_of_rows_covers_what_its_end_says(seed: int) -> None:
    """No more kept than the rate, rows of the digest, and copies for ever only where the last one is a copy."""
    source, outcomes = random.Random(seed), dict[object, int]()
    for _ in range(120):
        law, columns = a_law(source), 1 << source.randint(0, 1)
        kept = what_is_kept(source, law)
        if source.random() < 0.6:
            kept += [kept[-1]] * source.choice([1, 2, 30])
        rows, row = list[Row](), Row(law.certain, ())
        for units in kept:
            following = law.next(row, units, columns)
            if following is None or not law.near(row, following):
                break
            row = following
            rows.append(row)
        if len(rows) < len(kept):
            continue
        low = [Fraction(max(kept[: place + 1]), law.certain) for place in range(len(kept))]
        listed = [
            min(Fraction(1), rate + source.choice([Fraction(0), Fraction(0), Fraction(1, 4 * law.certain)]))
            for rate in low
        ]
        listed = [max(listed[: place + 1]) for place in range(len(listed))]
        short = source.random() < 0.15
        place = source.randrange(len(listed))
        less = source.random() < 0.2 and kept[place] > max([0, *kept[:place]])
        if less:
            lower = Fraction(4 * kept[place] - 1, 4 * law.certain)
            listed[: place + 1] = [min(rate, lower) for rate in listed[: place + 1]]
        copies = [p for p in range(1, len(rows)) if is_a_copy(law, rows, kept, p, columns)]
        period = source.choice([None, None, *copies[:1], *copies[-1:], source.randint(1, len(rows) + 1), len(rows)])
        then = (
            source.choice(["shifted", "shifted", "constant", "absent"])
            if period
            else source.choice(["constant", "absent", "absent", "shifted"])
        )
        digest = digest_of(rows) if source.random() < 0.9 else "0" * 64
        table = {"kept": [*map(str, kept)], "digest": digest, "then": then, "period": period}
        every = not short and not less and source.random() < 0.3
        rates: Rates = EveryKey(FINE, Budget())
        if not every:
            texts = [*map(str, listed)][: len(listed) - short]
            if not texts:
                continue
            rates = ListedRates(texts, FINE, Budget())
        true = (
            (then == "shifted") == (period is not None)
            and (period is None or (period < len(rows) and is_a_copy(law, rows, kept, period, columns)))
            and not short
            and not less
            and digest == digest_of(rows)
        )
        key = (true, then)
        outcomes[key] = outcomes.get(key, 0) + 1
        if true:
            expected = len(kept) if then == "absent" else None
            assert prove_rows(table, rates, columns.bit_length() - 1, law.units) == expected, table
        else:
            with pytest.raises(Refused):
                prove_rows(table, rates, columns.bit_length() - 1, law.units)
    assert {(True, "shifted"), (False, "shifted"), (True, "absent"), (True, "constant")} < set(outcomes)


@pytest.mark.parametrize("seed", range(6))
def test_delays_are_accepted_exactly_where_their_law_moved_by_a_frequency_is_near_it(seed: int) -> None:
    """Over all tokens, of a law that adds up to 1 and has all columns."""
    source, seen = random.Random(seed), {True: 0, False: 0}
    for _ in range(300):
        law, subdivision = a_law(source), source.randint(0, 2)
        widths = source.choice(
            [w for w in ([1], [1, 1], [2], [1, 3], [3, 1], [4], [2, 2]) if sum(w) == 1 << subdivision]
        )
        if source.random() < 0.1:
            widths = [*widths, 1] if source.random() < 0.5 else widths[:-1]
        columns, left = list[list[int]](), law.certain
        for width in widths:
            units = list[int]()
            value = source.randint(0, max(1, law.allowance // (1 << subdivision)))
            while left >= width and len(units) < 40 and (width != widths[-1] or left):
                value = max(
                    0, min(left // width, source.choice([value, floor(law.factor * value), value + 1, value - 1]))
                )
                units.append(value)
                left -= width * value
                if not value and source.random() < 0.5:
                    break
            columns.append(units)
        if columns and columns[-1] and source.random() < 0.8 and left % widths[-1] == 0:
            columns[-1][-1] += left // widths[-1]
        total = sum(width * sum(units) for width, units in zip(widths, columns, strict=True))
        excess = [Fraction(0), Fraction(0)]
        for width, units in zip(widths, columns, strict=True):
            for old, new in zip((0, *units), (*units, 0), strict=True):
                excess[0] += width * max(Fraction(0), new - law.factor * old)
                excess[1] += width * max(Fraction(0), old - law.factor * new)
        true = sum(widths) == 1 << subdivision and total == law.certain and max(excess) <= law.allowance
        seen[true] += 1
        table = {
            "columns": [
                {"width": str(width), "units": [*map(str, units)]} for width, units in zip(widths, columns, strict=True)
            ]
        }
        if true:
            prove_delays(table, subdivision, law.units)
        else:
            with pytest.raises(Refused):
                prove_delays(table, subdivision, law.units)
    assert min(seen.values()) > 10


@pytest.mark.parametrize(
    ("period", "admitted"),
    [(None, True), (0, False), (-1, False), (1, True), (2**20, True), (2**20 + 1, False), (True, False), ("1", False)],
)
def test_a_period_is_a_number_of_rows(period: Any, admitted: bool) -> None:
    then = "constant" if period is None else "shifted"
    table = {"kept": ["1", "1"], "digest": "0" * 64, "then": then, "period": period}
    with pytest.raises(Refused, match="not those of the digest" if admitted else "period must be"):
        prove_rows(table, EveryKey(FINE, Budget()), 0, Units(8, 512, 64))


def test_no_row_is_a_copy_of_itself() -> None:
    """A period of 0 would go on for ever from any row after which as much is kept as before."""
    law = Law(8, 512, 64)
    row = law.next(Row(law.certain, ()), 64, 1)
    assert row is not None
    table = {"kept": ["64"], "digest": digest_of([row]), "then": "shifted", "period": 0}
    with pytest.raises(Refused, match="period"):
        prove_rows(table, EveryKey(FINE, Budget()), 0, law.units)


@pytest.mark.parametrize(
    "columns",
    [
        [{"width": "1", "units": ["1", "2", "-1", "1", "1"]}],
        [{"width": "2", "units": ["1", "1", "1"]}, {"width": "-1", "units": ["1", "1"]}],
        [{"width": "1", "units": [1, 1, 1, 1]}],
        [{"width": 1, "units": ["1", "1", "1", "1"]}],
        [{"width": "1", "units": ["1", "1", "1", "1"], "moved": "1"}],
        [{"width": "1", "units": ["01", "1", "1", "1"]}],
        {"width": "1", "units": ["1", "1", "1", "1"]},
    ],
)
def test_delays_have_whole_units_of_at_least_0(columns: Any) -> None:
    """Else what adds up to 1 would be no law: in quarters, neighbours one apart."""
    prove_delays({"columns": [{"width": "1", "units": ["1", "1", "1", "1"]}]}, 0, Units(2, 4, 4))
    with pytest.raises(Refused, match=r"inputs\.table"):
        prove_delays({"columns": columns}, 0, Units(2, 4, 4))


@pytest.mark.parametrize(
    "change",
    [
        {"kept": ["64", "-1"]},
        {"kept": [64, 64]},
        {"kept": "6"},
        {"digest": "0" * 63},
        {"digest": None},
        {"then": "kept"},
        {"further": 1},
        {"period": "1"},
    ],
)
def test_a_table_of_rows_has_its_shape(change: Any) -> None:
    law, rows = Law(8, 512, 64), list[Row]()
    for _ in range(2):
        row = law.next(rows[-1] if rows else Row(law.certain, ()), 64, 1)
        assert row is not None
        rows.append(row)
    table = {"kept": ["64", "64"], "digest": digest_of(rows), "then": "constant", "period": None}
    assert prove_rows(table, EveryKey(FINE, Budget()), 0, law.units) is None
    with pytest.raises(Refused, match=r"inputs\.table"):
        prove_rows(table | change, EveryKey(FINE, Budget()), 0, law.units)


def test_work_on_rows_is_paid_for_by_their_pieces() -> None:
    """Before a step, for what it goes through: the runs, three more, each with the bits of a unit."""
    units, budget = Units(12, 5000, 301), Budget(10**9)
    rule = _Rule(units, 4, budget)
    for kept in (300, 700, 1500):
        before, runs = budget.left, len(rule.runs)
        rule.step(kept)
        assert before - budget.left == (runs + 3) * (600 + 12)
