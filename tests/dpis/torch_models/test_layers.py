# pyright: reportMissingImports=false
"""Every kind of layer against PyTorch's own gradients of one record after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from certdp.dpis.torch import Gru, Lstm, ReviewClassifier, TemperedSigmoid, TorchModel, small_cnn

Agree = Callable[..., TorchModel]


class Only(nn.Module):
    """The first thing that a recurrent layer gives."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, inputs: Tensor) -> Tensor:
        return self.inner(inputs)[0]


def images(*shape: int) -> Tensor:
    return torch.randn(5, *shape)


def words(*shape: int) -> Tensor:
    return torch.randint(0, 7, (5, *shape))


RECORDED: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
    "affine": lambda: (nn.Linear(4, 3), images(4)),
    "affine without offsets": lambda: (nn.Linear(4, 3, bias=False), images(4)),
    "affine in a sequence": lambda: (nn.Linear(2, 3), images(6, 2)),
    "affine in a short sequence": lambda: (nn.Linear(40, 30), images(2, 40)),
    "affine in a grid": lambda: (nn.Linear(2, 3), images(3, 2, 2)),
    "images": lambda: (nn.Conv2d(2, 4, 3), images(2, 6, 5)),
    "few positions": lambda: (nn.Conv2d(6, 30, 3), images(6, 4, 3)),
    "padded": lambda: (nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(1, 2)), images(2, 7, 5)),
    "dilated in groups": lambda: (nn.Conv2d(4, 6, 3, dilation=(1, 2), groups=2, bias=False), images(4, 7, 8)),
    "each channel apart": lambda: (nn.Conv2d(3, 6, 2, groups=3), images(3, 4, 4)),
    "same size": lambda: (nn.Conv2d(1, 2, 3, padding="same", dilation=(2, 1)), images(1, 5, 6)),
    "no padding by name": lambda: (nn.Conv2d(1, 2, 3, padding="valid"), images(1, 5, 6)),
    "around": lambda: (nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), images(1, 5, 6)),
    "leftover columns": lambda: (nn.Conv2d(1, 2, 3, stride=3), images(1, 8, 7)),
    "signals": lambda: (nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), images(4, 11)),
    "solids": lambda: (nn.Conv3d(2, 4, (2, 1, 2), padding=(0, 1, 2), groups=2), images(2, 3, 2, 4)),
    "look-up": lambda: (nn.Embedding(7, 3), words(4)),
    "look-up with padding": lambda: (nn.Sequential(nn.Embedding(7, 3, padding_idx=-1), nn.Linear(3, 2)), words(4)),
    "look-up of one": lambda: (nn.Embedding(7, 3), words()),
    "look-up, sparse": lambda: (nn.Embedding(7, 3, sparse=True), words(4)),
    "layers normalised": lambda: (nn.LayerNorm([3, 2]), images(4, 3, 2)),
    "layers scaled": lambda: (nn.LayerNorm(5, bias=False), images(5)),
    "groups normalised": lambda: (nn.GroupNorm(2, 4), images(4, 3, 2)),
    "groups of a row": lambda: (nn.GroupNorm(2, 4), images(4)),
    "recurrent": lambda: (Only(Lstm(3, 4, num_layers=2, bidirectional=True)), images(5, 3)),
    "recurrent without offsets": lambda: (Only(Gru(3, 2, bias=False)), images(5, 3)),
    "in place": lambda: (nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)), images(3)),
    "small CNN": lambda: (small_cnn(activation=TemperedSigmoid), images(1, 28, 28)),
    "reviews": lambda: (ReviewClassifier(words=7, width=5, units=4, last=3), words(6)),
}


class Scaled(nn.Module):
    """A parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(3))
        self.affine = nn.Linear(3, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.affine(inputs * self.scale)


class Flattened(nn.Module):
    """Positions of all records in one dimension, which no longer counts records."""

    def __init__(self) -> None:
        super().__init__()
        self.affine = nn.Linear(2, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.affine(inputs.reshape(-1, 2)).reshape(len(inputs), -1)


class PositionsFirst(nn.Module):
    """As many positions as records at a time, in the first dimension."""

    def __init__(self) -> None:
        super().__init__()
        self.affine = nn.Linear(2, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.affine(inputs.transpose(0, 1)).transpose(0, 1)


class Transposed(nn.Module):
    """A weight used by its transpose as well: in one known way, and in one that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.affine = nn.Linear(3, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.affine(inputs).tanh() @ self.affine.weight


FORMED: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
    "own parameter": lambda: (Scaled(), images(3)),
    "parametrised": lambda: (
        nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)),
        images(3),
    ),
    "deconvolution": lambda: (nn.ConvTranspose2d(2, 3, 2), images(2, 3, 3)),
    "leaky": lambda: (nn.Sequential(nn.Linear(3, 4), nn.PReLU(4)), images(3)),
    "flattened": lambda: (Flattened(), images(4, 2)),
    "positions first": lambda: (PositionsFirst(), images(5, 2)),
    "transposed": lambda: (Transposed(), images(3)),
    "attention": lambda: (nn.TransformerEncoderLayer(4, 2, 3, dropout=0, batch_first=True), images(3, 4)),
}


