"""Results over some of the records, made wherever these are, which merge into the result over all of them."""

from ..records.losses import LossesPart as LossesPart
from ..records.weights import WeightsPart as WeightsPart
from ..runs.partial import Part as Part
from ..runs.partial import merged as merged
