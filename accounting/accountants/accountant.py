"""What an accountant is: a way from the pairs of a run to one (ε, δ)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..loss_distribution.profile import Nearness
from ..notions import Notion
from ..pairs import Pair
from ..relations import Direction
from .trade_off import DeltaLaw
from .worst_pairs import Bounds, WorstPairs

Findings: TypeAlias = "Callable[[], tuple[Finding, ...]]"


@final
@frozen
class Finding:
    """A bound, and how it was found.

    Attributes:
        bounds: of ε or δ.
        notion: the one in which the releases were composed.
        theorems: what it rests on: composition first, then conversion.
        accountant: who found it.
        order: the Rényi order used, or None.
        orders: what each direction is bounded at, in the order of `Direction`; empty where there is no order.
    """

    bounds: Bounds
    notion: Notion[Any]
    theorems: tuple[Theorem, ...]
    accountant: Accountant
    order: Fraction | None = None
    orders: tuple[Fraction, ...] = ()
    _everyone: Findings = field(default=tuple, alias="everyone", eq=False, repr=False)

    @property
    def upper(self) -> Fraction:
        """The upper end of the enclosure: the bound that is proven."""
        return self.bounds.enclosure.upper

    @cached_property
    def compared(self) -> tuple[Finding, ...]:
        """What each accountant finds, where one was chosen among several; those not needed are asked only now."""
        return self._everyone()


class Accountant(ABC):
    """A way from the pairs of a whole run, fixed beforehand, to one (ε, δ).

    Accountants are values without state: they compare equal and can be used again.

    Attributes:
        name: as the command line knows it.
        theorems: all that it may rest on.
        lossless: whether its ends enclose what the pairs themselves lose, so that none of the others can undercut it.

    Guarantees: with the upper end of a finding every record of the run is protected, in both directions. A two-sided
    finding's lower end is proven to be at most the run's true ε at δ, or δ at ε.
    """

    name: ClassVar[str]
    theorems: ClassVar[tuple[Theorem, ...]]
    lossless: ClassVar[bool] = False

    @abstractmethod
    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """The smallest ε at δ that this accountant proves; None where nothing finite follows in its notion.

        Args:
            pairs: the run.
            delta: in [0, 1]; the bound holds for every number inside.
        """

    @abstractmethod
    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """The smallest δ at ε that this accountant proves, at most 1; None where its notion does not follow.

        Args:
            pairs: the run.
            epsilon: at least 0; the bound holds for every number inside.
        """

    def least_epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Fraction:
        """A number that the bound of `epsilon` is not below, where one is known sooner than the bound; 0 elsewhere."""
        return Fraction(0)

    def least_delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Fraction:
        """A number that the bound of `delta` is not below, where one is known sooner than the bound; 0 elsewhere."""
        return Fraction(0)

    def by_direction(self, pair: Pair) -> Mapping[Direction, DeltaLaw] | None:
        """δ(ε) of one pair in each direction, where this accountant proves it from both sides; else None."""
        return None

    def along(self, nearness: Nearness) -> Accountant:
        """Who is to be asked for δ at many ε of few runs, as near as that, where it is known sooner so.

        What it proves is proven as well. It keeps what it found, so it is no value: use it for one risk or picture.
        """
        return self

    def __str__(self) -> str:
        return self.name
