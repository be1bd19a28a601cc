"""Limits on what a run costs in Rényi, zero-concentrated or Gaussian DP, which a calibration takes for a budget."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from attrs import evolve, frozen

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, known_keywords
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Bound, GaussianDP, Renyi, ZeroConcentrated
from .calibration import Limit, nats

_NAMES: Mapping[type[Bound], str] = {Renyi: "tau", ZeroConcentrated: "rho", GaussianDP: "mu"}


@final
@frozen(kw_only=True)
class BoundCost:
    """What a run is found to cost in a notion.

    Attributes:
        guarantee: the proven statement.
    """

    guarantee: Guarantee[Any, Any, Any]

    @property
    def statement(self) -> str:
        """The bound in words."""
        return str(self.guarantee.bound)


@final
@known_keywords
@frozen(kw_only=True)
class BoundLimit(Limit[BoundCost]):
    """A run costs at most so much in Rényi DP at an order, in zero-concentrated or in Gaussian DP.

    Attributes:
        bound: what it may cost: `Renyi`, `ZeroConcentrated` or `GaussianDP`; the lower end of its number counts.

    Raises:
        InvalidType: for a bound in another notion; `Budget` is a limit on (ε, δ).
    """

    bound: Bound

    def __attrs_post_init__(self) -> None:
        if type(self.bound) not in _NAMES:
            raise InvalidType("bound", self.bound, "a bound in Rényi, zero-concentrated or Gaussian DP", "Use Budget")

    def cost_of(self, run: Any) -> BoundCost:
        """What a run costs in the notion."""
        match self.bound:
            case Renyi(order):
                return BoundCost(guarantee=run.renyi(order))
            case ZeroConcentrated():
                return BoundCost(guarantee=run.zero_concentrated())
        return BoundCost(guarantee=run.gaussian())

    def excess(self, answer: BoundCost) -> float:
        """By how many nats it is exceeded."""
        return nats(self._number(answer.guarantee.bound).upper, self._number(self.bound).lower)

    def refuted(self, answer: BoundCost) -> bool:
        """Return False: the bounds of these notions are proven from above alone."""
        return False

    def times(self, proven: Mapping[str, Fraction]) -> Fraction:
        """Return how many times the limit is what a certificate proves."""
        return proven[_NAMES[type(self.bound)]] / self._number(self.bound).lower

    def tightened(self, times: Fraction) -> BoundLimit:
        """Return the limit on so many times less."""
        name = _NAMES[type(self.bound)]
        less = Enclosure.of(self._number(self.bound).lower / times)
        bound: Any = self.bound
        return evolve(self, bound=evolve(bound, **{name: less}))

    def _number(self, bound: Bound) -> Enclosure:
        found: Enclosure = getattr(bound, _NAMES[type(self.bound)])
        return found

    def __str__(self) -> str:
        return str(self.bound)
