"""Training runs of the tables of DPIS, one engine for every method, written down as they finish.

Alike for all: networks of one kind, b, E, C, σ_N = σ_K = 0.02·N (DPIS Table 2) and the grid of learning rates, of which
the best by accuracy on the training records is taken, in runs with other coins. That choice is not accounted for, as in
the paper; nor is N, from which σ_N, σ_K and T are computed (erratum DPIS-private N).
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from attrs import Factory, asdict, evolve, field, fields, frozen

from ..accounting.errors import InvalidValue
from ..accounting.provenance import Public
from ..accounting.units import Delta, Epsilon
from ..dpis.budget import AdaptiveClip, ExponentialDecay, FixedClip, NoisySize, NormSums, RunPlan
from ..dpis.engine import Proposals, train
from ..dpis.forecast import dp_sgd
from ..dpis.models import Activation, Relu, TemperedSigmoid
from ..durable.files import made_folder, write_whole
from ..runs.calibration import Budget
from .contenders import coins_at
from .findings import Table
from .networks import Networks, SmallNetworks
from .training_data import TrainingData

EPOCHS, LARGEST_BATCH = 10, 512
CLIP = Fraction(1)
DECAY = Fraction(99, 100)
DELTA = "1e-5"

_ALIKE: dict[str, Any] = {
    "epochs": EPOCHS,
    "clip": float(CLIP),
    "decay": float(DECAY),
    "delta": DELTA,
}
"""What every run has in common, beside b; runs that had another are not taken for these."""

_LEAST_BATCHES = 20  # of an epoch, for small data
_RESULT, _TUNING = 0, 1  # places of coins


@final
@frozen
class Method:
    """A way to train.

    Attributes:
        name: in tables.
        label: in pictures.
        plan: from the run of DPIS.
        activation: of hidden layers.
        scattering: whether convolutional networks get the features of a scattering network.
    """

    name: str
    label: str
    plan: Callable[[RunPlan], RunPlan] = field(repr=False)
    activation: Activation
    scattering: bool = False


def _decaying(plan: RunPlan) -> RunPlan:
    return evolve(dp_sgd(plan), schedule=ExponentialDecay(base=Public(DECAY)))


DPIS = Method("dpis", "DPIS", lambda plan: plan, Relu())
DP_SGD = Method("dp-sgd", "DP-SGD", dp_sgd, Relu())
PAIR = (DPIS, DP_SGD)
METHODS = (
    *PAIR,
    Method("dp-sgd-decay", "DP-SGD, decaying noise", _decaying, Relu()),
    Method("dp-sgd-ts", "DP-SGD, tempered sigmoid", dp_sgd, TemperedSigmoid(scale=1.58, temperature=3.0, offset=0.71)),
)
SCATTERED = (
    Method("dpis-hf", "DPIS, scattering features", lambda plan: plan, Relu(), scattering=True),
    Method("dp-sgd-hf", "DP-SGD, scattering features", dp_sgd, Relu(), scattering=True),
)
"""What the paper calls DPIS on images, and DP-SGD-HF."""


@final
@frozen
class Adaptation:
    """How C adapts (DPIS Section 3.5).

    Attributes:
        external: C*/C₁.
        quantile: λ.
    """

    external: Fraction = Fraction(4)
    quantile: Fraction = Fraction(1)

    def clip(self, noise: Public[Fraction]) -> AdaptiveClip:
        """The rule, within a public interval from a tenth of C₁ to C*."""
        return AdaptiveClip(
            start=Public(CLIP),
            external=Public(self.external * CLIP),
            quantile=Public(self.quantile),
            noise_multiplier=noise,
            lowest=Public(CLIP / 10),
            highest=Public(self.external * CLIP),
        )


@final
@frozen(kw_only=True)
class Setting:
    """One setting that is compared: privacy, method and options of training.

    Attributes:
        epsilon: ε₀.
        method: of training.
        divider: a_E.
        multiplier: k.
        adaptation: of C, or none.
    """

    epsilon: Fraction
    method: Method = DPIS
    divider: Fraction = Fraction(4, 5)
    multiplier: Fraction = Fraction(5)
    adaptation: Adaptation | None = None

    @property
    def tuned_as(self) -> Setting:
        """The setting whose learning rate this one shares: that of its method at its ε."""
        return Setting(epsilon=self.epsilon, method=self.method, adaptation=self.adaptation and Adaptation())

    @property
    def figures(self) -> dict[str, Any]:
        """The setting as figures for a table."""
        adaptation = self.adaptation
        return {
            "method": self.method.name,
            "epsilon": float(self.epsilon),
            "divider": float(self.divider),
            "multiplier": float(self.multiplier),
            "external": None if adaptation is None else float(adaptation.external),
            "quantile": None if adaptation is None else float(adaptation.quantile),
        }

    def plan(self, records: int) -> RunPlan:
        """Return the plan of the run on so many records."""
        noise, batch = Public(Fraction(records, 50)), batch_for(records)
        clip = FixedClip(bound=Public(CLIP)) if self.adaptation is None else self.adaptation.clip(noise)
        return self.method.plan(
            RunPlan(
                budget=Budget(epsilon=Epsilon(self.epsilon), delta=Delta(DELTA)),
                batch=Public(batch),
                epochs=EPOCHS,
                steps_per_epoch=round(records / batch),
                size=NoisySize(noise=noise, guess=Public(records)),
                clip=clip,
                norm_sums=NormSums(noise_multiplier=noise),
                divider=Public(self.divider),
            )
        )


def batch_for(records: int) -> int:
    """b: 512, or less for fewer records."""
    return max(1, min(LARGEST_BATCH, records // _LEAST_BATCHES))


@final
@frozen(kw_only=True)
class Outcome:
    """What a run came to; accuracies are for the data's owner.

    Attributes:
        epsilon_paid: an upper bound of the ε paid.
        first_noise_multiplier: σ_G of the first epoch.
        last_noise_multiplier: σ_G of the last.
        last_share: K̃/(Ñ·C) of the last epoch.
        last_clip: C of the last epoch.
        private_train_accuracy: on the training records.
        private_test_accuracy: on the others.
        seconds: the time it took.
    """

    epsilon_paid: float
    first_noise_multiplier: float
    last_noise_multiplier: float
    last_share: float
    last_clip: float
    private_train_accuracy: float
    private_test_accuracy: float
    seconds: float


_Key: TypeAlias = tuple[str, ...]
_OUTCOMES = tuple(attribute.name for attribute in fields(Outcome))


@final
class Ledger:
    """The runs that are finished, in a file if there is a folder for it, so that an interrupted table goes on.

    Args:
        path: of the file, or none.
        secret: whether it is for its owner alone.

    Raises:
        InvalidValue: for a file that no ledger wrote.
    """

    def __init__(self, path: Path | None, *, secret: bool) -> None:
        self._path, self._secret = path, secret
        self._columns: tuple[str, ...] = ()
        self._known: dict[_Key, Outcome] = {}
        if path is not None and path.exists():
            self._read(path)

    def outcome(self, key: Mapping[str, Any], compute: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of a run, which is made unless it was before.

        Raises:
            InvalidValue: where the file has runs that are described by other columns.
        """
        if self._columns not in ((), tuple(key)):
            admissible = "a table of runs as this version writes it"
            raise InvalidValue("out", str(self._path), admissible, "Take another folder, or move the file away")
        named = tuple("" if value is None else str(value) for value in key.values())
        if named not in self._known:
            self._known[named] = compute()
            self._columns = tuple(key)
            self._write()
        return self._known[named]

    def _read(self, path: Path) -> None:
        try:
            rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
            for row in rows:
                outcome = Outcome(**{name: float(row.pop(name)) for name in _OUTCOMES})
                self._columns, self._known[tuple(row.values())] = tuple(row), outcome
        except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
            raise InvalidValue("out", str(path), "a table of runs as this command writes it", str(error)) from None

    def _write(self) -> None:
        if self._path is None:
            return
        rows = [(*key, *asdict(outcome).values()) for key, outcome in self._known.items()]
        try:
            made_folder(self._path.parent)
        except OSError as error:
            raise InvalidValue("out", str(self._path.parent), "a folder that can be written", str(error)) from None
        write_whole(self._path, Table((*self._columns, *_OUTCOMES), rows).csv, secret=self._secret)


