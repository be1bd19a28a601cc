"""Mechanisms that are a loss and nothing more, and records as the checker takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from attrs import field, frozen

from certdp import Coins, Public
from certdp.guarantees import Evidence
from certdp.pairs import PureLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, Expression, WeightedSample


@frozen(kw_only=True)
class AnyMechanism:
    """A mechanism of another distribution that declares the loss it is given."""

    about: ClassVar[About] = About(
        name="any-mechanism", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="a test"
    )
    declared: Public[PureLoss] = field()

    @property
    def loss(self) -> PureLoss:
        return self.declared.value

    def release(self, sample: WeightedSample, coins: Coins) -> Any:
        return sample.weights


def losing(loss: Expression) -> AnyMechanism:
    return AnyMechanism(declared=Public(PureLoss(loss)))


@frozen
class Rows:
    """Rows of plain floats."""

    rows: Sequence[Sequence[float]]

    @property
    def columns(self) -> int:
        return len(self.rows[0])

    def __iter__(self) -> Iterator[Sequence[float]]:
        return iter(self.rows)
