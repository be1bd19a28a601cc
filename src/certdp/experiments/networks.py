"""What the tables of DPIS train: small networks in NumPy, or convolutional and recurrent ones, as in the paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..dpis.gradients import RecordGradients
from ..dpis.models import Activation, ImageShape, LabelledData, Mlp, RecordModel
from ..dpis.optimisers import Adam, OptimiserOptions, Sgd
from ..dpis.scattering import Scattering
from ..plugins.contract import Coins
from .training_data import TrainingData

HIDDEN, MOMENTUM = 32, 0.9
RATES = (0.1, 0.2, 0.4, 0.8, 1.6)
"""The grid of learning rates of small networks."""

_WIDTH, _UNITS = 100, 32  # DPIS Table 1


@final
@frozen(kw_only=True)
class Trained:
    """A network with its data.

    Attributes:
        records: what a run trains.
        train_accuracy: on the training records, as private as they are.
        test_accuracy: on the others.
    """

    records: RecordGradients
    train_accuracy: Callable[[], float]
    test_accuracy: Callable[[], float]


class Networks(Protocol):
    """Networks of one kind."""

    @property
    def name(self) -> str:
        """Tells the kind in tables of runs."""
        ...

    @property
    def rates(self) -> tuple[float, ...]:
        """The grid of learning rates."""
        ...

    @property
    def in_order(self) -> bool:
        """Whether they read the words of a text in their order."""
        ...

    def check(self, data: TrainingData) -> None:
        """Find out whether they can be trained on such data, before anything is.

        Raises:
            InvalidValue: for data that the kind does not take, and where a package is missing.
        """
        ...

    def trained(
        self, data: TrainingData, activation: Activation, rate: float, coins: Coins, *, scattering: bool
    ) -> Trained:
        """A network with its data, before training.

        Args:
            data: with training and test records.
            activation: of hidden layers.
            rate: the learning rate.
            coins: for the parameters to begin with.
            scattering: on features of a scattering network, for images.
        """
        ...


@final
@frozen
class SmallNetworks:
    """Networks with one hidden layer, in NumPy, by gradient descent with momentum."""

    @property
    def name(self) -> str:
        """Tells the kind in tables of runs."""
        return f"mlp-{HIDDEN}, momentum {MOMENTUM}"

    @property
    def rates(self) -> tuple[float, ...]:
        """The grid of learning rates."""
        return RATES

    @property
    def in_order(self) -> bool:
        """Whether they read the words of a text in their order."""
        return False

    def check(self, data: TrainingData) -> None:
        """Every data set will do."""
        del data

    def trained(
        self, data: TrainingData, activation: Activation, rate: float, coins: Coins, *, scattering: bool
    ) -> Trained:
        """A network with its data: see `Networks`."""
        assert not scattering, "no image has a shape here"
        network = Mlp(features=data.train.columns, hidden=HIDDEN, classes=data.classes, activation=activation)
        model = RecordModel(network, data.train, Sgd(rate=rate, momentum=MOMENTUM), coins=coins)
        return Trained(
            records=model,
            train_accuracy=lambda: model.accuracy(data.train),
            test_accuracy=lambda: model.accuracy(data.test),
        )


@final
@frozen
class Convolutional:
    """The convolutional networks of the paper's competitors, on pixels or on features of a scattering network."""

    @property
    def name(self) -> str:
        """Tells the kind in tables of runs."""
        return f"cnn, momentum {MOMENTUM}"

    @property
    def rates(self) -> tuple[float, ...]:
        """The grid of learning rates."""
        return (0.1, 0.2, 0.4)

    @property
    def in_order(self) -> bool:
        """Whether they read the words of a text in their order."""
        return False

    def check(self, data: TrainingData) -> None:
        """Images are square: see `Networks`."""
        need_torch()
        Scattering(ImageShape.square(data.train.columns)).check_installed()

    def trained(
        self, data: TrainingData, activation: Activation, rate: float, coins: Coins, *, scattering: bool
    ) -> Trained:
        """A network with its data: see `Networks`."""
        torch = need_torch()
        shape = ImageShape.square(data.train.columns)
        train, test, make = data.train, data.test, torch.small_cnn
        if scattering:
            fixed = Scattering(shape)
            train, test, shape, make = (
                _scattered(fixed, train),
                _scattered(fixed, test),
                fixed.result,
                torch.scattering_cnn,
            )
        modules = torch.activation_modules(activation)
        return _in_torch(
            lambda: make(classes=data.classes, shape=shape, activation=modules),
            torch.ImageRecords(train, shape),
            torch.ImageRecords(test, shape),
            Sgd(rate=rate, momentum=MOMENTUM),
            coins,
        )


@final
@frozen
class Recurrent:
    """The recurrent network of the paper on texts, by Adam; its word vectors are fixed, at random."""

    @property
    def name(self) -> str:
        """Tells the kind in tables of runs."""
        return f"lstm-{_UNITS}, adam"

    @property
    def rates(self) -> tuple[float, ...]:
        """The grid of learning rates."""
        return (0.003, 0.01, 0.03)

    @property
    def in_order(self) -> bool:
        """Whether they read the words of a text in their order."""
        return True

    def check(self, data: TrainingData) -> None:
        """Texts are numbers of words: see `Networks`."""
        need_torch()
        if data.words is None:
            raise InvalidValue("data", data.name, "an archive with numbers of words, and vocab", "Train other networks")

    def trained(
        self, data: TrainingData, activation: Activation, rate: float, coins: Coins, *, scattering: bool
    ) -> Trained:
        """A network with its data: see `Networks`."""
        assert data.words is not None
        assert not scattering, "texts have none"
        torch, words = need_torch(), data.words
        modules = torch.activation_modules(activation)
        return _in_torch(
            lambda: torch.ReviewClassifier(
                words=words + 1, width=_WIDTH, units=_UNITS, classes=data.classes, activation=modules
            ),
            torch.WordRecords(data.train, words),
            torch.WordRecords(data.test, words),
            Adam(rate=rate),
            coins,
        )


def need_torch() -> Any:
    """The models of PyTorch.

    Raises:
        InvalidValue: where it is not installed.
    """
    try:
        from ..dpis import torch
    except ImportError:
        remedy = "pip install 'certdp[torch]'"
        admissible = "another, where PyTorch is not installed"
        raise InvalidValue("experiment", "with convolutional or recurrent networks", admissible, remedy) from None
    return torch


@lru_cache(maxsize=2)
def _scattered(fixed: Scattering, data: LabelledData) -> LabelledData:
    """The features of one data set, which all runs of a table share."""
    return fixed.of(data)


def _in_torch(network: Callable[[], Any], train: Any, test: Any, optimiser: OptimiserOptions, coins: Coins) -> Trained:
    model = need_torch().classifier(network, train, optimiser, coins=coins)
    return Trained(
        records=model,
        train_accuracy=lambda: model.accuracy(train),
        test_accuracy=lambda: model.accuracy(test),
    )
