# pyright: reportMissingImports=false
"""A PyTorch model in a training run: what is refused, odd records, optimisers, states."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from certdp.accounting.errors import InvalidValue
from certdp.dpis.torch import DatasetRecords, TensorRecords, TorchModel

UNIT = 2.0**-50

Make = Callable[..., TorchModel]


class Centred(nn.Module):
    """Mixes records without a name for it."""

    def __init__(self) -> None:
        super().__init__()
        self.affine = nn.Linear(3, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.affine(inputs - inputs.mean(dim=0))


class Turned(Centred):
    def forward(self, inputs: Tensor) -> Tensor:
        return self.affine(inputs.flip(0))


class Counting(Centred):
    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, inputs: Tensor) -> Tensor:
        self.seen += inputs.sum()
        return self.affine(inputs)


class Dropping(Centred):
    def forward(self, inputs: Tensor) -> Tensor:
        return nn.functional.dropout(self.affine(inputs), 0.5)


class Hidden(nn.Module):
    """An input changed in place once the layer has read it."""

    def __init__(self) -> None:
        super().__init__()
        self.affine = nn.Linear(3, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        doubled = inputs * 2
        outputs = self.affine(doubled)
        doubled.zero_()
        return outputs


@pytest.mark.parametrize(
    ("model", "inputs", "said"),
    [
        (lambda: nn.Sequential(nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2)), (1, 3, 3), "GroupNorm"),
        (lambda: nn.BatchNorm1d(3).eval(), (3,), "GroupNorm"),
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.SyncBatchNorm(2)), (3,), "GroupNorm"),
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.LazyBatchNorm1d()), (3,), "GroupNorm"),
        (lambda: nn.InstanceNorm1d(2, affine=True, track_running_stats=True), (2, 3), "track_running_stats"),
        (lambda: nn.LSTM(3, 2, batch_first=True), (4, 3), "certdp.dpis.torch.Lstm"),
        (lambda: nn.GRU(3, 2, batch_first=True), (4, 3), "certdp.dpis.torch.Gru"),
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5)), (3,), "eval()"),
        (lambda: nn.utils.spectral_norm(nn.Linear(3, 2)), (3,), "buffer"),
        (Counting, (3,), "buffer"),
        (Centred, (3,), "mix records"),
        (Turned, (3,), "mix records"),
        (Dropping, (3,), "draw random numbers"),
        (Hidden, (3,), "in place"),
    ],
)
def test_what_mixes_records_is_refused(make: Make, model: Any, inputs: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        make(model(), torch.randn(5, *inputs))
    assert said in str(refusal.value)


def test_a_model_without_trained_parameters_is_refused() -> None:
    model = nn.Linear(3, 2)
    data, optimiser = TensorRecords(inputs=torch.ones(1, 3), targets=torch.ones(1)), torch.optim.SGD(model.parameters())
    with pytest.raises(InvalidValue, match="requires gradients"):
        TorchModel(model.requires_grad_(False), sum_of, data, optimiser)


def sum_of(outputs: Tensor, targets: Tensor) -> Tensor:
    return outputs.flatten(1).sum(1) - targets


def test_tables_that_look_at_other_records_are_refused(make: Make) -> None:
    for table in (nn.Embedding(4, 2, max_norm=1.0), nn.Embedding(4, 2, scale_grad_by_freq=True)):
        with pytest.raises(InvalidValue, match="mixes records"):
            make(table, torch.randint(0, 4, (5, 3)))


def test_a_layer_that_draws_nothing_now_is_admitted(make: Make) -> None:
    make(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5).eval()), torch.randn(5, 3))


def test_a_loss_of_all_records_is_refused(make: Make) -> None:
    with pytest.raises(InvalidValue, match="reduction"):
        make(nn.Linear(3, 2), torch.randn(5, 3), loss=lambda outputs, _: outputs.mean())


def test_an_optimiser_without_a_trained_parameter_is_refused() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    data = TensorRecords(inputs=torch.randn(5, 3), targets=torch.zeros(5))
    with pytest.raises(InvalidValue, match=r"0\.weight"):
        TorchModel(model, sum_of, data, torch.optim.SGD(model[1].parameters(), lr=0.1))


class Fickle(nn.Module):
    """Takes another way for some records."""

    def __init__(self) -> None:
        super().__init__()
        self.affine = nn.Linear(3, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        once = self.affine(inputs)
        return self.affine(once) if bool((inputs > 100).any()) else once


def test_a_pass_that_takes_another_way_is_refused(make: Make) -> None:
    inputs = torch.randn(6, 3)
    inputs[1] = 1000
    records = make(Fickle(), inputs)
    with pytest.raises(InvalidValue, match="otherwise than at first"):
        records.evaluate(np.arange(6))


def test_a_record_that_the_model_does_not_take_is_found_before_a_run(make: Make) -> None:
    words = torch.zeros(600, 3, dtype=torch.int64)
    records = make(nn.Embedding(4, 2), words)
    records.try_all()
    words[301, 1] = 4
    with pytest.raises(InvalidValue, match="records 256 to 511"):
        records.try_all()


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e200])
def test_an_odd_record_harms_no_other(make: Make, odd: float) -> None:
    inputs = torch.randn(6, 3)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    others = np.array([0, 1, 2, 4, 5])
    expected = make(model, inputs).weighted_sum(others, np.ones_like, UNIT)[0]
    inputs[3, 1] = odd
    records = make(model, inputs)
    total, found = records.weighted_sum(np.arange(6), lambda norms: np.where(norms < 1e100, 1.0, 0.0), UNIT)
    assert not found.norms[3] < 1e100
    assert np.isfinite(found.norms[others]).all()
    np.testing.assert_allclose(total * UNIT, expected * UNIT, rtol=1e-12, atol=1e-13)


def test_no_records_and_no_gradient(make: Make) -> None:
    records = make(nn.Linear(3, 2, bias=False), torch.zeros(5, 3))
    total, found = records.weighted_sum(np.arange(0), np.ones_like, UNIT)
    assert total.tolist() == [0] * 6
    assert found.norms.shape == (0,)
    assert (records.evaluate(np.arange(5)).norms < 2.0**-500).all()  # which an engine counts as 0


def test_one_record_is_enough(make: Make) -> None:
    assert make(nn.Linear(3, 2), torch.ones(1, 3)).evaluate(np.arange(1)).norms[0] > 0


def test_errors_are_those_of_binary64(make: Make) -> None:
    records = make(nn.Linear(3, 2).float(), torch.randn(4, 3, dtype=torch.float32))
    assert records.size == 4
    assert records.dimension == 8
    assert records.error == Fraction(4 * 16, 2**53)


OPTIMISERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda values: torch.optim.SGD(values, lr=0.1),
    "momentum": lambda values: torch.optim.SGD(values, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda values: torch.optim.Adam(values, lr=0.01),
    "adamw": lambda values: torch.optim.AdamW(values, lr=0.01, amsgrad=True),
    "rmsprop": lambda values: torch.optim.RMSprop(values, lr=0.01, centered=True),
}


def with_optimiser(name: str, model: nn.Module) -> TorchModel:
    data = TensorRecords(inputs=torch.ones(4, 3), targets=torch.zeros(4))
    return TorchModel(model, sum_of, data, OPTIMISERS[name](model.parameters()))


def small() -> nn.Module:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(3, 2), nn.GroupNorm(1, 2))


def values_of(model: nn.Module) -> np.ndarray[Any, Any]:
    return np.concatenate([value.detach().numpy().ravel() for value in model.parameters()])


@pytest.mark.parametrize("name", OPTIMISERS)
def test_steps_are_the_optimisers_own(name: str) -> None:
    ours, theirs = small(), small()
    records, optimiser = with_optimiser(name, ours), OPTIMISERS[name](theirs.parameters())
    for number in range(3):
        gradient = np.cos(np.arange(records.dimension) + number)
        records.step(gradient)
        at = 0
        for value in theirs.parameters():
            value.grad = torch.from_numpy(gradient[at : at + value.numel()].reshape(tuple(value.shape)))
            at += value.numel()
        optimiser.step()
    assert (values_of(ours) == values_of(theirs)).all()


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_restored_model_goes_on_as_the_first_would_have(name: str) -> None:
    first = with_optimiser(name, small())
    gradient = np.sin(np.arange(first.dimension))
    first.step(gradient)
    state = first.state()
    again = with_optimiser(name, nn.Sequential(nn.Linear(3, 2), nn.GroupNorm(1, 2)))
    again.restore(state)
    first.step(-gradient)
    again.step(-gradient)
    assert (values_of(first.model) == values_of(again.model)).all()
    first.restore(state)
    first.step(-gradient)
    assert (values_of(first.model) == values_of(again.model)).all()


def test_a_state_of_something_else_changes_nothing() -> None:
    records = with_optimiser("momentum", small())
    records.step(np.ones(records.dimension))
    before, state = values_of(records.model), records.state()
    shorter = {name: array for name, array in state.items() if name != "parameter.0.bias"}
    odd = [
        {},
        shorter,
        shorter | {"parameter.0.bias": np.zeros(3)},
        state | {"optimiser.9.momentum_buffer": np.zeros(2)},
        state | {"optimiser.0.momentum_buffer": np.zeros(5)},
    ]
    for wrong in odd:
        with pytest.raises(InvalidValue):
            records.restore(wrong)
        assert (values_of(records.model) == before).all()
        assert records.state().keys() == state.keys()


def test_what_remembers_anything_but_tensors_is_refused() -> None:
    model = small()
    data = TensorRecords(inputs=torch.ones(4, 3), targets=torch.zeros(4))
    records = TorchModel(model, sum_of, data, torch.optim.NAdam(model.parameters()))
    records.state()
    optimiser = torch.optim.SGD(model.parameters())
    optimiser.state[next(model.parameters())]["seen"] = 3
    with pytest.raises(InvalidValue, match="seen"):
        TorchModel(model, sum_of, data, optimiser).state()


class Pairs(torch.utils.data.Dataset):  # type: ignore[type-arg, unused-ignore]
    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.full((3,), float(index)), index % 2


def test_a_data_set_of_pairs_is_read_one_by_one() -> None:
    model = nn.Linear(3, 2)
    pairs = DatasetRecords(Pairs())
    tensors = TensorRecords(inputs=torch.arange(5.0).unsqueeze(1).expand(5, 3), targets=torch.arange(5) % 2)
    loss = nn.CrossEntropyLoss(reduction="none")
    found = [
        TorchModel(model, loss, data, torch.optim.SGD(model.parameters())).evaluate(np.array([4, 1, 1])).norms
        for data in (pairs, tensors)
    ]
    assert (found[0] == found[1]).all()
    assert found[0][1] == found[0][2] != found[0][0]


def test_bytes_are_divided_as_they_are_read() -> None:
    data = TensorRecords(
        inputs=torch.tensor([[0, 255], [51, 102]], dtype=torch.uint8), targets=torch.zeros(2), divide_by=255
    )
    assert data.rows(torch.tensor([1]))[0].tolist() == [[0.2, 0.4]]


@pytest.mark.parametrize(
    "changes",
    [{"inputs": torch.zeros(0, 2)}, {"targets": torch.zeros(3)}, {"divide_by": 0.0}, {"divide_by": float("inf")}],
)
def test_tables_without_sense_are_refused(changes: dict[str, Any]) -> None:
    stated: dict[str, Any] = {"inputs": torch.zeros(2, 2), "targets": torch.zeros(2)}
    with pytest.raises(InvalidValue):
        TensorRecords(**(stated | changes))


def test_classes_are_predicted() -> None:
    model = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.eye(2))
    data = TensorRecords(inputs=torch.tensor([[1.0, 0], [0, 1], [3, 2]]), targets=torch.tensor([0, 1, 1]))
    loss = nn.CrossEntropyLoss(reduction="none")
    records = TorchModel(model, loss, data, torch.optim.SGD(model.parameters()), microbatch=2)
    assert records.predict(data).tolist() == [0, 1, 0]
    assert records.accuracy(data) == 2 / 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_gives_what_the_processor_gives(make: Make) -> None:
    def model() -> nn.Module:
        torch.manual_seed(5)
        return nn.Sequential(nn.Conv2d(1, 3, 3), nn.GroupNorm(3, 3), nn.Tanh(), nn.Flatten(), nn.Linear(48, 2))

    inputs = torch.randn(9, 1, 6, 6)
    here, there = make(model(), inputs), make(model().cuda(), inputs, microbatch=4)
    found = [records.weighted_sum(np.arange(9), np.reciprocal, UNIT) for records in (here, there)]
    np.testing.assert_allclose(found[1][1].norms, found[0][1].norms, rtol=1e-10)
    np.testing.assert_allclose(found[1][0] * UNIT, found[0][0] * UNIT, rtol=1e-9, atol=1e-12)
    there.step(np.asarray(found[1][0] * UNIT, dtype=np.float64))
    there.restore(there.state())
    assert next(there.model.parameters()).is_cuda