@pytest.mark.parametrize("name", RECORDED)
def test_factors_give_the_gradients_of_each_record(name: str, agree: Agree) -> None:
    assert not agree(*RECORDED[name]()).formed


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of attention under torch.func
@pytest.mark.parametrize("name", FORMED)
def test_gradients_are_formed_where_no_factors_are_known(name: str, agree: Agree) -> None:
    assert agree(*FORMED[name]()).formed


@pytest.mark.parametrize("name", ["affine in a short sequence", "few positions", "small CNN", "recurrent", "look-up"])
def test_narrow_factors_agree_to_their_digits(name: str, agree: Agree) -> None:
    torch.set_default_dtype(torch.float32)
    agree(*RECORDED[name](), tolerance=2e-5)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("microbatch", [1, 2, 4])
@pytest.mark.parametrize("name", ["recurrent", "padded", "positions first", "attention"])
def test_microbatches_change_nothing(name: str, microbatch: int, agree: Agree) -> None:
    agree(*(RECORDED | FORMED)[name](), microbatch=microbatch)


def test_random_convolutions(agree: Agree) -> None:
    generator = torch.Generator().manual_seed(3)

    def drawn(least: int, most: int) -> int:
        return int(torch.randint(least, most + 1, (), generator=generator))

    for _ in range(15):
        groups, plane = drawn(1, 3), drawn(1, 3)
        size = [drawn(1, 3) for _ in range(plane)]
        options: dict[str, Any] = {
            "stride": [drawn(1, 3) for _ in size],
            "padding": [drawn(0, 2) for _ in size],
            "dilation": [drawn(1, 2) for _ in size],
            "groups": groups,
            "bias": bool(drawn(0, 1)),
        }
        kind: Any = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[plane - 1]
        layer = kind(groups * drawn(1, 2), groups * drawn(1, 2), size, **options)
        agree(layer, images(layer.in_channels, *(drawn(5, 7) for _ in size)))


class Tied(nn.Module):
    """A module used twice, a weight that two modules share, and a table that also scores."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.affine = nn.Linear(4, 4)
        self.same_weight = nn.Linear(4, 4)
        self.same_weight.weight = self.affine.weight
        self.scores = nn.Linear(4, 7)
        self.scores.weight = self.table.weight

    def forward(self, given: Tensor) -> Tensor:
        hidden = self.affine(self.affine(self.table(given)).tanh()).tanh()
        return self.scores(self.same_weight(hidden[:, 0]).tanh())


def test_parameters_used_several_times(agree: Agree) -> None:
    assert not agree(Tied(), words(3)).formed


class Shared(nn.Module):
    """One kernel at two strides, and one offset in a convolution and after it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(2, 2, 3)), nn.Parameter(torch.randn(2))

    def forward(self, inputs: Tensor) -> Tensor:
        once = functional.conv1d(inputs, self.weight, self.bias, padding=1).tanh()
        twice = functional.conv1d(once, weight=self.weight, bias=self.bias, stride=2)
        return functional.layer_norm(twice.mT, (2,), weight=self.bias)


def test_functions_count_as_modules_do(agree: Agree) -> None:
    assert not agree(Shared(), images(2, 7)).formed


def test_frozen_parameters_are_left_out(agree: Agree) -> None:
    model = small_cnn()
    for value in model[0].parameters():
        value.requires_grad_(False)
    model[7].bias.requires_grad_(False)
    records = agree(model, images(1, 28, 28))
    assert records.dimension == 26_010 - 1040 - 32


class Unused(nn.Module):
    """A layer that the loss does not depend on."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused, self.never = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        self.unused(inputs)
        return self.used(inputs)


def test_parameters_without_a_part_in_the_loss_have_no_gradient(agree: Agree) -> None:
    agree(Unused(), images(2))


@pytest.mark.parametrize(("kind", "fused"), [(Lstm, nn.LSTM), (Gru, nn.GRU)])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_layers_compute_what_the_fused_ones_do(kind: Any, fused: Any, bidirectional: bool) -> None:
    own = kind(3, 4, num_layers=2, bidirectional=bidirectional)
    theirs = fused(3, 4, num_layers=2, bidirectional=bidirectional, batch_first=True)
    assert list(own.state_dict()) == list(theirs.state_dict())
    own.load_state_dict(theirs.state_dict())
    inputs = images(6, 3)
    torch.testing.assert_close(own(inputs), theirs(inputs))


def test_the_small_cnn_is_that_of_the_literature() -> None:
    assert sum(value.numel() for value in small_cnn().parameters()) == 26_010


def test_the_tempered_sigmoid_is_the_tangent_unless_told_otherwise() -> None:
    given = images(3)
    torch.testing.assert_close(TemperedSigmoid()(given), given.tanh())
    expected = 3 / (1 + torch.exp(-0.5 * given)) - 2
    torch.testing.assert_close(TemperedSigmoid(scale=3, temperature=0.5, offset=2)(given), expected)
