"""Accountants: the ways from the pairs of a run to one ε or δ, and what each of them proves."""

from ..accounting.accountants import Accountant as Accountant
from ..accounting.accountants import AdvancedAccountant as AdvancedAccountant
from ..accounting.accountants import BasicAccountant as BasicAccountant
from ..accounting.accountants import BestAccountant as BestAccountant
from ..accounting.accountants import GaussianAccountant as GaussianAccountant
from ..accounting.accountants import LossDistributionAccountant as LossDistributionAccountant
from ..accounting.accountants import OptimalAccountant as OptimalAccountant
from ..accounting.accountants import RenyiAccountant as RenyiAccountant
from ..accounting.accountants import ZeroConcentratedAccountant as ZeroConcentratedAccountant
from ..runs.adaptive import NoAccountant as NoAccountant
from ..runs.run import Comparison as Comparison
