"""Dominating pairs of distributions, the losses that mechanisms declare with them, and trade-off curves."""

from ..accounting.accountants.trade_off import TradeOff as TradeOff
from ..accounting.pairs import DensityPair as DensityPair
from ..accounting.pairs import DiscreteGaussianPair as DiscreteGaussianPair
from ..accounting.pairs import DiscreteGaussianVectorPair as DiscreteGaussianVectorPair
from ..accounting.pairs import DiscreteLaplacePair as DiscreteLaplacePair
from ..accounting.pairs import FinitePair as FinitePair
from ..accounting.pairs import GaussianGroup as GaussianGroup
from ..accounting.pairs import GaussianPair as GaussianPair
from ..accounting.pairs import LaplacePair as LaplacePair
from ..accounting.pairs import Pair as Pair
from ..accounting.pairs import RandomisedResponsePair as RandomisedResponsePair
from ..accounting.pairs import ShuffledPair as ShuffledPair
from ..accounting.relations import Direction as Direction
from ..accounting.sampling.losses import Attained as Attained
from ..accounting.sampling.losses import DiscreteGaussianLoss as DiscreteGaussianLoss
from ..accounting.sampling.losses import DiscreteGaussianVectorLoss as DiscreteGaussianVectorLoss
from ..accounting.sampling.losses import DiscreteLaplaceLoss as DiscreteLaplaceLoss
from ..accounting.sampling.losses import FamilyLoss as FamilyLoss
from ..accounting.sampling.losses import GaussianLoss as GaussianLoss
from ..accounting.sampling.losses import LaplaceLoss as LaplaceLoss
from ..accounting.sampling.losses import Loss as Loss
from ..accounting.sampling.losses import PureLoss as PureLoss
from ..accounting.sampling.losses import RenyiLoss as RenyiLoss
from ..accounting.sampling.losses import ZeroConcentratedLoss as ZeroConcentratedLoss
