"""Enclosures: intervals that provably hold an exact number, and three-valued comparisons between them.

The trusted numeric base: exp and log come from integer series with a proven remainder, everything else from
correctly rounded arithmetic. Precision is an argument; there is no global state.
"""

from .binomials import (
    binomial_interval,
    binomial_lower_bound,
    binomial_tail,
    binomial_upper_bound,
    generalised_binomial,
)
from .constants import pi
from .decide import decide
from .enclosure import DEFAULT_PRECISION, Enclosure
from .error_function import erf, erfc, log_erfc
from .lambert import lambert_w0, lambert_wm1
from .log_gamma import gamma_function, log_gamma
from .normal import (
    log_normal_cdf,
    log_normal_survival,
    normal_cdf,
    normal_quantile,
    normal_survival,
    normal_upper_quantile,
    two_sided_normal_tail,
)
from .norms import norm_enclosure
from .quadrature import gauss_legendre, trapezoid_on_line, trapezoid_step
from .roots import decreasing_root, increasing_root
from .truth import Truth

__all__ = [
    "DEFAULT_PRECISION",
    "Enclosure",
    "Truth",
    "binomial_interval",
    "binomial_lower_bound",
    "binomial_tail",
    "binomial_upper_bound",
    "decide",
    "decreasing_root",
    "erf",
    "erfc",
    "gamma_function",
    "gauss_legendre",
    "generalised_binomial",
    "increasing_root",
    "lambert_w0",
    "lambert_wm1",
    "log_erfc",
    "log_gamma",
    "log_normal_cdf",
    "log_normal_survival",
    "norm_enclosure",
    "normal_cdf",
    "normal_quantile",
    "normal_survival",
    "normal_upper_quantile",
    "pi",
    "trapezoid_on_line",
    "trapezoid_step",
    "two_sided_normal_tail",
]
