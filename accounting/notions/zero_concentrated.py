"""Zero-concentrated differential privacy, ρ-zCDP, and its laws (Bun, Steinke 2016)."""

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
class ZeroConcentrated:
    """The bound of ρ-zCDP: D_α(P‖Q) ≤ ρα for every order α > 1, in both directions.

    Attributes:
        rho: an enclosure of a number ≥ 0; the guarantee holds with its upper end.
    """

    notion: ClassVar[Notion[ZeroConcentrated]]
    rho: Enclosure = field(validator=non_negative)

    def __str__(self) -> str:
        return f"ρ ≤ {self.rho.upper_float!r}"


def _compose(bounds: Sequence[ZeroConcentrated]) -> ZeroConcentrated:
    total = ZERO_CONCENTRATED.nothing.rho
    for bound in bounds:
        total = total + bound.rho
    return ZeroConcentrated(total)


def _group(bound: ZeroConcentrated, size: int) -> ZeroConcentrated:
    """Return the bound for a group of k records: k²ρ (Bun, Steinke 2016, Proposition 1.9)."""
    return ZeroConcentrated(bound.rho * group_size(size) ** 2)


def _implies(first: ZeroConcentrated, second: ZeroConcentrated) -> Truth:
    """The order of ρ: Gaussian laws have D_α = ρα at every order."""
    return first.rho.less_equal(second.rho)


ZERO_CONCENTRATED: Notion[ZeroConcentrated] = Notion(
    name="zero-concentrated",
    nothing=ZeroConcentrated(Enclosure.of(0)),
    compose=_compose,
    group=_group,
    implies=_implies,
    composition_theorem=Theorem("Bun, Steinke 2016", "Lemma 2.3"),
)
ZeroConcentrated.notion = ZERO_CONCENTRATED
