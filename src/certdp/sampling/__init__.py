"""What sampling does to a loss: amplification, suprema over a domain, feasible weights, and whether it gains."""

from ..accounting.amplification import psi as psi
from ..accounting.amplification import psi_add as psi_add
from ..accounting.expressions.suprema import NoFiniteSupremum as NoFiniteSupremum
from ..accounting.expressions.suprema import Supremum as Supremum
from ..accounting.expressions.suprema import supremum as supremum
from ..accounting.feasible_weights import Reach as Reach
from ..accounting.feasible_weights import largest_weights as largest_weights
from ..accounting.sampling.clipping import Held as Held
from ..accounting.sampling.clipping import hold as hold
from ..accounting.sampling.gain import Gain as Gain
from ..accounting.sampling.gain import can_sampling_improve as can_sampling_improve
from ..accounting.sampling.theorem_6 import theorem_6 as theorem_6
from ..accounting.units import Probability as Probability
from ..accounting.units import Sensitivity as Sensitivity
from ..accounting.units import Weight as Weight
from ..plugins.contract import draw as draw
from ..runs.contributions import first_of_each_user as first_of_each_user
from ..runs.stratified import StratifiedRun as StratifiedRun
from ..samplers.norm_strata import NormStrata as NormStrata
from ..samplers.shuffled import Shuffled as Shuffled
from ..samplers.shuffled_batches import ShuffledBatches as ShuffledBatches
from ..samplers.strata import Strata as Strata
