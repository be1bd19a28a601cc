"""What the threshold samplers share: their parameters (PWS Algorithm 1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from attrs import field, frozen

from ..accounting.frequency_reporting import Inclusion
from ..accounting.provenance import Declared, Public
from ..plugins.contract import Real, named, non_negative, positive
from .listings import Listing, listing_if_given


@frozen(kw_only=True, field_transformer=named)
class ThresholdSampler(ABC):
    """Keeps a key of frequency i where u ≤ τ·f(i), u drawn for each key by itself.

    Args:
        threshold: τ > 0.
        power: p ≥ 0 in f(i) = i^p; by default 1. At 0 every key is kept with the same probability.
        sizes: f(1), f(2), …, f(m) in place of a power: any public function that does not fall. A frequency beyond m is
            refused, unless the mechanism has a public largest frequency.

    Raises:
        InvalidValue: for sizes that fall, with the first that does, and for sizes beside a power.
    """

    threshold: Real = field(converter=positive, metadata={"help": "τ > 0"})
    power: Real = field(
        default=Public(Fraction(1)), converter=non_negative, metadata={"help": "p ≥ 0 in f(i) = i^p; by default 1"}
    )
    sizes: Declared[Listing] | Public[None] = field(
        default=Public(None), converter=listing_if_given, metadata={"help": "f(1),f(2),… with commas, none falling"}
    )

    def __attrs_post_init__(self) -> None:
        _ = self.inclusion  # what cannot be a sampler is refused here

    @property
    @abstractmethod
    def inclusion(self) -> Inclusion:
        """q_i."""

    @property
    def _listed(self) -> tuple[Fraction, ...] | None:
        given = self.sizes.value
        return None if given is None else given.numbers
