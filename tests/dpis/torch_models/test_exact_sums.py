# pyright: reportMissingImports=false
"""Records that pass one by one: what each adds is its own, bit for bit, and sums are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from certdp.accounting.derivation import INDEPENDENT_CONTRIBUTIONS, REAL_VALUED_NOISE
from certdp.accounting.errors import InvalidValue
from certdp.accounting.provenance import Public
from certdp.dpis.engine import train
from certdp.dpis.gradients import FLOAT_GRADIENTS, RECORDS_APART, cut_to_units
from certdp.dpis.sampling import FloatArray
from certdp.dpis.torch import ReviewClassifier, TensorRecords, TorchModel, small_cnn
from tests.dpis.torch_models.test_runs import plan_of

UNIT = 2.0**-20
COUNT = 24

NETWORKS: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
    "affine": lambda: (
        nn.Sequential(nn.Linear(300, 20), nn.Tanh(), nn.Linear(20, 2)),
        torch.randn(COUNT, 300),
    ),
    "images": lambda: (small_cnn(classes=2), torch.rand(COUNT, 1, 28, 28)),
    "reviews": lambda: (ReviewClassifier(words=7, width=5, units=4, classes=2), torch.randint(0, 7, (COUNT, 9))),
}


@pytest.fixture(autouse=True)
def _binary32() -> None:
    torch.set_default_dtype(torch.float32)


def model_of(name: str, *, exact_sums: bool = True) -> TorchModel:
    torch.manual_seed(2)
    network, inputs = NETWORKS[name]()
    targets = torch.arange(COUNT) % 2
    return TorchModel(
        network,
        nn.CrossEntropyLoss(reduction="none"),
        TensorRecords(inputs=inputs, targets=targets),
        torch.optim.SGD(network.parameters(), lr=0.1),
        exact_sums=exact_sums,
    )


def clipped(norms: FloatArray) -> FloatArray:
    return np.minimum(1.0, 0.01 / np.maximum(norms, 1e-9))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_record_adds_the_same_bits_among_any_others(name: str) -> None:
    model, random = model_of(name), np.random.default_rng(1)
    alone = [model.weighted_sum(np.array([record]), clipped, UNIT) for record in range(COUNT)]
    for size in (1, 2, 7, COUNT):
        batch = random.permutation(COUNT)[:size]
        total, found = model.weighted_sum(batch, clipped, UNIT)
        assert total.dtype == np.int64
        assert np.array_equal(total, sum(alone[record][0] for record in batch))
        assert np.array_equal(found.norms, [alone[record][1].norms[0] for record in batch])
        assert np.array_equal(model.evaluate(batch).norms, found.norms)


def test_batches_of_floats_do_not() -> None:
    """The witness: what the test above would catch."""
    model = model_of("affine", exact_sums=False)
    norms = model.evaluate(np.arange(COUNT)).norms
    assert any(model.evaluate(np.array([record])).norms[0] != norms[record] for record in range(COUNT))


@pytest.mark.parametrize("name", NETWORKS)
def test_sums_are_those_of_batches_but_for_cuts(name: str) -> None:
    one, together = model_of(name), model_of(name, exact_sums=False)
    found, expected = (model.weighted_sum(np.arange(COUNT), clipped, UNIT)[0] for model in (one, together))
    assert np.abs(found).max() > 100
    assert np.max(np.abs(found - expected)) <= COUNT + 1 + 1e-4 * np.abs(expected).max()


def test_what_is_assumed_of_them() -> None:
    """Neither real-valued noise nor sums that do not depend on the batch; a model can still look elsewhere."""
    model = model_of("affine")
    assert model.assumptions == (RECORDS_APART,)
    assert model_of("affine", exact_sums=False).assumptions == FLOAT_GRADIENTS
    guarantee = train(model, plan_of(batch=Public(4))).guarantee
    assert guarantee is not None
    assert RECORDS_APART in guarantee.assumptions
    assert not {REAL_VALUED_NOISE, INDEPENDENT_CONTRIBUTIONS} & set(guarantee.assumptions)


def test_a_run_goes_on_in_the_way_it_began() -> None:
    ways: list[Any] = [model_of("affine", exact_sums=way).identity() for way in (True, False)]
    with pytest.raises(InvalidValue, match="model"):
        ways[0].require(ways[1])


def test_units_are_cut_toward_zero() -> None:
    added = np.array([1.99, -1.99, 0.4, np.nan, np.inf, -np.inf, 2.0**70])
    assert cut_to_units(added * 0.25, 0.25).tolist() == [1, -1, 0, 0, 2**62, -(2**62), 2**62]
