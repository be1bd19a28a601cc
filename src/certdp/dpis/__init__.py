"""Training by importance-sampled DP-SGD (DPIS) and by DP-SGD, within a budget that no run exceeds.

>>> import numpy as np
>>> from certdp import Budget, Delta, Epsilon, Public
>>> from certdp.dpis import FixedClip, NormSums, PublicSize, RunPlan, Sgd, train
>>> from certdp.dpis.models import LabelledData, Logistic, RecordModel
>>> records = np.linspace([-1.0, 1.0], [1.0, -1.0], 500)
>>> data = LabelledData(features=records, labels=(records[:, 0] > 0).astype(int))
>>> plan = RunPlan(
...     budget=Budget(epsilon=Epsilon(3), delta=Delta("1e-5")),
...     batch=Public(25),
...     epochs=2,
...     steps_per_epoch=20,
...     size=PublicSize(size=Public(500)),
...     clip=FixedClip(bound=Public(1)),
...     norm_sums=NormSums(noise_multiplier=Public(15)),
... )
>>> model = RecordModel(Logistic(features=2, classes=2), data, Sgd(rate=0.5))
>>> result = train(model, plan)
>>> result.epsilon <= result.guarantee.bound.epsilon.upper_float <= 3
True
>>> model.accuracy(data) > 0.8
True
"""

from .budget import AdaptiveClip as AdaptiveClip
from .budget import ConstantNoise as ConstantNoise
from .budget import DominatedAccounting as DominatedAccounting
from .budget import ExponentialDecay as ExponentialDecay
from .budget import FixedClip as FixedClip
from .budget import NoisySize as NoisySize
from .budget import NormSums as NormSums
from .budget import PublicSize as PublicSize
from .budget import RenyiAccounting as RenyiAccounting
from .budget import RunPlan as RunPlan
from .checkpoints import Checkpoints as Checkpoints
from .engine import Proposals as Proposals
from .engine import Report as Report
from .engine import Trained as Trained
from .engine import resume as resume
from .engine import train as train
from .forecast import Forecast as Forecast
from .forecast import dominated_dp_sgd as dominated_dp_sgd
from .forecast import dp_sgd as dp_sgd
from .forecast import forecast as forecast
from .gradients import Evaluation as Evaluation
from .gradients import Identity as Identity
from .gradients import RecordGradients as RecordGradients
from .gradients import Weighting as Weighting
from .history import EpochFigures as EpochFigures
from .history import History as History
from .model_statements import ModelStatement as ModelStatement
from .optimisers import Adam as Adam
from .optimisers import Sgd as Sgd
from .pictures import plot_history as plot_history
from .pictures import plot_steps as plot_steps
from .step_sums import StepFigures as StepFigures
