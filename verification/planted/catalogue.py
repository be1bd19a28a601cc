"""All planted faults."""

from .keys import KEY_FAULTS
from .sums import SUM_FAULTS
from .training import TRAINING_FAULTS

PLANTED = (*SUM_FAULTS, *TRAINING_FAULTS, *KEY_FAULTS)
