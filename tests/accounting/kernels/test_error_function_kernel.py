"""Mills' ratio, its slope and the normal density in binary64, against Arb."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial

import flint
import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from certdp.accounting._kernels import error_function as kernels

Floats = NDArray[np.float64]
U = 2.0**-53


@pytest.fixture(autouse=True)
def bits() -> None:
    flint.ctx.prec = 700


def ratio(x: arb) -> arb:
    return (arb.pi() / 2).sqrt() * (x * x / 2).exp() * (x / arb(2).sqrt()).erfc()


def slope(x: arb) -> arb:
    return 1 - x * ratio(x)


def arguments(stream: int) -> Floats:
    rng = np.random.default_rng(stream)
    ends = np.arange(-4, 64) / 4.0
    return np.concatenate(
        [
            *(rng.uniform(-1.0, 16.0, 600), rng.uniform(-0.3, 0.3, 100), 16.0 * np.exp2(rng.uniform(0, 3, 200))),
            *(ends, np.nextafter(ends[1:], -9.0), np.nextafter(ends, 99.0), 10.0 ** rng.uniform(-300, 4, 100)),
            [0.0, -0.0, 5e-324, -1.0, np.nextafter(16.0, 0.0), 16.0],
        ]
    )


@pytest.mark.parametrize(
    ("kernel", "truth", "units"),
    [(kernels.mills_each, ratio, kernels.MILLS_UNITS), (kernels.slope_each, slope, kernels.SLOPE_UNITS)],
)
def test_within_the_stated_units(
    kernel: Callable[[Floats, Floats], None], truth: Callable[[arb], arb], units: int, stream: int
) -> None:
    values = arguments(stream)
    found = np.empty_like(values)
    kernel(values, found)
    for x, value in zip(values.tolist(), found.tolist(), strict=True):
        assert abs(arb(value) / truth(arb(x)) - 1) <= units * U, x


def test_the_density(stream: int) -> None:
    values = np.random.default_rng(stream).uniform(-37.5, 37.5, 500)
    found = np.empty_like(values)
    kernels.bell_each(values, found)
    for x, value in zip(values.tolist(), found.tolist(), strict=True):
        truth = (-(arb(x) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
        assert abs(arb(value) / truth - 1) <= (5 + 0.51 * x * x) * U


def test_far_out() -> None:
    values, found = np.array([1e150, 1e300, np.inf]), np.empty(3)
    kernels.mills_each(values, found)
    assert found.tolist() == pytest.approx([1e-150, 1e-300, 0.0])
    assert found[2] == 0.0


def test_the_coefficients_are_the_derivatives() -> None:
    """Against derivatives from Arb: r_0 from erfc, the others by R′ = x·R − 1 and its derivatives."""
    for piece in range(kernels._PIECES):
        c = arb(kernels._FIRST_MIDDLE + piece / 4)
        found = [ratio(c)]
        found.append(c * found[0] - 1)
        for n in range(1, kernels._DEGREE + 1):
            found.append((c * found[n] + found[n - 1]) / (n + 1))
        for n in range(kernels._DEGREE + 1):
            assert abs(arb(float(kernels._MILLS[piece, n])) / found[n] - 1) <= U
            assert abs(arb(float(kernels._SLOPE[piece, n])) / (-(n + 1) * found[n + 1]) - 1) <= U


def test_the_recurrence_holds_for_the_integral() -> None:
    """Derivatives under the integral sign, by Arb's quadrature: (−1)ⁿ/n!·∫ tⁿ·e^(−ct − t²/2) dt."""
    flint.ctx.prec = 120
    for c in (-0.875, 2.125, 7.125):
        for n in (0, 1, 5, 14):

            def integrand(t: flint.acb, _: bool, n: int = n, c: float = c) -> flint.acb:
                return t**n * (-c * t - t * t / 2).exp()

            integral = flint.acb.integral(integrand, 0, 40).real
            value = kernels._MILLS[round((c + 0.875) * 4), n]
            assert abs(arb(float(value)) / ((-1) ** n * integral / factorial(n)) - 1) <= U


def test_the_remainders_that_the_proof_states() -> None:
    """m_15(−1)/8^15 against R(−¾), and for G: the first piece is the worst (section "The normal tail")."""
    c = arb(-1)
    found = [ratio(c), c * ratio(c) - 1]
    for n in range(1, 17):
        found.append((c * found[n] + found[n - 1]) / (n + 1))
    assert abs(found[15]) / 8**15 <= 0.004 * U * ratio(arb("-0.75"))
    assert 16 * abs(found[16]) / 8**15 <= 0.02 * U * slope(arb("-0.75"))
    least, most = slope(arb(-1)), slope(arb("-0.75"))
    assert 2 * ratio(c) + least / 8 <= 2.93 * ratio(arb("-0.75"))
    assert 2 * least + (ratio(c) + least) / 8 <= 3.41 * most


def test_the_asymptotic_remainders_that_the_proof_states() -> None:
    double = [1]
    for k in range(1, 16):
        double.append(double[-1] * (2 * k - 1))
    assert Fraction(double[12], 256**12) < Fraction(4, 100) / 2**53
    assert Fraction(double[15], 256**14) < Fraction(2, 100) / 2**53
    assert [abs(int(x)) for x in kernels._ODD] == double[:15]
