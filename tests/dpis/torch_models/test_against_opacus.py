# pyright: reportMissingImports=false
"""Norms of the small CNN beside those of Opacus, where it is installed."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import torch

from certdp.dpis.torch import TensorRecords, TorchModel, small_cnn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    grad_sample = pytest.importorskip("opacus.grad_sample")


@pytest.mark.filterwarnings("ignore")
def test_norms_are_those_of_opacus() -> None:
    model, inputs, targets = small_cnn(), torch.randn(9, 1, 28, 28), torch.arange(9)
    loss, data = torch.nn.CrossEntropyLoss(reduction="none"), TensorRecords(inputs=inputs, targets=targets)
    records = TorchModel(model, loss, data, torch.optim.SGD(model.parameters()))
    hooked = grad_sample.GradSampleModule(copy.deepcopy(model), loss_reduction="sum")
    loss(hooked(inputs), targets).sum().backward()
    squares = [value.grad_sample.flatten(1).square().sum(1) for value in hooked.parameters()]
    theirs = torch.stack(squares).sum(0).sqrt().numpy()
    np.testing.assert_allclose(records.evaluate(np.arange(9)).norms, theirs, rtol=1e-10)
