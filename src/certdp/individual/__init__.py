"""Losses of each record over a run, known to the data's owner: accounts, filters, histograms, private figures."""

from ..accounting.individual.composed import epsilon_of_steps as epsilon_of_steps
from ..accounting.individual.composed import truncated_mu_of_steps as truncated_mu_of_steps
from ..accounting.individual.filter import IndividualFilter as IndividualFilter
from ..accounting.individual.losses import IndividualLosses as IndividualLosses
from ..accounting.individual.nodes import NodeTable as NodeTable
from ..accounting.individual.orders import Orders as Orders
from ..accounting.individual.steps import record_shifts as record_shifts
from ..accounting.individual.truncated_gaussian import TruncatedGaussian as TruncatedGaussian
from ..accounting.individual.truncated_gaussian import truncated_gaussian as truncated_gaussian
from ..plots.records import plot_losses as plot_losses
from ..records.by_file import WeightsByFile as WeightsByFile
from ..records.by_file import weights_by_file as weights_by_file
from ..records.losses import RecordLosses as RecordLosses
from ..records.statistics import LossHistogram as LossHistogram
from ..records.statistics import losses_file as losses_file
from ..records.statistics import release_count as release_count
from ..records.statistics import release_quantile as release_quantile
from ..records.weights import RecordWeights as RecordWeights
from ..records.weights import weights_file as weights_file
