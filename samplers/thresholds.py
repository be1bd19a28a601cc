"""What the threshold samplers share: their parameters (PWS Algorithm 1)."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from attrs import field, frozen

from ..accounting.keyed.reporting import PoissonPps, Ppswor
from ..accounting.provenance import Declared, Public
from ..plugins.contract import Real, named, non_negative, positive
from .listings import Listing, listing_if_given


@frozen(kw_only=True, field_transformer=named)
class ThresholdSampler:
    """Keeps a key of frequency i where u ≤ τ·f(i), u drawn for each key by itself.

    Args:
        threshold: τ > 0.
        power: p ≥ 0 in f(i) = i^p; by default 1. At 0 every key is kept with the same probability.
        sizes: f(1), f(2), …, f(m) in place of a power: any public function that does not fall. A frequency beyond m is
            refused, unless the mechanism has a public largest frequency.

    Raises:
        InvalidValue: for sizes that fall, with the first that does, and for sizes beside a power.

    Attributes:
        scheme: the law of u.
    """

    scheme: ClassVar[type[Ppswor | PoissonPps]]

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
    def inclusion(self) -> Ppswor | PoissonPps:
        """The inclusion probabilities q_i by frequency i, from the threshold."""
        return self._inclusion

    @cached_property
    def _inclusion(self) -> Ppswor | PoissonPps:
        listed = self.sizes.value
        return self.scheme(
            threshold=self.threshold.value,
            power=self.power.value,
            sizes=None if listed is None else listed.numbers,
        )
