"""The norms that features, sensitivities and public domains are stated in."""

from __future__ import annotations

from enum import Enum


class Norm(Enum):
    """A norm on records: ℓ1, ℓ2 or ℓ∞. The value is its name in certificates and on the command line."""

    L1 = "1"
    L2 = "2"
    LINF = "inf"

    def __str__(self) -> str:
        return self.value
