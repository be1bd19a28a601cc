"""Rényi differential privacy, (α, τ)-RDP, and its laws.

DPIS Definitions 2.3 and 2.4; Mironov 2017. Losses add at one order, which an adaptive sequence fixes beforehand
(Feldman, Zrnic 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

from attrs import Attribute, field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from ..errors import InvalidType, InvalidValue
from .notion import Notion
from .ranges import group_size, non_negative


def _above_one(_: object, attribute: Attribute[Fraction], value: Any) -> None:
    if not isinstance(value, Fraction):
        raise InvalidType(attribute.name, value, "a Fraction", "Write Order(value).value to read a number exactly")
    if value <= 1:
        raise InvalidValue(attribute.name, value, "an order α > 1")


@final
@frozen
class Renyi:
    """The bound of (α, τ)-Rényi DP: D_α(P‖Q) = log(E_Q[(P/Q)^α])/(α − 1) ≤ τ, in both directions.

    Attributes:
        order: α > 1, exact.
        tau: an enclosure of a number ≥ 0; the guarantee holds with its upper end.
    """

    notion: ClassVar[Notion[Renyi]]
    order: Fraction = field(validator=_above_one)
    tau: Enclosure = field(validator=non_negative)

    def __str__(self) -> str:
        return f"(α, τ) ≤ ({self.order}, {self.tau.upper_float!r})"


def _compose(bounds: Sequence[Renyi]) -> Renyi:
    """Sums of τ at the common order. A loss of 0 is 0 at every order: it asks for none."""
    losing = [bound for bound in bounds if bound.tau.upper > 0]
    if not losing:
        return max([RENYI.nothing, *bounds], key=lambda bound: bound.order)
    order, total = losing[0].order, RENYI.nothing.tau
    for bound in losing:
        if bound.order != order:
            raise InvalidValue(
                "order",
                bound.order,
                f"{order}, the order of the first loss",
                "Rényi losses add at one order only: evaluate every loss at a common order, then compose",
            )
        total = total + bound.tau
    return Renyi(order, total)


def _group(bound: Renyi, size: int) -> Renyi:
    """(α/2^c, 3^c·τ) for at most 2^c units, where α ≥ 2^{c+1} (Mironov 2017, Proposition 2): the order falls."""
    steps = group_size(size)
    if steps == 0 or bound.tau.upper == 0:
        return Renyi(bound.order, RENYI.nothing.tau)
    halvings = (steps - 1).bit_length()
    least = 2 ** (halvings + 1)
    if halvings and bound.order < least:
        raise InvalidValue(
            "order",
            bound.order,
            f"an order ≥ {least} for groups of {steps}",
            "Each doubling of the group halves the order: start from a higher one, or convert to zero-concentrated or "
            "approximate DP first",
        )
    return Renyi(bound.order / 2**halvings, bound.tau * 3**halvings)


def _implies(first: Renyi, second: Renyi) -> Truth:
    """D_α grows with α, so a bound entails the same one at lower orders.

    What it does not entail: Gaussian laws have D_α ∝ α, which refutes τ' < τα'/α at lower orders, and leaves a gap
    that stays undecided; at higher orders laws with D_α ≤ τ reach every D_α', unless τ = 0, where the laws are equal.
    """
    if first.tau.upper == 0:
        return Truth.TRUE
    if second.order > first.order:
        return Truth.FALSE if first.tau.lower > 0 else Truth.UNDECIDED
    if first.tau.less_equal(second.tau) is Truth.TRUE:
        return Truth.TRUE
    reached = first.tau * (second.order / first.order)
    return Truth.FALSE if reached.greater(second.tau) is Truth.TRUE else Truth.UNDECIDED


RENYI: Notion[Renyi] = Notion(
    name="Rényi",
    nothing=Renyi(Fraction(2), Enclosure.of(0)),  # equal laws: 0 at one order is 0 at every order
    compose=_compose,
    group=_group,
    implies=_implies,
    composition_theorem=Theorem("Mironov 2017", "Proposition 1"),
)
Renyi.notion = RENYI
