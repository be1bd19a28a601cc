"""What the search computes in floats, against many digits: a slip makes no bound wrong, but every bound worse."""

from __future__ import annotations

import mpmath
import pytest

from certdp.accounting.conversions.renyi_search import _log_expm1, _log_mass, _ratio

ABOVE = (1e-6, 0.01, 0.5, 1.0, 7.0, 300.0)
REACHES = (1e-9, 1e-6, 9e-4, 1.1e-3, 0.1, 3.0)


@pytest.mark.parametrize("moment", [1e-12, 1e-4, 2.0, 100.0])
def test_the_mass_is_its_closed_form(moment: float) -> None:
    """log(e^A - 1 + (α - 1)·r^α - α·r^(α - 1) + 1), where r = e^-down: with its series where that would cancel."""
    with mpmath.workdps(80):
        for above in ABOVE:
            for reach in REACHES:
                down = reach / max(1.0, above)
                a, r = mpmath.mpf(above), mpmath.exp(-mpmath.mpf(down))
                touched = a * r ** (a + 1) - (a + 1) * r**a + 1
                truth = mpmath.log(mpmath.expm1(mpmath.mpf(moment)) + touched)
                assert abs(_log_mass(above, moment, down) - truth) < 1e-8, (above, down)


def test_a_ratio_is_where_the_fall_is() -> None:
    with mpmath.workdps(60):
        for above in ABOVE:
            for fall in (1e-12, 1e-6, 1e-3, 0.3, 5.0, 60.0):
                k, a = mpmath.mpf(_ratio(above, fall)), mpmath.mpf(above)
                reached = k + mpmath.log(mpmath.expm1(-(a + 1) * k) / mpmath.expm1(-a * k) * a / (a + 1))
                assert abs(reached - fall) < 1e-9 * fall, (above, fall)


def test_the_logarithm_of_expm1_is_of_its_size() -> None:
    with mpmath.workdps(60):
        for x in (1e-12, 0.3, 0.999, 1.001, 30.0, 1e4, -1e-9, -0.5, -40.0):
            assert abs(_log_expm1(x) - mpmath.log(abs(mpmath.expm1(x)))) < 1e-12 * max(1, abs(x)), x
