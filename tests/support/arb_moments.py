"""Moments of privacy losses in Arb, by its certified quadrature."""

from __future__ import annotations

from typing import Any

from flint import acb, arb

from certdp.accounting.relations import Direction


def sampled_gaussian_moment(rate: float, shift: float, direction: Direction, tilt: float, y: float) -> acb:
    """M(c + iy) of N(s, 1) against N(0, 1) on a sample, c > 0."""
    q, s, z = acb(rate), acb(shift), acb(arb(tilt), arb(y))
    power = z + 1 if direction is Direction.REMOVE else -z

    def integrand(x: acb, analytic: bool) -> acb:
        density = 1 - q + q * (s * (x - s / 2)).exp()
        return (density.log(analytic=analytic) * power - x * x / 2).exp()

    right = (tilt + 1) * shift if direction is Direction.REMOVE else 0.0
    left = 0.0 if direction is Direction.REMOVE else -tilt * shift
    ends = (-40.0 + left, 40.0 + right)
    integral: Any = acb.integral(integrand, *ends, rel_tol=arb(2) ** -100, eval_limit=10**6, depth_limit=10**4)
    return acb(integral / (2 * arb.pi()).sqrt())
