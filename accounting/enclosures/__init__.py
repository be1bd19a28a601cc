"""Enclosures: intervals that provably hold an exact number, and three-valued comparisons between them.

The trusted numeric base: exp and log come from integer series with a proven remainder, everything else from
correctly rounded arithmetic. Precision is an argument; there is no global state.
"""

from .decide import decide
from .enclosure import DEFAULT_PRECISION, Enclosure
from .norms import norm_enclosure
from .truth import Truth

__all__ = ["DEFAULT_PRECISION", "Enclosure", "Truth", "decide", "norm_enclosure"]
