"""Enclosures: intervals that provably hold an exact number, and three-valued comparisons between them.

The trusted numeric base: exp and log come from integer series with a proven remainder, everything else from
correctly rounded arithmetic. Precision is an argument; there is no global state.
"""

from .constants import pi
from .decide import decide
from .enclosure import DEFAULT_PRECISION, Enclosure
from .error_function import erf, erfc, log_erfc
from .normal import log_normal_cdf, log_normal_survival, normal_cdf, normal_survival
from .norms import norm_enclosure
from .truth import Truth

__all__ = [
    "DEFAULT_PRECISION",
    "Enclosure",
    "Truth",
    "decide",
    "erf",
    "erfc",
    "log_erfc",
    "log_normal_cdf",
    "log_normal_survival",
    "norm_enclosure",
    "normal_cdf",
    "normal_survival",
    "pi",
]
