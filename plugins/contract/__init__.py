"""The contract: what a mechanism, a sampler and a claim must say, and the vocabulary in which they say it.

A plugin is written with the names of this module alone; docs/compatibility.md says what of them stays.
"""

from ...accounting.derivation import CLIPPED_RECORDS, REAL_VALUED_NOISE, Assumption, Evidence
from ...accounting.draws.source import Source
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import Number
from ...accounting.expressions import (
    ORDER,
    Constant,
    Expression,
    W,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    minimum,
    norm,
    sqrt,
)
from ...accounting.keyed.reporting import Inclusion, Reporting
from ...accounting.norms import Norm
from ...accounting.pairs import DensityPair, FinitePair, Pair
from ...accounting.provenance import Declared, Public, Released, declared, declared_number
from ...accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, Direction, Relation, Unit, User
from ...accounting.sampling.drawing import Rate
from ...accounting.sampling.epochs import Epoch
from ...accounting.sampling.losses import (
    Attained,
    DiscreteGaussianLoss,
    DiscreteGaussianVectorLoss,
    DiscreteLaplaceLoss,
    FamilyLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    PureLoss,
    RenyiLoss,
    ZeroConcentratedLoss,
)
from ...accounting.sampling.rate import SamplingRate
from .about import CONTRACT_VERSION, About
from .claims import Box, Case, Claim, Expectation, Finding, Proof
from .coins import Coins
from .draw import draw, draw_from
from .keyed import KeySampler, Sanitiser
from .many import ReleasesMany, many_releases
from .mechanism import KnowsAdmissible, Mechanism, Release, StatesNoiseRelatively, WeightedSample, as_records
from .neighbours import KnowsNeighbours, Neighbours
from .optional import NOT_GIVEN, Choice, positive_if_given, require_one, whole_if_given
from .options import Option, build, options, payments, stated
from .parameters import Real, flag, named, non_negative, norm_order, number, positive, probability, whole
from .released_parameters import (
    Worst,
    as_they_came_out,
    declared_for_every_value,
    open_parameters,
    released_parameters,
    stated_ends,
    with_values,
    worst_at,
)
from .sampler import AllocatingSampler, AnySampler, LossSampler, Sampler
from .strata import LabelledStrata, NormStrata, Strata, StratifyingSampler

__all__ = [
    "ADD_REMOVE",
    "CLIPPED_RECORDS",
    "CONTRACT_VERSION",
    "ELEMENT",
    "NOT_GIVEN",
    "ORDER",
    "REAL_VALUED_NOISE",
    "RECORD",
    "REPLACE",
    "About",
    "AllocatingSampler",
    "AnySampler",
    "Assumption",
    "Attained",
    "Box",
    "Case",
    "Choice",
    "Claim",
    "Coins",
    "Constant",
    "Declared",
    "DensityPair",
    "Direction",
    "DiscreteGaussianLoss",
    "DiscreteGaussianVectorLoss",
    "DiscreteLaplaceLoss",
    "Enclosure",
    "Epoch",
    "Evidence",
    "Expectation",
    "Expression",
    "FamilyLoss",
    "Finding",
    "FinitePair",
    "GaussianLoss",
    "Inclusion",
    "InvalidType",
    "InvalidValue",
    "KeySampler",
    "KnowsAdmissible",
    "KnowsNeighbours",
    "LabelledStrata",
    "LaplaceLoss",
    "Loss",
    "LossSampler",
    "Mechanism",
    "Neighbours",
    "Norm",
    "NormStrata",
    "Number",
    "Option",
    "Pair",
    "Proof",
    "Public",
    "PureLoss",
    "Rate",
    "Real",
    "Relation",
    "Release",
    "Released",
    "ReleasesMany",
    "RenyiLoss",
    "Reporting",
    "Sampler",
    "SamplingRate",
    "Sanitiser",
    "Source",
    "StatesNoiseRelatively",
    "Strata",
    "StratifyingSampler",
    "Unit",
    "User",
    "W",
    "WeightedSample",
    "Worst",
    "ZeroConcentratedLoss",
    "as_records",
    "as_they_came_out",
    "build",
    "declared",
    "declared_for_every_value",
    "declared_number",
    "draw",
    "draw_from",
    "exp",
    "expm1",
    "flag",
    "log",
    "log1p",
    "many_releases",
    "maximum",
    "minimum",
    "named",
    "non_negative",
    "norm",
    "norm_order",
    "number",
    "open_parameters",
    "options",
    "payments",
    "positive",
    "positive_if_given",
    "probability",
    "released_parameters",
    "require_one",
    "sqrt",
    "stated",
    "stated_ends",
    "whole",
    "whole_if_given",
    "with_values",
    "worst_at",
]
