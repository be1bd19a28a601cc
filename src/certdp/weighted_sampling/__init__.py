"""Private weighted sampling of keyed data: from keys and counts in files to a private weighted sample."""

from .counts import CountStream as CountStream
from .counts import KeyCounts as KeyCounts
from .counts import open_counts as open_counts
from .drawing import Drawn as Drawn
from .drawing import draw_reports as draw_reports
from .drawing import sanitise_reports as sanitise_reports
from .sample_files import SampleStatement as SampleStatement
from .sample_files import read_sample as read_sample
from .sample_files import write_sample as write_sample
from .threshold_samples import KeyHash as KeyHash
from .threshold_samples import SeedOrder as SeedOrder
from .threshold_samples import ThresholdSample as ThresholdSample
from .threshold_samples import bottom_k_sample as bottom_k_sample
from .threshold_samples import merge as merge
from .threshold_samples import threshold_sample as threshold_sample
