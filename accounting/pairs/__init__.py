"""Dominating pairs of distributions, from which every notion of privacy follows."""

from .gaussian import GaussianPair
from .laplace import LaplacePair
from .pair import DeltaLaw, Pair, PureLaw, RenyiLaw
from .randomised_response import RandomisedResponse
from .renyi_curve import RenyiCurve
from .repeated import Repeated
from .sampled import Sampled

__all__ = [
    "DeltaLaw",
    "GaussianPair",
    "LaplacePair",
    "Pair",
    "PureLaw",
    "RandomisedResponse",
    "RenyiCurve",
    "RenyiLaw",
    "Repeated",
    "Sampled",
]
