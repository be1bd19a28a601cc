"""The contract: what a mechanism, a sampler and a claim must say."""

from .about import CONTRACT_VERSION, About
from .claims import Case, Claim, Expectation, Finding
from .coins import Coins, Source
from .draw import draw, draw_from
from .keyed import KeySampler, Sanitiser
from .mechanism import Mechanism, Release, WeightedSample, as_records
from .options import Option, build, options, payments, stated
from .parameters import Real, flag, named, non_negative, norm_order, positive, probability
from .sampler import AnySampler, LossSampler, Sampler

__all__ = [
    "CONTRACT_VERSION",
    "About",
    "AnySampler",
    "Case",
    "Claim",
    "Coins",
    "Expectation",
    "Finding",
    "KeySampler",
    "LossSampler",
    "Mechanism",
    "Option",
    "Real",
    "Release",
    "Sampler",
    "Sanitiser",
    "Source",
    "WeightedSample",
    "as_records",
    "build",
    "draw",
    "draw_from",
    "flag",
    "named",
    "non_negative",
    "norm_order",
    "options",
    "payments",
    "positive",
    "probability",
    "stated",
]
