"""The models of `certdp dpis train`: a row of a table for each, with the options that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, final

import typer
from attrs import asdict, frozen

from ...accounting.errors import InvalidValue
from ...dpis.gradients import RecordGradients
from ...dpis.models import (
    Activation,
    ImageShape,
    LabelledData,
    Logistic,
    Mlp,
    Network,
    RecordModel,
    Relu,
    Tanh,
    TemperedSigmoid,
)
from ...dpis.models.files import Split
from ...dpis.optimisers import OptimiserOptions
from ...dpis.scattering import Scattering
from ...plugins.contract import Coins
from ..options import refuse_unused

_ACTIVATIONS: Mapping[str, Activation] = {
    "relu": Relu(),
    "tanh": Tanh(),
    "tempered-sigmoid": TemperedSigmoid(scale=1.58, temperature=3.0, offset=0.71),  # as Papernot et al. on MNIST
}
_FEATURES: Mapping[str, Callable[[ImageShape], Scattering]] = {"scattering": Scattering}


@final
@frozen(kw_only=True)
class Classifier:
    """A model with its data, ready for a run.

    Attributes:
        records: what the run trains.
        train_accuracy: as private as the records.
        test_accuracy: None where there are no test records.
    """

    records: RecordGradients
    train_accuracy: Callable[[], float]
    test_accuracy: Callable[[], float | None]


@final
@frozen(kw_only=True)
class ModelRequest:
    """What the command is told of the model; None where nothing is said."""

    model: Annotated[
        str, typer.Option(metavar="logistic|mlp|cnn|lstm", help="What to train; cnn and lstm need PyTorch.")
    ]
    classes: Annotated[int, typer.Option(metavar="N", min=2, help="Number of classes; public.")]
    hidden: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Hidden units: by default 64 of an mlp, 32 of an lstm.")
    ] = None
    activation: Annotated[
        str | None,
        typer.Option(
            metavar="relu|tanh|tempered-sigmoid", help="What hidden units do: by default tanh, in an lstm relu."
        ),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(metavar="scattering", help="Train on fixed features of images, which cost no budget."),
    ] = None
    image: Annotated[
        str | None,
        typer.Option(metavar="[CHANNELSx]HEIGHTxWIDTH", help="Shape of images in rows; by default grey and square."),
    ] = None
    words: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Words of an lstm are numbered 1 to N, 0 is none; public.")
    ] = None
    width: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Entries of the fixed word vectors; by default 100.")
    ] = None
    device: Annotated[
        str | None, typer.Option(metavar="cpu|cuda", help="Where PyTorch computes; by default on the CPU.")
    ] = None

    exact_sums: Annotated[
        bool | None,
        typer.Option(
            "--exact-sums", help="Records pass PyTorch one by one and are added exactly: slower, and less is assumed."
        ),
    ] = None

    def check(self) -> None:
        """Before anything is read.

        Raises:
            InvalidValue: for an unknown model, options that it does not take, and where PyTorch is needed and missing.
        """
        known: Mapping[str, Mapping[str, Any]] = {"model": _KINDS, "activation": _ACTIVATIONS, "features": _FEATURES}
        for name, table in known.items():
            value = getattr(self, name)
            if value is not None and value not in table:
                raise InvalidValue(name, value, ", ".join(table), "Choose one of them, or train from Python")
        refuse_unused(
            {name: getattr(self, name) for name in _OPTIONS if name not in self._taken}, f"for --model {self.model}"
        )
        if "words" in self._taken and self.words is None:
            raise InvalidValue("words", "none", f"the number of words, for --model {self.model}", "State --words N")
        if "device" in self._taken:
            _torch(self.model)

    @property
    def stated(self) -> dict[str, str | bool]:
        """The options that are stated, with their values."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: value if value is True else str(value) for name, value in given.items()}

    def classifier(self, split: Split, optimiser: OptimiserOptions, coins: Coins) -> Classifier:
        """The model with its data.

        Raises:
            InvalidValue: for records that it does not take, and where a package is missing.
        """
        shape: ImageShape | None = None
        if "image" in self._taken:
            columns = split.train.columns
            shape = ImageShape.square(columns) if self.image is None else ImageShape.read(self.image)
        if shape is not None and self.features is not None:
            fixed = _FEATURES[self.features](shape)
            split, shape = split.map(fixed.of), fixed.result
        given = _Given(request=self, split=split, shape=shape, optimiser=optimiser, coins=coins)
        return _KINDS[self.model].build(given)

    def activation_or(self, usual: Activation) -> Activation:
        """The activation asked for, or the usual one."""
        return usual if self.activation is None else _ACTIVATIONS[self.activation]

    @property
    def _taken(self) -> frozenset[str]:
        taken = _KINDS[self.model].takes
        return taken if self.features is None else taken | {"image"}


