"""The former home of what `accountants` hold."""

from .accountants import BEST, Bounds, Finding, Law, WorstPairs, delta_at, gaussian, pure, renyi_at, zero_concentrated

epsilon_at = BEST.epsilon
delta_of = BEST.delta

__all__ = [
    "Bounds",
    "Finding",
    "Law",
    "WorstPairs",
    "delta_at",
    "delta_of",
    "epsilon_at",
    "gaussian",
    "pure",
    "renyi_at",
    "zero_concentrated",
]
