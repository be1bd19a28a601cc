from . import accountants as accountants
from . import audits as audits
from . import conversions as conversions
from . import correlated_noise as correlated_noise
from . import filters as filters
from . import guarantees as guarantees
from . import individual as individual
from . import notions as notions
from . import pairs as pairs
from . import parts as parts
from . import risks as risks
from . import sampling as sampling
from . import selection as selection
from .accounting.enclosures import Enclosure as Enclosure
from .accounting.errors import CertdpError as CertdpError
from .accounting.errors import InvalidType as InvalidType
from .accounting.errors import InvalidValue as InvalidValue
from .accounting.errors import OutsideDomain as OutsideDomain
from .accounting.errors import Undecided as Undecided
from .accounting.filters import BudgetExceeded as BudgetExceeded
from .accounting.guarantees import Guarantee as Guarantee
from .accounting.guarantees import compose as compose
from .accounting.guarantees import for_groups as for_groups
from .accounting.norms import Norm as Norm
from .accounting.provenance import Private as Private
from .accounting.provenance import Public as Public
from .accounting.provenance import Released as Released
from .accounting.relations import ADD_REMOVE as ADD_REMOVE
from .accounting.relations import ELEMENT as ELEMENT
from .accounting.relations import RECORD as RECORD
from .accounting.relations import REPLACE as REPLACE
from .accounting.relations import User as User
from .accounting.sampling.clipping import Outside as Outside
from .accounting.sampling.domains import NormBall as NormBall
from .accounting.sampling.every_value import ExPost as ExPost
from .accounting.sampling.releases import ResampleEach as ResampleEach
from .accounting.sampling.releases import SampleOnce as SampleOnce
from .accounting.units import Delta as Delta
from .accounting.units import Epsilon as Epsilon
from .accounting.units import Order as Order
from .clustering import DPKMeans as DPKMeans
from .commands.plan_files import plan_from_file as plan_from_file
from .data import Reading as Reading
from .data import Records as Records
from .data import example_records as example_records
from .data import open_records as open_records
from .data import read_records as read_records
from .ledger import Ledger as Ledger
from .mechanisms.count import Count as Count
from .mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from .mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from .mechanisms.gaussian_sum import GaussianSum as GaussianSum
from .mechanisms.laplace_sum import LaplaceSum as LaplaceSum
from .mechanisms.lloyd import Lloyd as Lloyd
from .mechanisms.lp_sum import LpSum as LpSum
from .mechanisms.pws_frequencies import PwsFrequencies as PwsFrequencies
from .mechanisms.pws_keys import PwsKeys as PwsKeys
from .mechanisms.quantile_choice import QuantileChoice as QuantileChoice
from .mechanisms.randomised_response import RandomisedResponse as RandomisedResponse
from .plots.runs import plot_accounting as plot_accounting
from .plugins.contract import Coins as Coins
from .plugins.contract import Mechanism as Mechanism
from .plugins.contract import Sampler as Sampler
from .records.certificates import owner_certificate as owner_certificate
from .records.losses import record_losses as record_losses
from .records.weights import record_weights as record_weights
from .runs.adaptive import AdaptiveRun as AdaptiveRun
from .runs.adaptive import DominatedRun as DominatedRun
from .runs.allocated import AllocatedRun as AllocatedRun
from .runs.calibration import Budget as Budget
from .runs.calibration import Calibration as Calibration
from .runs.calibration import Continuous as Continuous
from .runs.calibration import Whole as Whole
from .runs.calibration import calibrate as calibrate
from .runs.certificates import certificate as certificate
from .runs.certificates import guarantee_certificate as guarantee_certificate
from .runs.certificates import profile_certificate as profile_certificate
from .runs.ex_post import ExPostRun as ExPostRun
from .runs.keyed import KeyedRun as KeyedRun
from .runs.many_steps import GaussianSteps as GaussianSteps
from .runs.many_steps import LaplaceSteps as LaplaceSteps
from .runs.plan import Plan as Plan
from .runs.risk import risk as risk
from .runs.run import Answer as Answer
from .runs.run import NotionAbsent as NotionAbsent
from .runs.sampled import SampledRun as SampledRun
from .runs.statements import StatedRelease as StatedRelease
from .runs.statements import stated_release as stated_release
from .samplers.coreset import Coreset as Coreset
from .samplers.every_key import EveryKey as EveryKey
from .samplers.fixed_batches import FixedBatches as FixedBatches
from .samplers.full import Full as Full
from .samplers.importance import Importance as Importance
from .samplers.listed_rates import ListedRates as ListedRates
from .samplers.poisson import Poisson as Poisson
from .samplers.pps import Pps as Pps
from .samplers.ppswor import Ppswor as Ppswor
from .samplers.privacy_constrained import PrivacyConstrained as PrivacyConstrained
from .samplers.random_allocation import RandomAllocation as RandomAllocation
from .samplers.truncated_poisson import TruncatedPoisson as TruncatedPoisson
from .verification.certificates.artefacts import artefact_certificate as artefact_certificate
from .verification.checker import Verdict as Verdict
from .verification.checker import check as check
from .weighted_sampling.counts import KeyCounts as KeyCounts
from .weighted_sampling.release import PrivateSample as PrivateSample
from .weighted_sampling.release import PrivateWeightedSampling as PrivateWeightedSampling
from .weighted_sampling.threshold_samples import ThresholdSample as ThresholdSample

__all__ = [
    "ADD_REMOVE",
    "ELEMENT",
    "RECORD",
    "REPLACE",
    "AdaptiveRun",
    "AllocatedRun",
    "Answer",
    "Budget",
    "BudgetExceeded",
    "Calibration",
    "CertdpError",
    "Coins",
    "Continuous",
    "Coreset",
    "Count",
    "DPKMeans",
    "Delta",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DominatedRun",
    "Enclosure",
    "Epsilon",
    "EveryKey",
    "ExPost",
    "ExPostRun",
    "FixedBatches",
    "Full",
    "GaussianSteps",
    "GaussianSum",
    "Guarantee",
    "Importance",
    "InvalidType",
    "InvalidValue",
    "KeyCounts",
    "KeyedRun",
    "LaplaceSteps",
    "LaplaceSum",
    "Ledger",
    "ListedRates",
    "Lloyd",
    "LpSum",
    "Mechanism",
    "Norm",
    "NormBall",
    "NotionAbsent",
    "Order",
    "Outside",
    "OutsideDomain",
    "Plan",
    "Poisson",
    "Pps",
    "Ppswor",
    "PrivacyConstrained",
    "Private",
    "PrivateSample",
    "PrivateWeightedSampling",
    "Public",
    "PwsFrequencies",
    "PwsKeys",
    "QuantileChoice",
    "RandomAllocation",
    "RandomisedResponse",
    "Reading",
    "Records",
    "Released",
    "ResampleEach",
    "SampleOnce",
    "SampledRun",
    "Sampler",
    "StatedRelease",
    "ThresholdSample",
    "TruncatedPoisson",
    "Undecided",
    "User",
    "Verdict",
    "Whole",
    "accountants",
    "artefact_certificate",
    "audits",
    "calibrate",
    "certificate",
    "check",
    "compose",
    "conversions",
    "correlated_noise",
    "example_records",
    "filters",
    "for_groups",
    "guarantee_certificate",
    "guarantees",
    "individual",
    "notions",
    "open_records",
    "owner_certificate",
    "pairs",
    "parts",
    "plan_from_file",
    "plot_accounting",
    "profile_certificate",
    "read_records",
    "record_losses",
    "record_weights",
    "risk",
    "risks",
    "sampling",
    "selection",
    "stated_release",
]
