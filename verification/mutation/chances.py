"""Which guards are shown a mutant first: those that notice most for the time they take, as far as is known by then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import final

from attrs import define, field

from .killing import Guard
from .mutants import Mutant

_OVERHEAD = 0.01  # seconds that any guard takes
_SEEN, _NOTICED = 10.0, 0.5  # what is held of a guard that was not yet shown anything: one in twenty is noticed


@final
@define
class Chances:
    """What guards have noticed of the mutants of one module."""

    _shown: Counter[str] = field(factory=Counter)
    _noticed: Counter[str] = field(factory=Counter)
    _noticed_there: Counter[tuple[str, str]] = field(factory=Counter)

    def in_order(self, guards: Iterable[Guard], mutant: Mutant) -> list[Guard]:
        """The guards by what they cost for each mutant that they may be expected to notice."""

        def price(guard: Guard) -> float:
            noticed = _NOTICED + self._noticed[guard.name] + self._noticed_there[guard.name, mutant.place]
            return (guard.seconds + _OVERHEAD) * (_SEEN + self._shown[guard.name]) / noticed

        return sorted(guards, key=price)

    def learn(self, shown: Sequence[Guard], mutant: Mutant, *, noticed: bool) -> None:
        """Count the guards that a mutant was shown to; the last of them noticed it, or none."""
        self._shown.update(guard.name for guard in shown)
        if noticed and shown:
            self._noticed[shown[-1].name] += 1
            self._noticed_there[shown[-1].name, mutant.place] += 1
