"""How a guarantee came about: theorem, premises and assumptions.

A derivation is produced by concluding a theorem (or a declaration of a plugin), never by naming a class: a
guard against mistakes, not against malice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import final

from attrs import field, frozen

from .display import EXACT_UP_TO, shorten
from .errors import InvalidValue


class Evidence(Enum):
    """How well a plugin's declared loss is supported; it travels with every guarantee."""

    PROVED = "proved"
    CITED = "cited"
    HEURISTIC = "heuristic"


@final
@frozen(order=True)
class Assumption:
    """A public constant or a condition that a guarantee rests on, by name and value.

    >>> print(Assumption("radius", "5"))
    radius = 5
    """

    name: str
    value: str = ""

    @property
    def exact(self) -> str:
        """The assumption in words, with every digit of its numbers."""
        return f"{self.name} = {self.value}" if self.value else self.name

    def __str__(self) -> str:
        return shorten(self.exact, EXACT_UP_TO)


REAL_VALUED_NOISE = Assumption("real-valued noise", "noise and the noisy result are rounded to binary64")
"""What a continuous mechanism assumes when it draws floats and adds them to a rounded sum."""
INDEPENDENT_CONTRIBUTIONS = Assumption(
    "contributions independent of the batch", "what a record adds is the same, bit for bit, whatever the other records"
)
"""What training assumes where a record's gradient comes from products of matrices in floats, whose rounding depends on
how many rows there are."""
NUMBER_OF_RECORDS = "number of records"
"""Names the assumption of how many records there are; under add/remove one of them may be missing, and no more."""
LEAST_NUMBER_OF_RECORDS, LARGEST_NUMBER_OF_RECORDS = "least number of records", "largest number of records"
"""Name the assumptions of how many there are at least, and at most."""

SEEDED_COINS = Assumption("seeded coins", "for experiments: whoever knows the seed can undo the noise")
"""The mark of a release that protects nobody; what rests on it has no certificate."""

CLIPPED_RECORDS = Assumption(
    "clipping", "every record is clipped to the norm bound to which the noise multiplier is relative"
)
"""What a noise multiplier assumes: it says nothing about a record that moves the sum further than that bound."""

STRATA_STAY = Assumption(
    "strata",
    "labels and bounds are public and fixed beforehand; a record replaced or zeroed out stays in its stratum",
)
"""What rates of public strata assume."""


@final
@frozen
class RecordCount:
    """How many records there may be, by what is assumed.

    Attributes:
        least: how many at least.
        most: how many at most; None for any number.
    """

    least: int = 0
    most: int | None = None

    @classmethod
    def assumed(cls, assumption: Assumption) -> RecordCount:
        """What an assumption says of it, whoever's it is; most say nothing."""
        name = assumption.name.rpartition(": ")[2]
        if name not in _OF_SIZES or not assumption.value.isdecimal():
            return ANY_COUNT
        count = int(assumption.value)
        return cls(
            0 if name == LARGEST_NUMBER_OF_RECORDS else count, None if name == LEAST_NUMBER_OF_RECORDS else count
        )

    @classmethod
    def common(cls, counts: Iterable[RecordCount]) -> RecordCount:
        """What holds of data of which each of these does.

        Raises:
            InvalidValue: where there are none, so that whatever rests on all of them would say nothing.
        """
        least, most = 0, None
        for count in counts:
            least = max(least, count.least)
            most = count.most if most is None else most if count.most is None else min(most, count.most)
            if most is not None and least > most:
                raise InvalidValue(
                    NUMBER_OF_RECORDS,
                    f"at least {least} by one release, and at most {most} by another",
                    "one number, of which every release of the same data speaks",
                    "State the same data_size in all of them",
                )
        return cls(least, most)


_OF_SIZES = (NUMBER_OF_RECORDS, LEAST_NUMBER_OF_RECORDS, LARGEST_NUMBER_OF_RECORDS)
ANY_COUNT = RecordCount()