@final
@frozen(kw_only=True)
class _Given:
    """What a model is made of.

    Attributes:
        request: what the command says.
        split: records, or their features.
        shape: of one of them, where the model or the features take images.
        optimiser: options of the optimiser.
        coins: for the parameters to begin with.
    """

    request: ModelRequest
    split: Split
    shape: ImageShape | None
    optimiser: OptimiserOptions
    coins: Coins


@final
@frozen
class _Kind:
    """A model.

    Attributes:
        build: makes it.
        takes: the options that say something about it.
    """

    build: Callable[[_Given], Classifier]
    takes: frozenset[str]


def _logistic(given: _Given) -> Classifier:
    return _in_numpy(given, Logistic(features=given.split.train.columns, classes=given.request.classes))


def _mlp(given: _Given) -> Classifier:
    request = given.request
    network = Mlp(
        features=given.split.train.columns,
        hidden=request.hidden or 64,
        classes=request.classes,
        activation=request.activation_or(Tanh()),
    )
    return _in_numpy(given, network)


def _in_numpy(given: _Given, network: Network) -> Classifier:
    train, test = given.split.train, given.split.test
    model = RecordModel(network, train, given.optimiser, coins=given.coins)
    return Classifier(
        records=model,
        train_accuracy=lambda: model.accuracy(train),
        test_accuracy=lambda: None if test is None else model.accuracy(test),
    )


def _cnn(given: _Given) -> Classifier:
    request, shape = given.request, given.shape
    torch = _torch(request.model)
    made = torch.small_cnn if request.features is None else torch.scattering_cnn
    activation = torch.activation_modules(request.activation_or(Tanh()))
    return _in_torch(
        given,
        network=lambda: made(classes=request.classes, shape=shape, activation=activation),
        records=lambda data: torch.ImageRecords(data, shape),
    )


def _lstm(given: _Given) -> Classifier:
    request, words = given.request, given.request.words
    assert words is not None
    torch = _torch(request.model)
    network = partial(
        torch.ReviewClassifier,
        words=words + 1,
        width=request.width or 100,
        units=request.hidden or 32,
        classes=request.classes,
        activation=torch.activation_modules(request.activation_or(Relu())),
    )
    return _in_torch(given, network=network, records=lambda data: torch.WordRecords(data, words))


def _in_torch(given: _Given, *, network: Callable[[], Any], records: Callable[[LabelledData], Any]) -> Classifier:
    request, split = given.request, given.split
    split.train.require_classes(request.classes)
    train, test = records(split.train), None if split.test is None else records(split.test)
    model = _torch(request.model).classifier(
        network,
        train,
        given.optimiser,
        coins=given.coins,
        device=request.device or "cpu",
        exact_sums=bool(request.exact_sums),
    )
    return Classifier(
        records=model,
        train_accuracy=lambda: model.accuracy(train),
        test_accuracy=lambda: None if test is None else model.accuracy(test),
    )


def _torch(model: str) -> Any:
    try:
        from ...dpis import torch
    except ImportError:
        remedy = "pip install 'certdp[torch]'"
        raise InvalidValue("model", model, "logistic or mlp, where PyTorch is not installed", remedy) from None
    return torch


_KINDS: Mapping[str, _Kind] = {
    "logistic": _Kind(_logistic, frozenset({"features"})),
    "mlp": _Kind(_mlp, frozenset({"hidden", "activation", "features"})),
    "cnn": _Kind(_cnn, frozenset({"activation", "features", "image", "device", "exact_sums"})),
    "lstm": _Kind(_lstm, frozenset({"hidden", "activation", "words", "width", "device", "exact_sums"})),
}
_OPTIONS = sorted(frozenset[str]().union(*(kind.takes for kind in _KINDS.values())))
