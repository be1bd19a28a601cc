"""Sine, cosine and argument of the contour kernels against Arb."""

from __future__ import annotations

import math

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from certdp.accounting._kernels import loss_transforms

Floats = NDArray[np.float64]
U = 2.0**-53
DRAWS = 20_000


def arguments(stream: int) -> Floats:
    rng = np.random.default_rng([21, stream])
    sizes = np.exp2(rng.uniform(-60, 30, DRAWS)) * rng.choice([-1.0, 1.0], DRAWS)
    multiples = rng.integers(0, 2**29, DRAWS // 4) * (math.pi / 2)  # where sine or cosine nearly vanish
    return np.concatenate([sizes, multiples, np.nextafter(multiples, 0.0), [0.0, math.pi / 4, -math.pi / 4, 2.0**30]])


def test_sine_and_cosine_are_within_three_units(stream: int) -> None:
    ctx.prec = 160
    values = arguments(stream)
    sine, cosine = np.empty(values.size), np.empty(values.size)
    loss_transforms.sine_cosine_each(values, sine, cosine)
    for x, s, c in zip(values.tolist(), sine.tolist(), cosine.tolist(), strict=True):
        true_sine, true_cosine = arb(x).sin(), arb(x).cos()
        allowed = 3 * U * (abs(true_sine) if abs(x) <= math.pi / 4 else 1)
        assert abs(arb(s) - true_sine) <= allowed, x
        assert abs(arb(c) - true_cosine) <= 3 * U, x


def test_angles_are_within_eight_units(stream: int) -> None:
    ctx.prec = 160
    rng = np.random.default_rng([22, stream])
    y, x = (np.exp2(rng.uniform(-40, 3, DRAWS)) * rng.choice([-1.0, 1.0], DRAWS) for _ in range(2))
    near = np.abs(x) * rng.choice([1.0, math.tan(math.pi / 8), 1 / math.tan(math.pi / 8)], DRAWS)
    y = np.where(rng.uniform(size=DRAWS) < 0.3, near * (1 + rng.uniform(-1e-15, 1e-15, DRAWS)), y)
    found = np.empty(DRAWS)
    loss_transforms.angle_each(y, x, found)
    for b, a, value in zip(y.tolist(), x.tolist(), found.tolist(), strict=True):
        true = acb(a, b).arg()
        assert abs(arb(value) - true) <= 8 * U * abs(true), (b, a)


def test_argument_on_the_axes() -> None:
    found = np.empty(4)
    loss_transforms.angle_each(np.array([0.0, 1.0, 0.0, -1.0]), np.array([1.0, 0.0, -1.0, 0.0]), found)
    assert found.tolist() == [0.0, math.pi / 2, math.pi, -math.pi / 2]