class Derivation(ABC):
    """The reason for a guarantee; instances come from `Theorem.conclude` alone."""

    __slots__ = ()

    @property
    @abstractmethod
    def theorem(self) -> Theorem:
        """The theorem that was applied last."""

    @property
    @abstractmethod
    def premises(self) -> tuple[Derivation, ...]:
        """The derivations that the last theorem was applied to."""

    @property
    @abstractmethod
    def own_assumptions(self) -> tuple[Assumption, ...]:
        """What this step assumes, beside what its premises do."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """All assumptions, in order of first appearance, each once."""
        return tuple(dict.fromkeys(self._walk()))

    @property
    @abstractmethod
    def records(self) -> RecordCount:
        """How many records there may be, by all assumptions."""

    @property
    @abstractmethod
    def counted_by(self) -> object:
        """The account beside which alone this step holds, as it has counted what it states; None for all others."""

    def rests_on(self, theorem: Theorem) -> bool:
        """Whether `theorem` was applied anywhere in the derivation but below one that holds `whatever_is_paid`."""
        return any(step.theorem == theorem for step in self._steps())

    def holds_beside(self, account: object) -> bool:
        """Whether everything `CHOSEN` in it was counted by this account, itself and no copy; True where nothing was."""
        return all(step.counted_by is account for step in self._steps() if step.theorem == CHOSEN)

    def _steps(self) -> Iterator[Derivation]:
        """All of the derivation but what is below a theorem that holds `whatever_is_paid`."""
        left: list[Derivation] = [self]
        while left:
            found = left.pop()
            yield found
            if found.theorem not in _WHATEVER_IS_PAID:
                left.extend(found.premises)

    def about(self, whose: str) -> Derivation:
        """Return the derivation with its assumptions named as those of `whose`, beside assumptions of the same name."""
        return _Derived(
            self.theorem,
            tuple(premise.about(whose) for premise in self.premises),
            tuple(Assumption(f"{whose}: {assumed.name}", assumed.value) for assumed in self.own_assumptions),
            self.records,
            _Counter(self.counted_by),
        )

    def _walk(self) -> Iterator[Assumption]:
        for premise in self.premises:
            yield from premise.assumptions
        yield from self.own_assumptions

    def __str__(self) -> str:
        alike = Counter(map(str, self.premises))
        below = "; ".join(f"{text} (×{times})" if times > 1 else text for text, times in alike.items())
        return f"{self.theorem} ⇐ {below}" if below else str(self.theorem)


@final
class _Counter:
    """Holds an account, which is never copied: a copy and a pickle of this hold none."""

    def __init__(self, account: object = None) -> None:
        self.account = account

    def __reduce__(self) -> tuple[type[_Counter], tuple[()]]:
        return _Counter, ()


@final
@frozen(str=False)
class _Derived(Derivation):
    _theorem: Theorem
    _premises: tuple[Derivation, ...]
    _own_assumptions: tuple[Assumption, ...]
    _records: RecordCount = field(eq=False, repr=False)
    _counter: _Counter = field(factory=_Counter, eq=False, repr=False)

    @property
    def theorem(self) -> Theorem:
        return self._theorem

    @property
    def premises(self) -> tuple[Derivation, ...]:
        return self._premises

    @property
    def own_assumptions(self) -> tuple[Assumption, ...]:
        return self._own_assumptions

    @property
    def records(self) -> RecordCount:
        return self._records

    @property
    def counted_by(self) -> object:
        return self._counter.account


@final
@frozen
class Theorem:
    """A numbered statement or a named law that yields guarantees.

    Attributes:
        source: short name of the paper or "declaration".
        statement: number or name within the source.
    """

    source: str
    statement: str

    def __str__(self) -> str:
        return f"{self.source} {self.statement}"

    def conclude(self, premises: Iterable[Derivation] = (), assumptions: Iterable[Assumption] = ()) -> Derivation:
        """The derivation that applies this theorem to `premises`.

        Raises:
            InvalidValue: where no data have as many records as all of them assume.
        """
        below, own = tuple(premises), tuple(assumptions)
        known = [premise.records for premise in below] + [RecordCount.assumed(one) for one in own]
        return _Derived(self, below, own, RecordCount.common(known))


_WHATEVER_IS_PAID = set[Theorem]()


def whatever_is_paid(theorem: Theorem) -> Theorem:
    """The theorem of a filter, noted as one: what it concludes holds for costs that depend on what was released."""
    _WHATEVER_IS_PAID.add(theorem)
    return theorem


EX_POST = Theorem("law", "at released values as they came out, which filters and readings alone may take")
"""What a cost rests on that another released value would have changed; it is no guarantee and composes with nothing."""

CHOSEN = Theorem("law", "chosen from earlier releases of an adaptive run, whose filter has counted them")
"""What the cost of a parameter rests on that an adaptive run chose: it is nothing beside that run alone."""


def chosen_in(account: object, counted: Assumption) -> Derivation:
    """`CHOSEN` of what was released under an account.

    Args:
        account: what has counted the releases; by whom costs that rest on this may be paid, and by nobody else.
        counted: under which budget or plan.
    """
    return _Derived(CHOSEN, (), (counted,), ANY_COUNT, _Counter(account))
