"""What the threshold samplers share: their parameters (PWS Algorithm 1)."""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen

from ..accounting.provenance import Public
from ..plugins.contract import Real, named, non_negative, positive


@frozen(kw_only=True, field_transformer=named)
class ThresholdSampler:
    """Keeps a key of frequency i where u ≤ τ·i^p, u drawn for each key by itself.

    Args:
        threshold: τ > 0.
        power: p ≥ 0; by default 1. At 0 every key is kept with the same probability.
    """

    threshold: Real = field(converter=positive, metadata={"help": "τ > 0"})
    power: Real = field(
        default=Public(Fraction(1)), converter=non_negative, metadata={"help": "p ≥ 0 in f(i) = i^p; by default 1"}
    )
