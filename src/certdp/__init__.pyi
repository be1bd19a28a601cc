from .accounting.accountants import Accountant as Accountant
from .accounting.accountants import AdvancedAccountant as AdvancedAccountant
from .accounting.accountants import BasicAccountant as BasicAccountant
from .accounting.accountants import BestAccountant as BestAccountant
from .accounting.accountants import GaussianAccountant as GaussianAccountant
from .accounting.accountants import LossDistributionAccountant as LossDistributionAccountant
from .accounting.accountants import OptimalAccountant as OptimalAccountant
from .accounting.accountants import RenyiAccountant as RenyiAccountant
from .accounting.accountants import ZeroConcentratedAccountant as ZeroConcentratedAccountant
from .accounting.accountants.trade_off import TradeOff as TradeOff
from .accounting.amplification import psi as psi
from .accounting.amplification import psi_add as psi_add
from .accounting.conversions import CONVERSIONS as CONVERSIONS
from .accounting.conversions import Conversion as Conversion
from .accounting.conversions import Tightness as Tightness
from .accounting.conversions import best_order as best_order
from .accounting.conversions import gaussian_to_approximate as gaussian_to_approximate
from .accounting.conversions import gaussian_to_approximate_at as gaussian_to_approximate_at
from .accounting.conversions import gaussian_to_renyi as gaussian_to_renyi
from .accounting.conversions import gaussian_to_zero_concentrated as gaussian_to_zero_concentrated
from .accounting.conversions import pure_to_approximate as pure_to_approximate
from .accounting.conversions import pure_to_gaussian as pure_to_gaussian
from .accounting.conversions import pure_to_renyi as pure_to_renyi
from .accounting.conversions import pure_to_zero_concentrated as pure_to_zero_concentrated
from .accounting.conversions import renyi_to_approximate as renyi_to_approximate
from .accounting.conversions import renyi_to_approximate_at as renyi_to_approximate_at
from .accounting.conversions import zero_concentrated_to_approximate as zero_concentrated_to_approximate
from .accounting.conversions import zero_concentrated_to_approximate_at as zero_concentrated_to_approximate_at
from .accounting.conversions import zero_concentrated_to_renyi as zero_concentrated_to_renyi
from .accounting.derivation import Assumption as Assumption
from .accounting.derivation import Derivation as Derivation
from .accounting.derivation import Evidence as Evidence
from .accounting.derivation import Theorem as Theorem
from .accounting.enclosures import Enclosure as Enclosure
from .accounting.enclosures import Truth as Truth
from .accounting.enclosures import decide as decide
from .accounting.errors import CertdpError as CertdpError
from .accounting.errors import InvalidType as InvalidType
from .accounting.errors import InvalidValue as InvalidValue
from .accounting.errors import OutsideDomain as OutsideDomain
from .accounting.errors import Undecided as Undecided
from .accounting.expressions import Expression as Expression
from .accounting.expressions import W as W
from .accounting.expressions import norm as norm
from .accounting.expressions.suprema import NoFiniteSupremum as NoFiniteSupremum
from .accounting.expressions.suprema import Supremum as Supremum
from .accounting.expressions.suprema import supremum as supremum
from .accounting.feasible_weights import Reach as Reach
from .accounting.feasible_weights import largest_weights as largest_weights
from .accounting.filters import ApproximateFilter as ApproximateFilter
from .accounting.filters import BudgetExceeded as BudgetExceeded
from .accounting.filters import Filter as Filter
from .accounting.filters import GaussianFilter as GaussianFilter
from .accounting.filters import LossReading as LossReading
from .accounting.filters import PureFilter as PureFilter
from .accounting.filters import PureOdometer as PureOdometer
from .accounting.filters import RenyiFilter as RenyiFilter
from .accounting.filters import RenyiOdometer as RenyiOdometer
from .accounting.filters import ZeroConcentratedFilter as ZeroConcentratedFilter
from .accounting.guarantees import Guarantee as Guarantee
from .accounting.guarantees import compose as compose
from .accounting.guarantees import for_groups as for_groups
from .accounting.individual.composed import epsilon_of_steps as epsilon_of_steps
from .accounting.individual.composed import truncated_mu_of_steps as truncated_mu_of_steps
from .accounting.individual.filter import IndividualFilter as IndividualFilter
from .accounting.individual.losses import IndividualLosses as IndividualLosses
from .accounting.individual.nodes import NodeTable as NodeTable
from .accounting.individual.orders import Orders as Orders
from .accounting.individual.steps import record_shifts as record_shifts
from .accounting.individual.truncated_gaussian import TruncatedGaussian as TruncatedGaussian
from .accounting.individual.truncated_gaussian import truncated_gaussian as truncated_gaussian
from .accounting.norms import Norm as Norm
from .accounting.notions import APPROXIMATE as APPROXIMATE
from .accounting.notions import GAUSSIAN_DP as GAUSSIAN_DP
from .accounting.notions import PURE as PURE
from .accounting.notions import RENYI as RENYI
from .accounting.notions import ZERO_CONCENTRATED as ZERO_CONCENTRATED
from .accounting.notions import Approximate as Approximate
from .accounting.notions import GaussianDP as GaussianDP
from .accounting.notions import Notion as Notion
from .accounting.notions import Pure as Pure
from .accounting.notions import Renyi as Renyi
from .accounting.notions import ZeroConcentrated as ZeroConcentrated
from .accounting.pairs import DensityPair as DensityPair
from .accounting.pairs import DiscreteGaussianPair as DiscreteGaussianPair
from .accounting.pairs import DiscreteLaplacePair as DiscreteLaplacePair
from .accounting.pairs import FinitePair as FinitePair
from .accounting.pairs import GaussianPair as GaussianPair
from .accounting.pairs import LaplacePair as LaplacePair
from .accounting.pairs import Pair as Pair
from .accounting.pairs import RandomisedResponsePair as RandomisedResponsePair
from .accounting.provenance import Private as Private
from .accounting.provenance import PrivateValue as PrivateValue
from .accounting.provenance import Public as Public
from .accounting.provenance import PublicRange as PublicRange
from .accounting.provenance import Released as Released
from .accounting.provenance import publish as publish
from .accounting.relations import ADD_REMOVE as ADD_REMOVE
from .accounting.relations import ELEMENT as ELEMENT
from .accounting.relations import RECORD as RECORD
from .accounting.relations import REPLACE as REPLACE
from .accounting.relations import AddRemove as AddRemove
from .accounting.relations import Direction as Direction
from .accounting.relations import Element as Element
from .accounting.relations import Record as Record
from .accounting.relations import Relation as Relation
from .accounting.relations import Replace as Replace
from .accounting.relations import Unit as Unit
from .accounting.relations import User as User
from .accounting.sampling.clipping import Outside as Outside
from .accounting.sampling.domains import NormBall as NormBall
from .accounting.sampling.every_value import ExPost as ExPost
from .accounting.sampling.gain import Gain as Gain
from .accounting.sampling.gain import can_sampling_improve as can_sampling_improve
from .accounting.sampling.losses import Attained as Attained
from .accounting.sampling.losses import DiscreteGaussianLoss as DiscreteGaussianLoss
from .accounting.sampling.losses import DiscreteLaplaceLoss as DiscreteLaplaceLoss
from .accounting.sampling.losses import FamilyLoss as FamilyLoss
from .accounting.sampling.losses import GaussianLoss as GaussianLoss
from .accounting.sampling.losses import LaplaceLoss as LaplaceLoss
from .accounting.sampling.losses import Loss as Loss
from .accounting.sampling.losses import PureLoss as PureLoss
from .accounting.sampling.losses import RenyiLoss as RenyiLoss
from .accounting.sampling.losses import ZeroConcentratedLoss as ZeroConcentratedLoss
from .accounting.sampling.profiles import PureProfile as PureProfile
from .accounting.sampling.profiles import compose_profiles as compose_profiles
from .accounting.sampling.rate import SamplingRate as SamplingRate
from .accounting.sampling.releases import ResampleEach as ResampleEach
from .accounting.sampling.releases import SampleOnce as SampleOnce
from .accounting.sampling.theorem_6 import theorem_6 as theorem_6
from .accounting.units import Delta as Delta
from .accounting.units import Epsilon as Epsilon
from .accounting.units import Order as Order
from .accounting.units import Probability as Probability
from .accounting.units import Sensitivity as Sensitivity
from .accounting.units import Weight as Weight
from .audits import RunAudit as RunAudit
from .audits import audit_run as audit_run
from .clustering import DPKMeans as DPKMeans
from .commands.plan_files import plan_from_file as plan_from_file
from .data import Reading as Reading
from .data import Records as Records
from .data import example_records as example_records
from .data import open_records as open_records
from .data import read_records as read_records
from .mechanisms.count import Count as Count
from .mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from .mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from .mechanisms.gaussian_sum import GaussianSum as GaussianSum
from .mechanisms.laplace_sum import LaplaceSum as LaplaceSum
from .mechanisms.lloyd import Lloyd as Lloyd
from .mechanisms.lp_sum import LpSum as LpSum
from .mechanisms.pws_frequencies import PwsFrequencies as PwsFrequencies
from .mechanisms.pws_keys import PwsKeys as PwsKeys
from .mechanisms.randomised_response import RandomisedResponse as RandomisedResponse
from .plots.records import plot_losses as plot_losses
from .plots.runs import plot_accounting as plot_accounting
from .plugins.contract import CONTRACT_VERSION as CONTRACT_VERSION
from .plugins.contract import About as About
from .plugins.contract import Claim as Claim
from .plugins.contract import Coins as Coins
from .plugins.contract import Mechanism as Mechanism
from .plugins.contract import Sampler as Sampler
from .plugins.contract import WeightedSample as WeightedSample
from .plugins.contract import draw as draw
from .plugins.registry import PluginError as PluginError
from .plugins.registry import Registry as Registry
from .plugins.registry import Role as Role
from .records.certificates import owner_certificate as owner_certificate
from .records.losses import RecordLosses as RecordLosses
from .records.losses import record_losses as record_losses
from .records.statistics import LossHistogram as LossHistogram
from .records.statistics import losses_file as losses_file
from .records.statistics import release_count as release_count
from .records.statistics import release_quantile as release_quantile
from .records.weights import RecordWeights as RecordWeights
from .records.weights import record_weights as record_weights
from .records.weights import weights_file as weights_file
from .runs.adaptive import AdaptiveRun as AdaptiveRun
from .runs.adaptive import DominatedRun as DominatedRun
from .runs.adaptive import NoAccountant as NoAccountant
from .runs.calibration import Budget as Budget
from .runs.calibration import Calibration as Calibration
from .runs.calibration import Continuous as Continuous
from .runs.calibration import Whole as Whole
from .runs.calibration import calibrate as calibrate
from .runs.certificates import certificate as certificate
from .runs.certificates import profile_certificate as profile_certificate
from .runs.declared import NoPureValue as NoPureValue
from .runs.ex_post import ExPostReading as ExPostReading
from .runs.ex_post import ExPostRun as ExPostRun
from .runs.keyed import KeyedRun as KeyedRun
from .runs.many_steps import GaussianSteps as GaussianSteps
from .runs.many_steps import LaplaceSteps as LaplaceSteps
from .runs.plan import Plan as Plan
from .runs.run import Answer as Answer
from .runs.run import Comparison as Comparison
from .runs.run import NotionAbsent as NotionAbsent
from .runs.sampled import SampledRun as SampledRun
from .samplers.coreset import Coreset as Coreset
from .samplers.every_key import EveryKey as EveryKey
from .samplers.full import Full as Full
from .samplers.importance import Importance as Importance
from .samplers.listed_rates import ListedRates as ListedRates
from .samplers.poisson import Poisson as Poisson
from .samplers.pps import Pps as Pps
from .samplers.ppswor import Ppswor as Ppswor
from .samplers.privacy_constrained import PrivacyConstrained as PrivacyConstrained
from .verification.audit import Audit as Audit
from .verification.audit import OneRunAudit as OneRunAudit
from .verification.audit import audit as audit
from .verification.audit import audit_one_run as audit_one_run
from .verification.audit import correct_guesses as correct_guesses
from .verification.checker import Verdict as Verdict
from .verification.checker import check as check
from .weighted_sampling.counts import KeyCounts as KeyCounts
from .weighted_sampling.release import PrivateSample as PrivateSample
from .weighted_sampling.release import PrivateWeightedSampling as PrivateWeightedSampling
from .weighted_sampling.threshold_samples import ThresholdSample as ThresholdSample

