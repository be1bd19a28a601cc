"""Notions of privacy, each a record of laws with one class of bounds."""

from .approximate import APPROXIMATE, Approximate
from .gaussian_dp import GAUSSIAN_DP, GaussianDP
from .notion import Bound, Notion
from .pure import PURE, Pure
from .renyi import RENYI, Renyi
from .zero_concentrated import ZERO_CONCENTRATED, ZeroConcentrated

__all__ = [
    "APPROXIMATE",
    "GAUSSIAN_DP",
    "PURE",
    "RENYI",
    "ZERO_CONCENTRATED",
    "Approximate",
    "Bound",
    "GaussianDP",
    "Notion",
    "Pure",
    "Renyi",
    "ZeroConcentrated",
]
