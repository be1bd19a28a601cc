"""Accountants: from the pairs of a whole run to the smallest proven ε at δ, or δ at ε, each in its own notion."""

from .accountant import Accountant, Finding
from .advanced import ADVANCED, AdvancedAccountant
from .basic import BASIC, BasicAccountant
from .best import ALL, BEST, BestAccountant
from .gaussian_dp import GAUSSIAN_DP, GaussianAccountant
from .loss_distribution import LOSS_DISTRIBUTION, LossDistributionAccountant
from .optimal import OPTIMAL, OptimalAccountant
from .renyi import RENYI, RenyiAccountant
from .rounded_normal import ROUNDED_NORMAL, RoundedNormalAccountant
from .worst_pairs import Bounds, Law, WorstPairs, delta_at, gaussian, pure, renyi_at, zero_concentrated
from .zero_concentrated import ZERO_CONCENTRATED, ZeroConcentratedAccountant

__all__ = [
    "ADVANCED",
    "ALL",
    "BASIC",
    "BEST",
    "GAUSSIAN_DP",
    "LOSS_DISTRIBUTION",
    "OPTIMAL",
    "RENYI",
    "ROUNDED_NORMAL",
    "ZERO_CONCENTRATED",
    "Accountant",
    "AdvancedAccountant",
    "BasicAccountant",
    "BestAccountant",
    "Bounds",
    "Finding",
    "GaussianAccountant",
    "Law",
    "LossDistributionAccountant",
    "OptimalAccountant",
    "RenyiAccountant",
    "RoundedNormalAccountant",
    "WorstPairs",
    "ZeroConcentratedAccountant",
    "delta_at",
    "gaussian",
    "pure",
    "renyi_at",
    "zero_concentrated",
]