@final
@frozen(kw_only=True, eq=False)
class Trainer:
    """Makes runs on one set of data.

    Attributes:
        data: the data.
        seed: of all coins.
        repetitions: of each run.
        ledger: of finished runs.
        finished: is told of each run.
        networks: what is trained.
    """

    data: TrainingData
    seed: int
    repetitions: int
    ledger: Ledger
    finished: Callable[[], None]
    networks: Networks = field(factory=SmallNetworks)
    _digest: str = field(init=False, default=Factory(lambda self: self.data.digest, takes_self=True))

    def outcomes(self, setting: Setting) -> tuple[float, list[Outcome]]:
        """The learning rate found for a setting, and its runs with it."""
        rate = self._rate(setting.tuned_as)
        return rate, [self._outcome(setting, rate, _RESULT, number) for number in range(self.repetitions)]

    def _rate(self, setting: Setting) -> float:
        """The best of the grid by accuracy on the training records, in a run with other coins; the least of equals."""
        return max(
            self.networks.rates, key=lambda rate: self._outcome(setting, rate, _TUNING, 0).private_train_accuracy
        )

    def _outcome(self, setting: Setting, rate: float, purpose: int, number: int) -> Outcome:
        key = {
            "data": self._digest,
            **setting.figures,
            "network": self.networks.name,
            "batch": batch_for(len(self.data.train)),
            **_ALIKE,
            "learning_rate": rate,
            "seed": self.seed,
            "purpose": "tuning" if purpose == _TUNING else "result",
            "repetition": number,
        }
        outcome = self.ledger.outcome(key, lambda: self._train(setting, rate, purpose, number))
        self.finished()
        return outcome

    def _train(self, setting: Setting, rate: float, purpose: int, number: int) -> Outcome:
        began = time.perf_counter()
        coins = coins_at(self.seed, purpose, number)
        data = self.data
        method = setting.method
        model = self.networks.trained(data, method.activation, rate, coins, scattering=method.scattering)
        proposals = Proposals(multiplier=setting.multiplier)
        result = train(model.records, setting.plan(len(data.train)), proposals=proposals, coins=coins)
        first, last = result.history.epochs[0], result.history.epochs[-1]
        return Outcome(
            epsilon_paid=result.epsilon,
            first_noise_multiplier=first.noise_multiplier,
            last_noise_multiplier=last.noise_multiplier,
            last_share=last.share,
            last_clip=last.clip,
            private_train_accuracy=model.train_accuracy(),
            private_test_accuracy=model.test_accuracy(),
            seconds=time.perf_counter() - began,
        )


def interval(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and half of its 95 % interval by Student's t; none for a single value."""
    mean, count = float(np.mean(values)), len(values)
    if count == 1:
        return mean, None
    from scipy.stats import t

    return mean, float(t.ppf(0.975, count - 1) * np.std(values, ddof=1) / np.sqrt(count))