__all__ = [
    "ADD_REMOVE",
    "APPROXIMATE",
    "CONTRACT_VERSION",
    "CONVERSIONS",
    "ELEMENT",
    "GAUSSIAN_DP",
    "PURE",
    "RECORD",
    "RENYI",
    "REPLACE",
    "ZERO_CONCENTRATED",
    "About",
    "Accountant",
    "AdaptiveRun",
    "AddRemove",
    "AdvancedAccountant",
    "Answer",
    "Approximate",
    "ApproximateFilter",
    "Assumption",
    "Attained",
    "Audit",
    "BasicAccountant",
    "BestAccountant",
    "Budget",
    "BudgetExceeded",
    "Calibration",
    "CertdpError",
    "Claim",
    "Coins",
    "Comparison",
    "Continuous",
    "Conversion",
    "Coreset",
    "Count",
    "DPKMeans",
    "Delta",
    "DensityPair",
    "Derivation",
    "Direction",
    "DiscreteGaussian",
    "DiscreteGaussianLoss",
    "DiscreteGaussianPair",
    "DiscreteLaplace",
    "DiscreteLaplaceLoss",
    "DiscreteLaplacePair",
    "DominatedRun",
    "Element",
    "Enclosure",
    "Epsilon",
    "EveryKey",
    "Evidence",
    "ExPost",
    "ExPostReading",
    "ExPostRun",
    "Expression",
    "FamilyLoss",
    "Filter",
    "FinitePair",
    "Full",
    "Gain",
    "GaussianAccountant",
    "GaussianDP",
    "GaussianFilter",
    "GaussianLoss",
    "GaussianPair",
    "GaussianSteps",
    "GaussianSum",
    "Guarantee",
    "Importance",
    "IndividualFilter",
    "IndividualLosses",
    "InvalidType",
    "InvalidValue",
    "KeyCounts",
    "KeyedRun",
    "LaplaceLoss",
    "LaplacePair",
    "LaplaceSteps",
    "LaplaceSum",
    "ListedRates",
    "Lloyd",
    "Loss",
    "LossDistributionAccountant",
    "LossHistogram",
    "LossReading",
    "LpSum",
    "Mechanism",
    "NoAccountant",
    "NoFiniteSupremum",
    "NoPureValue",
    "NodeTable",
    "Norm",
    "NormBall",
    "Notion",
    "NotionAbsent",
    "OneRunAudit",
    "OptimalAccountant",
    "Order",
    "Orders",
    "Outside",
    "OutsideDomain",
    "Pair",
    "Plan",
    "PluginError",
    "Poisson",
    "Pps",
    "Ppswor",
    "PrivacyConstrained",
    "Private",
    "PrivateSample",
    "PrivateValue",
    "PrivateWeightedSampling",
    "Probability",
    "Public",
    "PublicRange",
    "Pure",
    "PureFilter",
    "PureLoss",
    "PureOdometer",
    "PureProfile",
    "PwsFrequencies",
    "PwsKeys",
    "RandomisedResponse",
    "RandomisedResponsePair",
    "Reach",
    "Reading",
    "Record",
    "RecordLosses",
    "RecordWeights",
    "Records",
    "Registry",
    "Relation",
    "Released",
    "Renyi",
    "RenyiAccountant",
    "RenyiFilter",
    "RenyiLoss",
    "RenyiOdometer",
    "Replace",
    "ResampleEach",
    "Role",
    "RunAudit",
    "SampleOnce",
    "SampledRun",
    "Sampler",
    "SamplingRate",
    "Sensitivity",
    "Supremum",
    "Theorem",
    "ThresholdSample",
    "Tightness",
    "TradeOff",
    "TruncatedGaussian",
    "Truth",
    "Undecided",
    "Unit",
    "User",
    "Verdict",
    "W",
    "Weight",
    "WeightedSample",
    "Whole",
    "ZeroConcentrated",
    "ZeroConcentratedAccountant",
    "ZeroConcentratedFilter",
    "ZeroConcentratedLoss",
    "audit",
    "audit_one_run",
    "audit_run",
    "best_order",
    "calibrate",
    "can_sampling_improve",
    "certificate",
    "check",
    "compose",
    "compose_profiles",
    "correct_guesses",
    "decide",
    "draw",
    "epsilon_of_steps",
    "example_records",
    "for_groups",
    "gaussian_to_approximate",
    "gaussian_to_approximate_at",
    "gaussian_to_renyi",
    "gaussian_to_zero_concentrated",
    "largest_weights",
    "losses_file",
    "norm",
    "open_records",
    "owner_certificate",
    "plan_from_file",
    "plot_accounting",
    "plot_losses",
    "profile_certificate",
    "psi",
    "psi_add",
    "publish",
    "pure_to_approximate",
    "pure_to_gaussian",
    "pure_to_renyi",
    "pure_to_zero_concentrated",
    "read_records",
    "record_losses",
    "record_shifts",
    "record_weights",
    "release_count",
    "release_quantile",
    "renyi_to_approximate",
    "renyi_to_approximate_at",
    "supremum",
    "theorem_6",
    "truncated_gaussian",
    "truncated_mu_of_steps",
    "weights_file",
    "zero_concentrated_to_approximate",
    "zero_concentrated_to_approximate_at",
    "zero_concentrated_to_renyi",
]
