"""Results over some of the records, made wherever these are, which merge into the result over all of them."""

from ..records.losses import LossesPart as LossesPart
from ..records.sums import SumPart as SumPart
from ..records.weights import WeightsPart as WeightsPart
from ..runs.partial import Part as Part
from ..runs.partial import merged as merged
from ..weighted_sampling.sizes import TotalSize as TotalSize
from ..weighted_sampling.sizes import threshold_of_size as threshold_of_size
