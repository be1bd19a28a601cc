"""Readings of what a run costs at the released values that its parameters came out as.

Another value could have been released, and cost another ε: such a reading is no guarantee. It composes with nothing
and has no certificate; it tells an analyst what happened, as ex-post privacy does (Ligett, Neel, Roth, Waggoner, Wu
2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from attrs import field, frozen

from ..accounting.accountants import BEST, Accountant, Bounds
from ..accounting.derivation import EX_POST
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType
from ..accounting.provenance import Payment
from ..accounting.sampling.every_value import ExPost
from ..accounting.units import Delta, Epsilon, Order
from .run import Interval, Run


@final
@frozen(kw_only=True)
class ExPostReading:
    """What a run cost, given what was released before it; no guarantee.

    Attributes:
        quantity: what was read: ε, δ or τ, with what it was read at.
        bounds: of it, at the released values; what their releases cost is contained.
        given: the released parameters and their values.
    """

    quantity: str
    bounds: Interval
    given: Mapping[str, str]

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.given.items())
        return f"{self.quantity}: {self.bounds.upper!r} given {given} (ex post, no guarantee: others could come out)"


@final
@frozen
class ExPostRun:
    """A run whose bounds move with released parameters, read at the values that came out.

    Args:
        run: with at least one released parameter, such as SampledRun, KeyedRun or a Plan.

    Raises:
        InvalidType: for a run without released parameters, whose bounds are guarantees.
    """

    _run: Run[Any] = field(alias="run")

    def __attrs_post_init__(self) -> None:
        if not isinstance(self._run, Run):
            raise InvalidType("run", self._run, "a run of releases, such as SampledRun or a Plan")
        if self._run.as_it_came_out is self._run:
            raise InvalidType("run", self._run.named[1], "a run with released parameters", "Ask the run itself")

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What the releases of the parameters cost, each once."""
        return self._run.payments

    @property
    def given(self) -> Mapping[str, str]:
        """The released parameters and the values that they came out as."""
        return self._run.released_values

    def pure(self) -> ExPostReading:
        """The pure ε; raises as the run's own."""
        return self._reading("ε", self._run.as_it_came_out.pure().bound.epsilon)

    def renyi(self, order: Order) -> ExPostReading:
        """τ at an order; raises as the run's own."""
        return self._reading(f"τ at order {order}", self._run.as_it_came_out.renyi(order).bound.tau)

    def epsilon(self, delta: Delta, *, accountant: Accountant = BEST) -> ExPostReading:
        """The smallest proven ε at δ; raises as the run's own."""
        answer = self._run.as_it_came_out.epsilon(delta, accountant=accountant)
        return ExPostReading(quantity=f"ε at δ = {delta}", bounds=answer.epsilon, given=self.given)

    def delta(self, epsilon: Epsilon, *, accountant: Accountant = BEST) -> ExPostReading:
        """The smallest proven δ at ε; raises as the run's own."""
        answer = self._run.as_it_came_out.delta(epsilon, accountant=accountant)
        return ExPostReading(quantity=f"δ at ε = {epsilon}", bounds=answer.delta, given=self.given)

    def _reading(self, quantity: str, value: Enclosure) -> ExPostReading:
        bounds = Interval.of(Bounds(value, two_sided=False))
        return ExPostReading(quantity=quantity, bounds=bounds, given=self.given)


def refuse_reading(run: object) -> None:
    """Refuse a run at released values as they came out, for a verdict or a search that rests on guarantees alone.

    Raises:
        ExPost: for such a run.
    """
    match run:
        case ExPostRun():
            raise ExPost.about(", ".join(run.given))
        case Run() if run.derivation.rests_on(EX_POST):
            raise ExPost.about(", ".join(run.released_values) or run.named[0])
