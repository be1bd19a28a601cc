"""For each law of samplers of keys, sanitisers and claims a plugin that breaks it, and is rejected by that law."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from attrs import evolve, field, frozen

from certdp.accounting.derivation import Evidence
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.keyed.reporting import (
    Corner,
    DyadicBudget,
    FrequencyRow,
    Inclusion,
    KeyTable,
    PoissonPps,
    Reporting,
)
from certdp.accounting.pairs import FinitePair
from certdp.accounting.relations import ELEMENT
from certdp.accounting.units import Delta, Epsilon
from certdp.plugins.conformance import Outcome, Verdict, check
from certdp.plugins.contract import CONTRACT_VERSION, About, Case, Claim, Expectation, Finding, Real, named, positive

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

ABOUT = About(
    name="odd", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="nowhere", unit=ELEMENT
)
RIGHT = PoissonPps(threshold=Fraction(1, 20))


def outcome(plugin: object, law: str) -> Outcome:
    (found,) = check(plugin, only=law).outcomes
    return found


# Samplers of keys


class OddInclusion(Inclusion):
    """What `RIGHT` says, but for what a subclass says otherwise."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        return RIGHT.rate(frequency, precision=precision)

    def units(self, frequency: int, bits: int) -> int:
        return RIGHT.units(frequency, bits)

    def attached(self, budget: DyadicBudget, frequency: int) -> int | None:
        return RIGHT.attached(budget, frequency)

    def corners(self, bits: int, first: int, last: int | None) -> tuple[Corner, ...]:
        return RIGHT.corners(bits, first, last)


class Falling(OddInclusion):
    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        return Enclosure.of(1, precision=precision) / (frequency + 1)


class OneMore(OddInclusion):
    def units(self, frequency: int, bits: int) -> int:
        return RIGHT.units(frequency, bits) + 1


class SettledAtOnce(OddInclusion):
    def settled(self, bits: int) -> int | None:
        return 1


