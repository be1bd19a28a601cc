"""The types of the laws that a pair may know."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from ..enclosures import Enclosure
from ..loss_distribution.cells import Cells
from ..loss_distribution.transforms import Transform
from ..relations import Direction

PureLaw: TypeAlias = Callable[[Direction], Enclosure]
"""The smallest ε with P ≤ e^ε Q (REMOVE) or Q ≤ e^ε P (ADD)."""

DeltaLaw: TypeAlias = Callable[[Enclosure, Direction], Enclosure]
"""The hockey-stick divergence δ(ε) = sup_Y P(Y) − e^ε Q(Y) for ε ≥ 0, or with P and Q swapped.

Raises InvalidValue for an ε that reaches below 0.
"""

RenyiLaw: TypeAlias = Callable[[Fraction, Direction], Enclosure]
"""The Rényi divergence τ(α) of order α > 1 of P from Q, or of Q from P; InvalidValue for α ≤ 1."""

RenyiEstimate: TypeAlias = Callable[[float, Direction], float]
"""About τ(α), quickly: it tells a search where to look and proves nothing."""

LossTransform: TypeAlias = Callable[[Direction], Transform]
"""The moments of the privacy loss on vertical lines, with proven errors."""

LossCells: TypeAlias = Callable[[Direction], Cells]
"""Laws of the privacy loss, above and below, that can be cut at the points of a lattice."""
