"""Other tools' accounts: dp_accounting's event trees, read and written, and an accountant with Opacus's protocol.

Nothing here imports another tool: their objects are known by their class names and attributes.

>>> laplace = '{"type": "LaplaceDpEvent", "noise_multiplier": 1}'
>>> event = event_from_json('{"type": "PoissonSampledDpEvent", "sampling_probability": 0.5, "event": %s}' % laplace)
>>> print(event.run().pure().bound.epsilon.upper_float)  # log(1 + (e − 1)/2)
0.6201145069582776
"""

from .as_plan import plan_of as plan_of
from .batch_events import SampledWithoutReplacement as SampledWithoutReplacement
from .batch_events import SingleEpochTreeAggregation as SingleEpochTreeAggregation
from .batch_events import TruncatedSubsampledGaussian as TruncatedSubsampledGaussian
from .claims import ClaimVerdict as ClaimVerdict
from .claims import Finding as Finding
from .claims import judged as judged
from .described_events import DiscreteGaussian as DiscreteGaussian
from .described_events import EpsilonDelta as EpsilonDelta
from .described_events import ExponentialMechanism as ExponentialMechanism
from .described_events import MixtureOfGaussians as MixtureOfGaussians
from .described_events import PermuteAndFlip as PermuteAndFlip
from .described_events import RepeatAndSelect as RepeatAndSelect
from .dp_events import event_from_json as event_from_json
from .dp_events import event_to_json as event_to_json
from .dp_events import read_event as read_event
from .dp_events import relation_named as relation_named
from .dp_events import write_event as write_event
from .event_of_pair import event_of as event_of
from .events import Composed as Composed
from .events import DiscreteLaplace as DiscreteLaplace
from .events import Event as Event
from .events import Gaussian as Gaussian
from .events import Laplace as Laplace
from .events import NonPrivate as NonPrivate
from .events import NoOp as NoOp
from .events import PoissonSampled as PoissonSampled
from .events import RandomisedResponse as RandomisedResponse
from .events import SelfComposed as SelfComposed
from .events import ZeroConcentrated as ZeroConcentrated
from .opacus import CertifiedAccountant as CertifiedAccountant
from .peer_files import PeerRun as PeerRun
from .peer_files import Source as Source
from .peer_files import read_peer_file as read_peer_file
from .stated_run import StatedRun as StatedRun