class CornersTooLow(OddInclusion):
    def corners(self, bits: int, first: int, last: int | None) -> tuple[Corner, ...]:
        return tuple(Corner(before, after // 2) for before, after in RIGHT.corners(bits, first, last))


class AlwaysAttached(OddInclusion):
    """A jump at frequency 20, which it does not own up to."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        return Enclosure.of(Fraction(1, 1000) if frequency < 3 else Fraction(1, 2), precision=precision)

    def units(self, frequency: int, bits: int) -> int:
        return Inclusion.units(self, frequency, bits)

    def attached(self, budget: DyadicBudget, frequency: int) -> int | None:
        return None


class NegativeFarOut(OddInclusion):
    def units(self, frequency: int, bits: int) -> int:
        return -1 if frequency > 1 << 50 else RIGHT.units(frequency, bits)


def key_sampler(made: Inclusion) -> type:
    @frozen(kw_only=True, field_transformer=named)
    class Odd:
        about: ClassVar[About] = ABOUT
        scale: Real = field(converter=positive)

        @property
        def inclusion(self) -> Inclusion:
            return made

    return Odd


@pytest.mark.parametrize(
    ("law", "inclusion", "reason"),
    [
        ("rates", Falling(), "at least"),
        ("units", OneMore(), "units of 2^-"),
        ("settled", SettledAtOnce(), "the most"),
        ("corners", CornersTooLow(), "below the line"),
        ("attached", AlwaysAttached(), "not beyond"),
        ("extreme-frequencies", NegativeFarOut(), "a probability"),
    ],
)
def test_a_wrong_sampler_of_keys(law: str, inclusion: Inclusion, reason: str) -> None:
    found = outcome(key_sampler(inclusion), law)
    assert found.verdict is Verdict.FAILED
    assert reason in found.reason
    assert found.witness["constants"] == "scale=1"
    assert outcome(key_sampler(OddInclusion()), law).verdict is Verdict.PASSED


# Sanitisers


@frozen(kw_only=True)
class OddReporting(Reporting):
    """The rows of a table, changed one by one; by default not at all."""

    table: KeyTable
    change: Callable[[FrequencyRow], FrequencyRow]
    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion
    budget: DyadicBudget

    @property
    def with_frequencies(self) -> bool:
        return False

    def comparisons(self) -> Iterator[Any]:
        return self.table.comparisons()

    def _walk(self) -> Any:
        return self.table._walk()

    def at(self, frequencies: Iterable[int]) -> Iterator[FrequencyRow]:
        return map(self.change, self.table.at(frequencies))

    def dominating_pair(self) -> FinitePair:
        return self.table.dominating_pair()


class Equal(OddReporting):
    """Says that nothing can be told."""

    def dominating_pair(self) -> FinitePair:
        return FinitePair((Fraction(1), Fraction(0)), (Fraction(1), Fraction(0)))


class Calls:
    made = 0


def unchanged(row: FrequencyRow) -> FrequencyRow:
    return row


def one_unit_more(row: FrequencyRow) -> FrequencyRow:
    return evolve(row, unreported=row.unreported + 1)


def drifting(row: FrequencyRow) -> FrequencyRow:
    Calls.made += 1
    return evolve(row, unreported=row.unreported - Calls.made)


def sanitiser(
    change: Callable[[FrequencyRow], FrequencyRow] = unchanged, kind: type[OddReporting] = OddReporting, excess: int = 0
) -> type:
    """Reports at ε + `excess`, and says that it is ε."""

    @frozen(kw_only=True, field_transformer=named)
    class Odd:
        about: ClassVar[About] = ABOUT
        scale: Real = field(converter=positive)

        def reporting(self, inclusion: Inclusion) -> Reporting:
            delta = Delta("0.01")
            table = KeyTable(epsilon=Epsilon(1 + excess), delta=delta, inclusion=inclusion)
            return kind(
                table=table, change=change, epsilon=Epsilon(1), delta=delta, inclusion=inclusion, budget=table.budget
            )

    return Odd


@pytest.mark.parametrize(
    ("law", "plugin", "reason"),
    [
        ("rows", sanitiser(one_unit_more), "in all"),
        ("neighbours", sanitiser(excess=2), "at most 0.01"),
        ("domination", sanitiser(kind=Equal), "of the pair"),
        ("repeats", sanitiser(drifting), "FrequencyRow"),
        ("extreme-frequencies", sanitiser(one_unit_more), "in all"),
    ],
)
def test_a_wrong_sanitiser(law: str, plugin: type, reason: str) -> None:
    found = outcome(plugin, law)
    assert found.verdict is Verdict.FAILED
    assert reason in found.reason
    assert found.witness["constants"].startswith("scale=1; after ")
    assert outcome(sanitiser(), law).verdict is Verdict.PASSED


def test_a_budget_beyond_the_option() -> None:
    @frozen(kw_only=True, field_transformer=named)
    class Generous:
        about: ClassVar[About] = ABOUT
        epsilon: Real = field(converter=positive)

        def reporting(self, inclusion: Inclusion) -> Reporting:
            return KeyTable(epsilon=Epsilon(2 * self.epsilon.value), delta=Delta("0.1"), inclusion=inclusion)

    found = outcome(Generous, "promise")
    assert found.verdict is Verdict.FAILED
    assert "as its option says" in found.reason


def test_a_sanitiser_that_refuses_everything() -> None:
    def refusing(row: FrequencyRow) -> FrequencyRow:
        raise InvalidValue("row", row.frequency, "none")

    found = check(sanitiser(refusing))
    assert [failure.law for failure in found.failures] == ["reports"]


# Claims


def numbers() -> SearchStrategy[Case]:
    from hypothesis import strategies

    return strategies.fixed_dictionaries({"number": strategies.integers(0, 9)})


def claim(identifier: str, holds: Callable[[int], bool], **more: Any) -> Claim:
    def examine(case: Case) -> Finding:
        return Finding(holds(case["number"]), "one", "other")

    stated = {"statement": "Nobody 2026, Lemma 1", "says": "a number", **more}
    return Claim(id=identifier, cases=numbers, examine=examine, **stated)


def changing(number: int) -> bool:
    Calls.made += 1
    return Calls.made % 2 == 0


@pytest.mark.parametrize(
    ("law", "claims", "reason"),
    [
        ("words", (claim("odd/one", bool), claim("odd/one", bool)), "odd/one twice"),
        ("words", (claim("odd/one", bool, says=" "),), "a statement and a line"),
        ("expectations", (claim("odd/one", lambda number: number < 5),), "witness {'number': 5}"),
        ("expectations", (claim("odd/one", lambda _: True, expectation=Expectation.REJECTED),), "no witness"),
        ("repeats", (claim("odd/one", changing),), "Finding"),
    ],
)
def test_wrong_claims(law: str, claims: tuple[Claim, ...], reason: str) -> None:
    found = outcome(claims, law)
    assert found.verdict is Verdict.FAILED
    assert reason in found.reason
    assert outcome((claim("odd/one", lambda _: True),), law).verdict is Verdict.PASSED
