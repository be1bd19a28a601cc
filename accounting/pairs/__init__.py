"""Dominating pairs of distributions, from which every notion of privacy follows."""

from .bounded_range import bounded_range_pair
from .changed import changed
from .composed import Composed, compose_pairs
from .density import DensityPair
from .discrete_gaussian import GREATEST_VARIANCE, LEAST_VARIANCE, DiscreteGaussianPair, admissible_variance
from .discrete_gaussian_vector import DiscreteGaussianVectorPair
from .discrete_laplace import DiscreteLaplacePair
from .envelope import Envelope
from .finite import FinitePair
from .gaussian import GaussianPair, SampledGaussian
from .gaussian_group import GaussianGroup
from .laplace import LaplacePair
from .laws import DeltaLaw, PureLaw, RenyiLaw
from .many_gaussian_steps import ManyGaussianSteps
from .pair import Pair, Repeated, Sampled
from .public_chance import PublicChance
from .random_allocation import MOST_BATCHES, RandomAllocation, allocated, blocks
from .randomised_response import RandomisedResponsePair, RepeatedResponse
from .renyi_curve import RenyiCurve
from .shuffled import MOST_USERS, ShuffledPair
from .symmetrised import Symmetrised, symmetrised
from .zero_concentrated_curve import ZeroConcentratedCurve

__all__ = [
    "GREATEST_VARIANCE",
    "LEAST_VARIANCE",
    "MOST_BATCHES",
    "MOST_USERS",
    "Composed",
    "DeltaLaw",
    "DensityPair",
    "DiscreteGaussianPair",
    "DiscreteGaussianVectorPair",
    "DiscreteLaplacePair",
    "Envelope",
    "FinitePair",
    "GaussianGroup",
    "GaussianPair",
    "LaplacePair",
    "ManyGaussianSteps",
    "Pair",
    "PublicChance",
    "PureLaw",
    "RandomAllocation",
    "RandomisedResponsePair",
    "RenyiCurve",
    "RenyiLaw",
    "Repeated",
    "RepeatedResponse",
    "Sampled",
    "SampledGaussian",
    "ShuffledPair",
    "Symmetrised",
    "ZeroConcentratedCurve",
    "admissible_variance",
    "allocated",
    "blocks",
    "bounded_range_pair",
    "changed",
    "compose_pairs",
    "symmetrised",
]
