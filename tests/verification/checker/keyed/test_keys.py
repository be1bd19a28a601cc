"""What is reported of keys alone, against the definition: outcome by outcome, frequency by frequency on stretches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import ceil, comb, exp, floor, inf
from typing import Any, NamedTuple

import pytest

from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.keyed.composed import Releases
from certdp.verification.checker.keyed.keys import prove_keys
from certdp.verification.checker.keyed.rates import EveryKey, ListedRates, Powers, Pps, Ppswor, Rates
from certdp.verification.checker.keyed.units import Units
from certdp.verification.checker.verdict import Refused

MARGIN = 2  # units by which a drawn rate may lie below the stated one
REFUSED = -1
FAR = 20  # a frequency that no list reaches


class Scheme(NamedTuple):
    """Rates that a list states, or 1 for ever."""

    listed: tuple[Fraction, ...] | None
    bits: int
    growth: int
    allowance: int

    def rate(self, frequency: int) -> Fraction:
        if not frequency:
            return Fraction(0)
        return Fraction(1) if self.listed is None else self.listed[frequency - 1]

    @property
    def last(self) -> float:
        return inf if self.listed is None else len(self.listed)

    @property
    def factor(self) -> Fraction:
        return Fraction(self.growth, 2**self.bits)

    def near(self, before: int, after: int) -> bool:
        """Whether neither outcome is more likely by more than the growth and the allowance, in units."""
        certain = 2**self.bits
        return all(
            one * certain <= self.growth * other + self.allowance * certain
            for a, b in ((before, after), (after, before))
            for one, other in ((a, b), (certain - a, certain - b))
        )

    def verdict(self, table: Any) -> int | None:
        """The last frequency covered, None for all, or `REFUSED`."""
        frequency, before, attached = 0, [0], True
        for segment in table["segments"]:
            for text in segment.get("reported", ()):
                frequency, reported = frequency + 1, int(text)
                if frequency > self.last or reported > floor(self.rate(frequency) * 2**self.bits):
                    return REFUSED
                if not all(self.near(units, reported) for units in before):
                    return REFUSED
                before = [reported]
                attached = reported + MARGIN >= ceil(self.rate(frequency) * 2**self.bits)
            if "kept_through" in segment:
                first, frequency = frequency + 1, segment["kept_through"]
                if not (attached and first <= frequency <= self.last):
                    return REFUSED
                if not all(may_rise(self, i) for i in range(first, frequency + 1)):
                    return REFUSED
                kept = floor(self.rate(frequency) * 2**self.bits)
                before = list(range(max(0, kept - MARGIN), kept + 1))
        if table["then"] == "kept" and not (
            self.listed is None and attached and all(may_rise(self, frequency + k) for k in (1, 2))
        ):
            return REFUSED
        return frequency if table["then"] == "absent" else None

    def neighbours(self, table: Any) -> Iterator[tuple[int, int]]:
        """Units of every two neighbouring rows, however what is kept on stretches is rounded; of an admitted table."""
        frequency, before = 0, range(1)
        for segment in table["segments"]:
            for text in segment.get("reported", ()):
                yield from product(before, [int(text)])
                frequency, before = frequency + 1, range(int(text), int(text) + 1)
            while frequency < segment.get("kept_through", 0):
                frequency += 1
                after = roundings(self, self.rate(frequency))
                yield from product(before, after)
                before = after
        if table["then"] == "kept":
            yield from product(before, roundings(self, self.rate(frequency + 1)))

    def composed(self, table: Any, epsilon: Fraction, delta: float, times: int) -> bool:
        """Whether so many releases are proven to be within the claim."""
        releases = Releases(epsilon, Fraction(delta), times, (Fraction(0), Fraction(0)), Budget())
        return self.checked(table, releases) != REFUSED

    def checked(self, table: Any, releases: Releases | None = None) -> int | None:
        arithmetic = Arithmetic(self.bits + 64)
        rates: Rates = EveryKey(arithmetic, Budget())
        if self.listed is not None:
            rates = ListedRates([str(rate) for rate in self.listed], arithmetic, Budget())
        try:
            return prove_keys(table, rates, Units(self.bits, self.growth, self.allowance), releases)
        except Refused:
            return REFUSED


@cache
def may_rise(scheme: Scheme, frequency: int) -> bool:
    """Whether all of a frequency may be reported after all of the one before, each up to the margin below."""
    unit, before, after = Fraction(1, 2**scheme.bits), scheme.rate(frequency - 1), scheme.rate(frequency)
    spare, margin = scheme.allowance * unit, MARGIN * unit
    may = (
        after - scheme.factor * before <= spare - scheme.factor * margin
        and (1 - before) - scheme.factor * (1 - after) <= spare - margin
    )
    if may:  # this is the rule; and what it admits satisfies the definition however rates are rounded
        assert all(scheme.near(one, other) for one in roundings(scheme, before) for other in roundings(scheme, after))
    return may


def roundings(scheme: Scheme, rate: Fraction) -> range:
    """What may be reported where all that is kept is: the rate in units, less up to the margin."""
    units = rate * 2**scheme.bits
    return range(max(0, ceil(units - MARGIN)), floor(units) + 1)


def rates_near_the_limits(source: random.Random, bits: int, growth: int, allowance: int) -> tuple[Fraction, ...]:
    """Steps in fourths of a unit: as high as a stretch admits, a little off it, or anywhere."""
    step, factor, found = Fraction(1, 2 ** (bits + 2)), Fraction(growth, 2**bits), [Fraction(0)]
    for _ in range(source.randint(1, 6)):
        before = found[-1]
        highest = min(
            factor * before + (allowance - MARGIN * factor) / 2**bits,
            1 - (1 - before - Fraction(allowance - MARGIN, 2**bits)) / factor,
        )
        wanted = source.choice([highest, highest, highest, before, Fraction(source.randint(0, 2**bits), 2**bits)])
        wanted += source.choice([0, 0, 0, -1, 1, 2]) * step
        found.append(min(Fraction(1), max(before, floor(wanted / step) * step)))
    return tuple(found[1:])


def a_scheme(source: random.Random) -> Scheme:
    bits = source.randint(3, 6)
    growth = source.choice([2**bits, 2 ** (bits + 1), source.randint(2**bits, 2 ** (bits + 2))])
    allowance = source.choice([*range(7), source.randint(2, 2 ** (bits - 1)), 2**bits])
    listed = rates_near_the_limits(source, bits, growth, allowance) if source.random() < 0.85 else None
    return Scheme(listed, bits, growth, allowance)


def a_table(source: random.Random, scheme: Scheme) -> Any:
    """Mostly what may go on, as far as it may; ending in whatever."""
    table: Any = {"segments": [], "then": "absent"}
    frequency, end = 0, FAR if scheme.listed is None else len(scheme.listed)
    for _ in range(source.randint(0, 7)):
        kept = floor(scheme.rate(min(frequency + 1, end)) * 2**scheme.bits)
        if source.random() < 0.3:
            last = source.choice([frequency, frequency + 1, frequency + 2, end, end + 1])
            further: Any = {"kept_through": max(1, last)}
        else:
            rows = (kept, kept - 1, kept - 2, kept - 3, kept + 1, kept // 2, source.randint(0, 2**scheme.bits))
            falling = (units for units in range(kept, -1, -1) if admitted(scheme, table, {"reported": [str(units)]}))
            highest = next(falling, 0)
            reported = source.choice([highest, highest, highest, highest - 1, highest + 1, *rows])
            further = {"reported": [str(max(0, reported))]}
        if source.random() < 0.85 and not admitted(scheme, table, further):
            continue
        table["segments"].append(further)
        frequency = further.get("kept_through", frequency + 1)
    table["then"] = source.choice(["kept", "kept", "constant", "absent"])
    return table


def admitted(scheme: Scheme, table: Any, further: Any) -> bool:
    return scheme.verdict(table | {"segments": [*table["segments"], further]}) != REFUSED


def test_all_that_is_kept_may_be_nothing() -> None:
    """And no less than that: after a rate of 0 a row is within the allowance of none."""
    for bits, growth, allowance in ((4, 16, 3), (4, 32, 5), (6, 100, 7)):
        scheme = Scheme((Fraction(0), Fraction(1)), bits, growth, allowance)
        for more in (-1, 0, 1, 2):
            table = {"segments": [{"kept_through": 1}, {"reported": [str(allowance + more)]}], "then": "absent"}
            assert scheme.checked(table) == scheme.verdict(table) == (2 if more <= 0 else REFUSED)


@pytest.mark.parametrize("seed", range(12))
def test_a_table_is_proven_exactly_where_every_two_neighbours_satisfy_the_definition(seed: int) -> None:
    source, outcomes = random.Random(seed), list[int | None]()
    for _ in range(150):
        scheme = a_scheme(source)
        table = a_table(source, scheme)
        outcomes.append(scheme.verdict(table))
        assert scheme.checked(table) == outcomes[-1], (scheme, table)
    assert {REFUSED, None} < set(outcomes)


def apart(before: float, after: float, times: int, epsilon: Fraction) -> float:
    """The larger divergence of so many draws with these chances, by how many of them came out."""
    factor = exp(epsilon)
    laws = [[comb(times, j) * p**j * (1 - p) ** (times - j) for j in range(times + 1)] for p in (before, after)]
    return max(
        sum(max(0.0, p - factor * q) for p, q in zip(one, other, strict=True)) for one, other in (laws, laws[::-1])
    )


@pytest.mark.parametrize("seed", range(12))
def test_releases_are_within_what_is_proven_of_them(seed: int) -> None:
    """At no less than the worst two rows lose; of a table without stretches at just that."""
    source, tight, loose = random.Random(100 + seed), 0, 0
    for _ in range(200):
        scheme = a_scheme(source)
        table = a_table(source, scheme)
        if scheme.verdict(table) == REFUSED:
            continue
        times, epsilon = source.choice([1, 2, 5]), source.choice([Fraction(0), Fraction(1, 3), Fraction(2)])
        pairs = {(one / 2**scheme.bits, other / 2**scheme.bits) for one, other in scheme.neighbours(table)}
        worst = max((apart(*pair, times, epsilon) for pair in pairs), default=0.0)
        assert worst < 1e-9 or not scheme.composed(table, epsilon, worst - 1e-9, times), (scheme, table)
        assert scheme.composed(table, epsilon, 1.0, times)
        stretches = table["then"] == "kept" or any("kept_through" in one for one in table["segments"])
        if not stretches:
            tight += 1
            assert scheme.composed(table, epsilon, min(worst + 1e-9, 1.0), times), (scheme, table)
        else:
            loose += scheme.composed(table, epsilon, min(2 * worst + times * 8 / 2**scheme.bits, 0.99), times)
    assert tight > 20
    assert loose


@pytest.mark.parametrize("times", [1, 4, 30])
def test_a_stretch_of_a_sampler_loses_what_its_worst_frequency_does(times: int) -> None:
    """In units as fine as they are drawn, to a part in 10^9 on either side."""
    bits, epsilon = 80, Fraction(1, 10)
    units = Units(bits, 2 ** (bits + 1), 2**bits // 2)
    arithmetic = Arithmetic(bits + 64)
    even = [Fraction(i, 40) + Fraction(1, 20) for i in range(37)]
    jumps = [[Fraction(i, 100) + (Fraction(1, 2) if i > at else 0) for i in range(37)] for at in (3, 20, 33)]
    schemes: list[tuple[Any, Any]] = [
        (partial(Ppswor, Fraction(1, 10), Powers(Fraction(1))), lambda i: 1 - exp(-i / 10)),
        (partial(Ppswor, Fraction(1, 10), Powers(Fraction(1, 2))), lambda i: 1 - exp(-(i**0.5) / 10)),
        (partial(Pps, Fraction(1, 50), Powers(Fraction(1))), lambda i: min(1.0, i / 50)),
        *(
            (partial(ListedRates, list(map(str, each[1:]))), [0.0, *map(float, each[1:])].__getitem__)
            for each in [even, *jumps]
        ),
    ]
    for scheme, rate in schemes:
        worst = max(apart(rate(i - 1), rate(i), times, epsilon) for i in range(1, 37))
        for factor, holds in ((1 + 1e-9, True), (1 - 1e-9, False)):
            releases = Releases(epsilon, Fraction(factor * worst), times, (Fraction(0), Fraction(0)), Budget())
            table = {"segments": [{"kept_through": 36}], "then": "absent"}
            try:
                found: int | None = prove_keys(table, scheme(arithmetic, Budget()), units, releases)
            except Refused:
                found = REFUSED
            assert found == (36 if holds else REFUSED), (scheme, factor)
