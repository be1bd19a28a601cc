"""Largest feasible weights: the weight at which a record's sampled loss meets a target (IS Problem 7, Theorem 10)."""

from .linear import LARGEST_RELATIVE_GAP, LARGEST_WEIGHT, FeasibleWeights, largest_weights

__all__ = ["LARGEST_RELATIVE_GAP", "LARGEST_WEIGHT", "FeasibleWeights", "largest_weights"]
