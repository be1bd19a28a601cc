"""The example that audits training from one run: it passes, and training with too little noise is caught."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp import Coins, Epsilon
from certdp.accounting.draws.noise import Integers

EXAMPLE = Path(__file__).parents[2] / "examples/audit_training.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def quieter(share: float) -> Callable[[Coins, Fraction, int], Integers]:
    """Gaussian noise times a share."""
    honest = Coins.gaussian_cells

    def gaussian_cells(coins: Coins, scale: Fraction, size: int) -> Integers:
        return np.asarray(share * honest(coins, scale, size)).astype(np.int64)

    return gaussian_cells


@pytest.mark.slow
def test_the_run_is_within_its_claim(example: dict[str, Any], stream: int) -> None:
    found, trained = example["trained_on_canaries"](100 + stream)
    assert trained.epsilon <= 1
    assert not found.refutes(Epsilon(1))
    assert found.right.trials == 1000


@pytest.mark.slow
@pytest.mark.parametrize(("share", "least"), [(0.0, 2.0), (1 / 8, 1.5)])
def test_too_little_noise_is_caught(
    example: dict[str, Any], share: float, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Coins, "gaussian_cells", quieter(share))
    found, trained = example["trained_on_canaries"](1)
    assert trained.epsilon <= 1  # the account knows nothing of it
    assert found.refutes(Epsilon(1))
    assert found.lower > least


@pytest.mark.slow
def test_what_the_example_prints(example: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    example["main"]()
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("ε ≥ ")
    assert second.endswith("refuted: False")
