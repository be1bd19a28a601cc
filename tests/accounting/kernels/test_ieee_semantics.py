"""The compiled kernels do, bit for bit, what their source says when every operation is rounded exactly once.

The same source files run as plain Python, with fma from rational arithmetic: a compiler that contracted, reordered or
approximated an operation, or a platform that flushed subnormal numbers, would differ here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from certdp.accounting import _kernels
from certdp.accounting._kernels import (
    amplification_rows,
    error_function,
    feasible_weights,
    fft,
    individual,
    lattice,
    loss_transforms,
    mixture_moments,
    sampled_gaussian,
    types,
)
from certdp.accounting._kernels import norms as norm_kernels
from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.norms import Norm
from tests.support.bits import bits, from_bits

NAME = "interpreted_kernels"
KERNELS = (
    "elementary",
    "gauss",
    "theorem_6",
    "norms",
    "error_function",
    "amplification_rows",
    "sampled_gaussian",
    "loss_transforms",
    "mixture_moments",
    "individual",
    "feasible_weights",
    "fft",
    "lattice",
)


def fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    (a, b), (c, d), (e, f) = x.as_integer_ratio(), y.as_integer_ratio(), z.as_integer_ratio()
    numerator, denominator = a * c * f + e * b * d, b * d * f  # a Fraction, without its greatest common divisors
    try:
        return numerator / denominator  # correctly rounded
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@pytest.fixture(scope="module")
def interpreted() -> Iterator[dict[str, Any]]:
    """The kernel modules, executed without a compiler."""
    package, stub = ModuleType(NAME), ModuleType(f"{NAME}.compile")
    package.__path__ = []
    package.__dict__["types"] = types
    contents = {"fma": fma, "bits": bits, "from_bits": from_bits, "inlined": unchanged}
    stub.__dict__.update(contents, READ=None, WRITE=None, READ_ROWS=None, Floats=Any)
    stub.__dict__["kernel"] = lambda *signature: unchanged
    modules: dict[str, Any] = {NAME: package, stub.__name__: stub}
    sys.modules.update(modules)
    try:
        for name in KERNELS:
            module = ModuleType(f"{NAME}.{name}")
            module.__package__ = NAME
            sys.modules[module.__name__] = modules[module.__name__] = module
            path = Path(_kernels.__path__[0], f"{name}.py")
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        yield {name: modules[f"{NAME}.{name}"] for name in KERNELS}
    finally:
        for name in modules:
            sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_elementary(interpreted: dict[str, Any], name: str) -> None:
    rng = np.random.default_rng(8)
    values = np.exp2(rng.uniform(-60, 10, 1500))
    values = np.concatenate([values, np.exp2(rng.uniform(-1074, 1023, 500))])
    if name in ("exp", "expm1"):
        values = np.concatenate([values, -values])
    compiled = getattr(bulk, name)(values).tolist()
    function = getattr(interpreted["elementary"], name)
    assert compiled == [function(value) for value in values.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("add", [False, True])
def test_psi(interpreted: dict[str, Any], add: bool) -> None:
    rng = np.random.default_rng(9)
    loss = np.concatenate([np.exp2(rng.uniform(-40, 9.4, 1500)), np.exp2(rng.uniform(-1074, 1023, 500))])
    rate = np.exp2(-rng.exponential(20, 2000).clip(0, 1074))
    compiled = (bulk.psi_add if add else bulk.psi_remove)(loss, rate).tolist()
    kernel = interpreted["theorem_6"]
    for e, q, value in zip(loss.tolist(), rate.tolist(), compiled, strict=True):
        y = kernel._odds(e, q, add) if e <= 700.0 else math.nan
        if kernel._is_rare(e, q, y):
            assert value == kernel._rare(e, q, add)
        else:
            assert value == min(kernel.log1p_between(y) * kernel._MARGIN, e)


@pytest.mark.parametrize(("norm", "order"), [(Norm.L1, 1), (Norm.L2, 2), (Norm.LINF, 0)])
def test_norms(interpreted: dict[str, Any], norm: Norm, order: int) -> None:
    rng = np.random.default_rng(10)
    matrix = rng.standard_normal((5, 70)) * np.exp2(rng.uniform(-1000, 1000, (5, 1)))
    matrix[0] *= np.exp2(rng.uniform(-60, 0, 70))
    with np.errstate(all="ignore"):
        out = np.empty(5)
        kernel = interpreted["norms"]
        kernel._ROWS = 5  # fewer idle lanes: rows do not influence one another
        assert kernel.norms(matrix, order, out) == -1
    assert bulk.norms(matrix, norm).tobytes() == out.tobytes()


@pytest.mark.parametrize("order", [1.5, 3.0, 1.0, 2.0**64])
def test_norms_of_other_orders(interpreted: dict[str, Any], order: float) -> None:
    rng = np.random.default_rng(11)
    matrix = rng.standard_normal((5, 70)) * np.exp2(rng.uniform(-1000, 1000, (5, 1)))
    matrix[0] *= np.exp2(rng.uniform(-60, 0, 70))
    matrix[1] = 0.0
    matrix[2, 3:] = 0.0
    matrix[3] *= np.exp2(rng.uniform(-1000, 0, 70))
    with np.errstate(all="ignore"):
        out = np.empty(5)
        kernel = interpreted["norms"]
        kernel._ROWS = 5
        assert kernel.power_norms(matrix, order, out) == -1
    compiled = np.empty(5)
    assert norm_kernels.power_norms(matrix, order, compiled) == -1
    assert compiled.tobytes() == out.tobytes()


def agreeing(compiled: Callable[..., None], source: Callable[..., None], *arguments: Any, outputs: int = 1) -> None:
    """The compiled kernel writes the same bits as its source."""
    size = len(next(a for a in arguments if isinstance(a, np.ndarray)))
    results = []
    for kernel in (compiled, source):
        out = [np.full(size, -7.0) for _ in range(outputs)]
        with np.errstate(all="ignore"):
            kernel(*arguments, *out)
        results.append(np.concatenate(out))
    assert results[0].tobytes() == results[1].tobytes()
    assert not np.any(results[0] == -7.0)


def test_the_error_function(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(11)
    values = np.concatenate([rng.uniform(0, 40, 400), np.exp2(rng.uniform(-1000, 1000, 100))])
    for name in ("mills_each", "slope_each", "bell_each"):
        agreeing(getattr(error_function, name), getattr(interpreted["error_function"], name), values)


def test_amplification_rows(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(12)
    rate, shift = np.exp2(-rng.exponential(4, 60)), np.exp2(rng.uniform(-20, 4, 60))
    level = rng.exponential(1, 60)
    source = interpreted["amplification_rows"]
    for add in (False, True):
        for laplace in (False, True):
            agreeing(amplification_rows.delta, source.delta, rate, shift, level, add, laplace)
    small = np.exp2(rng.uniform(-60, -1, 60))
    agreeing(amplification_rows.gaussian_level, source.gaussian_level, rate[:8], shift[:8], small[:8])
    agreeing(amplification_rows.pure_level, source.pure_level, rate, shift, small, True)
    agreeing(amplification_rows.laplace_moments, source.laplace_moments, shift, 7.0)
    agreeing(amplification_rows.response_moments, source.response_moments, shift, 7.0)
    moments = np.cumsum(rng.exponential(0.1, (20, 7)), axis=1)
    binomials = np.array([float(math.comb(8, k)) for k in range(2, 9)])
    agreeing(amplification_rows.sampled_moments, source.sampled_moments, moments, binomials, rate[:20])


@pytest.mark.slow
def test_the_sampled_gaussian(interpreted: dict[str, Any]) -> None:
    rate, shift = np.array([0.01, 0.3, 1e-8, 0.9]), np.array([1.0, 0.2, 0.02, 3.0])
    source = interpreted["sampled_gaussian"]
    for order in (1.5, 8.0):
        agreeing(sampled_gaussian.renyi, source.renyi, rate, shift, np.full(4, order))
    steps, delta = np.array([1000.0]), np.array([1e-5])
    agreeing(sampled_gaussian.epsilon, source.epsilon, rate[:1], shift[:1], steps, delta, outputs=2)


Call = Callable[[Any], tuple[Any, ...]]


def same_bits(compiled: Any, source: Any, call: Call) -> None:
    """What a call returns and writes has the same bits with the compiled kernels and with their source."""
    with np.errstate(all="ignore"):
        found, said = call(compiled), call(source)
    assert [np.asarray(value).tobytes() for value in found] == [np.asarray(value).tobytes() for value in said]


def test_sines_and_arguments(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(13)
    values = np.concatenate([rng.uniform(-(2.0**30), 2.0**30, 300), np.exp2(rng.uniform(-1000, 30, 300))])
    y, x = (rng.standard_normal(600) * np.exp2(rng.uniform(-100, 100, 600)) for _ in range(2))

    def call(kernels: Any) -> tuple[Any, ...]:
        sine, cosine, argument = np.empty(600), np.empty(600), np.empty(600)
        kernels.sine_cosine_each(values, sine, cosine)
        kernels.angle_each(y, x, argument)
        return sine, cosine, argument

    same_bits(loss_transforms, interpreted["loss_transforms"], call)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("q", "s", "sign", "c"),
    [
        (0.1, 1.0, 1.0, 3.0),
        (0.1, 1.0, -1.0, 3.0),
        (1e-4, 0.25, 1.0, 40.0),
        (0.9, 2.0, -1.0, 0.5),
        (0.25, 2.0, 1.0, 6.0),
    ],
)
def test_moments_on_a_line(interpreted: dict[str, Any], q: float, s: float, sign: float, c: float) -> None:
    def call(kernels: Any) -> tuple[Any, ...]:
        reach = 2.0 / s
        h, first, count = kernels.plan(q, s, sign, c, reach, 20.0, True)
        loss, weight = np.empty(int(count)), np.empty(int(count))
        scale, total, mean = kernels.fill(q, s, sign, c, h, first, loss, weight)
        missed = kernels.rule(q, s, sign, c, reach, h, first, scale, loss) / total
        nu, omega, farthest = kernels.rounding(s, c, h, first, scale, total, loss, weight, mean)
        line = (q, s, sign, c, h, first, scale, total, omega + missed)
        moment = kernels.log_moment(*line, loss)
        deviation = kernels.deviation(*line[1:], loss, mean)
        below, height = np.empty(loss.size), np.empty(loss.size)
        kernels.variation(*line, loss, below, height)
        phi = nu, omega, 2 * missed, total, loss, weight, mean
        reached = kernels.covered(reach / 2, reach, 1e-6, deviation, *phi, 3)
        size, phase, error = np.zeros(6), np.zeros(6), np.zeros(6)
        for times, begin in ((1000.0, 0), (3.0, 0), (1e9, 4)):
            kernels.add_logarithms(times, reach / 6, *phi, begin, 6, size, phase, error)
        error[2] = 3.0
        sums = kernels.contour_sum(c, reach / 6, mean / 3, size, phase, error)
        estimate = kernels.estimate(q, s, sign, c)
        known = (h, first, count, scale, total, mean, missed, nu, omega, farthest, *moment, deviation, reached, *sums)
        assert all(math.isfinite(value) for value in known)
        return *known, *estimate, loss, weight, below, height, size, phase, error

    same_bits(loss_transforms, interpreted["loss_transforms"], call)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plus", "minus", "start", "tilt"),
    [(True, False, -math.inf, 3.0), (False, True, -math.inf, 5.0), (True, True, 0.0, 2.0)],
)
def test_moments_of_mixtures(interpreted: dict[str, Any], plus: bool, minus: bool, start: float, tilt: float) -> None:
    a, c = np.array([0.81, 0.18, 0.01]), np.array([0.0, 0.75, 1.5])
    b, d = (a, -c) if plus and minus else (np.ones(1), np.zeros(1))
    laws = a, c, b, d, plus, minus

    def call(kernels: Any) -> tuple[Any, ...]:
        low, high, scale = kernels.window(*laws, start, tilt, 20.0)
        estimate = kernels.estimate(*laws, 0.25, low, high, scale, tilt)
        edges = np.zeros(60)
        count, missed = kernels.plan(*laws, low, high, tilt, 4.0, scale, 20.0, edges)
        panels = int(count)
        arrays = [np.zeros(panels * kernels.NODES * (plus + minus) + 3) for _ in range(4)]
        tails = kernels.fill(*laws, tilt, scale, edges, panels, *arrays)
        total = float(np.sum(arrays[1]))
        rounding = kernels.rounding(*arrays, total, 0.5)
        below, height = np.empty(40), np.empty(40)
        deviation = kernels.sides(*laws, low, float(edges[panels]), tilt, scale, 0.5, 0.25, total, 1e-9, below, height)
        known = (low, high, scale, *estimate, count, missed, tails, *rounding, deviation)
        assert all(math.isfinite(value) for value in known)
        return *known, *arrays, edges, below, height

    same_bits(mixture_moments, interpreted["mixture_moments"], call)


def test_individual_moments(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(14)
    rate, shift = np.exp2(-rng.exponential(4, 4)), np.exp2(rng.uniform(-6, 3, 4))
    rate[0] = 1.0
    orders, columns = np.array([2, 3, 6, 9]), np.array([0, 1, 2, 3])
    base, climb = np.cumsum(rng.exponential(1, (300, 5)), axis=0), rng.exponential(1, (300, 5))
    source = interpreted["individual"]
    source._BLOCK = 4  # fewer idle lanes: records do not influence one another

    def call(kernels: Any) -> tuple[Any, ...]:
        totals = np.full((4, 5), 1e-3)
        kernels.add_whole(rate, shift, orders, columns, 7.0, totals)
        kernels.add_any(rate[:2], shift[:1], 2.5, 4, 3.0, totals[:2])
        kernels.add_from_table(rate, base, climb, 3, (1023 - 30) << 3, 5.0, totals)
        epsilons = np.empty(4)
        kernels.epsilon(totals * 1e-3, np.array([2.0, 3.0, 6.0, 9.0, 9.5]), 1.0 + 2.0**-40, 1e-5, epsilons)
        return totals, epsilons

    same_bits(individual, source, call)


def test_feasible_weights(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(15)
    top = 0.5
    losses = top * np.exp2(-rng.exponential(5, 60))
    losses[:6] = 0.0, top, top * (1 - 2.0**-40), top * (1 - 2.0**-10), 2.0**-400, 2.0**-250

    def call(kernels: Any) -> tuple[Any, ...]:
        weight, rate = np.empty(60), np.empty(60)
        high = math.expm1(top)
        worst = kernels.linear(losses, high, 0.0, math.log(high), top, 2.0**1000, weight, rate)
        return worst, weight, rate

    same_bits(feasible_weights, interpreted["feasible_weights"], call)


def test_the_fourier_transform(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(16)
    roots = fft.roots_of_unity(13)  # longer than what is done in one go
    values = rng.standard_normal((2, 1 << 13))

    def call(kernels: Any) -> tuple[Any, ...]:
        real, imaginary = values.copy()
        kernels.forward(real, imaginary, *roots)
        there = real.copy(), imaginary.copy()
        kernels.backward(real, imaginary, *roots)
        return *there, real, imaginary

    same_bits(fft, interpreted["fft"], call)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_cells_of_a_lattice(interpreted: dict[str, Any], up: bool, swapped: bool) -> None:
    rng = np.random.default_rng(17)
    losses = np.concatenate([rng.standard_normal(30) * np.exp2(rng.uniform(-40, 11, 30)), [0.0, math.inf, -math.inf]])
    masses, mass_units = rng.exponential(1, losses.size), rng.uniform(0, 20, losses.size)

    def call(kernels: Any) -> tuple[Any, ...]:
        after, base, x = np.empty(losses.size), np.empty(40), np.empty(40)
        kernels.mixed_each(losses, 0.01, swapped, up, after)
        kernels.base_losses(0.01, -20, 0.0625, 0.3, swapped, up, base)
        kernels.gaussian_coordinates(base, 0.75, up, x)
        laplace = [np.empty(9) for _ in range(5)]
        kernels.laplace_cells(np.linspace(-0.7, 0.6, 8), 0.75, *laplace)
        left, right, units = np.zeros(41), np.zeros(41), np.zeros(41)
        kernels.deposit(losses, masses, mass_units, -20, 0.0625, up, left, right, units)
        kernels.deposit_in(0.33, 0.25, 3.0, 26, -20, 0.0625, left, right, units)
        kernels.deposit_in(1.3, 0.25, 3.0, 40, -20, 0.0625, left, right, units)
        above, keep, below = np.empty(40), np.empty(41), np.empty(40)
        kernels.dominating(left, right, units, above)
        kernels.dominated(left, right, units, 0.0625, keep, below)
        return after, base, x, *laplace, left, right, units, above, keep, below

    same_bits(lattice, interpreted["lattice"], call)


@pytest.mark.soundness
def test_normal_cells_of_a_lattice(interpreted: dict[str, Any]) -> None:
    def call(kernels: Any) -> tuple[Any, ...]:
        masses = [np.empty(4) for _ in range(5)]
        kernels.gaussian_cells(np.array([-1.0, -0.875, 0.5]), 0.75, True, True, *masses)
        return tuple(masses)

    same_bits(lattice, interpreted["lattice"], call)


def test_sums_on_a_lattice(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(18)
    masses = rng.exponential(1, 40) * (rng.random(40) < 0.8)
    roots = fft.roots_of_unity(5)

    def call(kernels: Any) -> tuple[Any, ...]:
        real, imaginary = np.empty(32), np.empty(32)
        sums = [
            kernels.tilted_sum(masses, -9, 0.5, 3.0),
            kernels.fold(masses, -9, 0.01, 4.0, True, real),
            kernels.fold(masses, -9, 0.01, 4.0, False, imaginary),
        ]
        fft.forward(real, imaginary, *roots)
        above, below = ([np.ones(17), np.zeros(17), np.zeros(17)] for _ in range(2))
        kernels.multiply_power(real, imaginary, 13, 1e-13, *above, *below)
        kernels.multiply_power(real, imaginary, 2, 1e-13, *above, *below)
        sums.append(kernels.pack(*above, *below, 1e-14, real, imaginary))
        fft.backward(real, imaginary, *roots)
        out = np.empty(5)
        kernels.hockey_stick(real, -9, -3, 0.25, 0.5, -2.0, out)
        return *sums, *above, *below, real, imaginary, out

    same_bits(lattice, interpreted["lattice"], call)
