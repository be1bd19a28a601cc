"""Largest feasible weights: the weight at which a record's sampled loss meets a target (IS Problem 7, Theorem 10)."""

from .convexity import Convexity, assumption_8, assumption_9, assumption_11, unit_loss
from .gaussian import ApproximateTarget, GaussianTarget, RenyiTarget, gaussian_weights
from .linear import LARGEST_RELATIVE_GAP, LARGEST_WEIGHT, FeasibleWeights, largest_weights
from .profiles import ConstrainedWeight, constrained_weight, constrained_weights
from .reach import REACHES, Codes, Reach, counted

__all__ = [
    "LARGEST_RELATIVE_GAP",
    "LARGEST_WEIGHT",
    "REACHES",
    "ApproximateTarget",
    "Codes",
    "ConstrainedWeight",
    "Convexity",
    "FeasibleWeights",
    "GaussianTarget",
    "Reach",
    "RenyiTarget",
    "assumption_8",
    "assumption_9",
    "assumption_11",
    "constrained_weight",
    "constrained_weights",
    "counted",
    "gaussian_weights",
    "largest_weights",
    "unit_loss",
]
