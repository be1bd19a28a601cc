"""Gaussian differential privacy, μ-GDP, and its laws (Dong, Roth, Su 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from .notion import Notion
from .ranges import group_size, non_negative


@final
@frozen
class GaussianDP:
    """The bound of μ-GDP: neighbours are no easier to tell apart than N(0, 1) and N(μ, 1).

    Attributes:
        mu: an enclosure of a number ≥ 0; the guarantee holds with its upper end.
    """

    notion: ClassVar[Notion[GaussianDP]]
    mu: Enclosure = field(validator=non_negative)

    def __str__(self) -> str:
        return f"μ ≤ {self.mu.upper_float!r}"


def _compose(bounds: Sequence[GaussianDP]) -> GaussianDP:
    """√(μ₁² + … + μ_T²); a single one is left as it is, to cost no rounding."""
    losses = [bound.mu for bound in bounds if bound.mu.upper > 0]
    if len(losses) == 1:
        return GaussianDP(losses[0])
    squares = GAUSSIAN_DP.nothing.mu
    for mu in losses:
        squares = squares + mu.square()
    return GaussianDP(squares.sqrt())


def _group(bound: GaussianDP, size: int) -> GaussianDP:
    """kμ (Dong, Roth, Su 2022, Theorem 2.14)."""
    return GaussianDP(bound.mu * group_size(size))


def _implies(first: GaussianDP, second: GaussianDP) -> Truth:
    return first.mu.less_equal(second.mu)


GAUSSIAN_DP: Notion[GaussianDP] = Notion(
    name="Gaussian",
    nothing=GaussianDP(Enclosure.of(0)),
    compose=_compose,
    group=_group,
    implies=_implies,
    composition_theorem=Theorem("Dong, Roth, Su 2022", "Corollary 3.3"),
)
GaussianDP.notion = GAUSSIAN_DP
