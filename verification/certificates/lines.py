"""Where the moments of the privacy loss are taken for a certificate, in floats: the checker proves what follows.

Symbols as in docs/soundness_loss_distribution.md: M(c), the step h, Λ = 2π/h, φ, T. The line passes near the saddle of
M(z)·e^(−zε)/(z(z + 1)); h makes the repetitions of δ at distance Λ negligible, and the line is so long that the rest
is, by itself or by one more Gaussian release of a small shift t (the dither), which multiplies δ by about
e^(c(c + 1)t²/2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from ...accounting.exact import ratio_text
from ...accounting.relations import Direction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_NATS = 27.0
_ROUGHLY = 3.0
_LARGEST_REACH = 60.0  # of (c + 1)·s: nodes beyond are too many for the checker
_SMALLEST, _LARGEST = 1e-6, 1e6
_BISECTIONS = 60
_GROWTH = 1.25
_MOST_PLACES = 40_000
_NODE = 800  # what a node costs the checker, in places
_PLACE = 120


@final
@frozen
class Release:
    """Equal releases whose loss the checker knows on a line.

    Attributes:
        gaussian: whether the noise is Gaussian; else it is randomised response.
        parameter: shift or ε.
        rate: q.
        times: how many.
    """

    gaussian: bool
    parameter: float
    rate: float
    times: int

    @property
    def exact(self) -> bool:
        """Whether the moments are known in closed form."""
        return self.gaussian and self.rate >= 1


@final
@frozen
class Line:
    """The line, and by how much the dither raises ε.

    Attributes:
        real_part: c.
        step: h.
        places: K.
        dither: t.
    """

    real_part: float
    step: float
    places: int
    dither: float

    @property
    def raised(self) -> float:
        """Estimate by how much the ε at a δ grows with the dither."""
        return (self.real_part + 1) * self.dither**2 / 2

    def as_json(self) -> dict[str, Any]:
        """Return the line as a certificate states it."""
        real_part, step, dither = (ratio_text(Fraction(value)) for value in (self.real_part, self.step, self.dither))
        return {"real_part": real_part, "step": step, "places": self.places, "dither": dither}


def line_for(
    releases: Sequence[Release], epsilon: float, log_delta: float, direction: Direction, work: float
) -> Line | None:
    """A line for (ε, δ); None where none was found.

    Args:
        releases: the composed releases.
        epsilon: ε ≥ 0.
        log_delta: log δ, finite.
        direction: which of the two; where the δ of one is far below δ, a rough bound of it is enough.
        work: what the checker may spend.
    """
    import numpy as np

    run = _Run(releases, direction)
    saddle = run.saddle(epsilon)
    chernoff = [(c, run.chernoff(c, epsilon)) for c in (saddle / 2**i for i in range(5, -1, -1))]
    enough = [c for c, bound in chernoff if bound < log_delta - 2]
    c, nats = (enough[0], _ROUGHLY) if enough else (saddle, _NATS)
    right = [
        (run.chernoff(d, epsilon) + nats - log_delta) / (d - c)
        for d in (c * ratio for ratio in (1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 14.0))
        if run.reachable(d)
    ]
    period = max((nats - log_delta) / c, min(filter(math.isfinite, right), default=math.inf))
    h = float(np.float32(2 * math.pi / period))
    here = run.moments(c)[0]
    if not (0 < h < 2.0**30 and math.isfinite(here)):
        return None
    return run.long_enough(float(np.float32(c)), h, nats - log_delta + here - c * epsilon, work)


class _Run:
    """Float estimates about the composed releases in one direction."""

    def __init__(self, releases: Sequence[Release], direction: Direction) -> None:
        self.releases = releases
        self.remove = direction is Direction.REMOVE
        self.largest = max((r.parameter for r in releases if r.gaussian and not r.exact), default=0.0)

    def reachable(self, c: float) -> bool:
        """Whether the nodes for c are few."""
        return (c + 1) * self.largest < _LARGEST_REACH

    def moments(self, c: float) -> tuple[float, float, float]:
        """About log M(c), its slope and its curvature."""
        total = [0.0, 0.0, 0.0]
        for release in self.releases:
            for i, value in enumerate(self._moments(release, c)):
                total[i] += release.times * value
        return total[0], total[1], total[2]

    def _moments(self, release: Release, c: float) -> tuple[float, float, float]:
        import numpy as np

        if release.exact:
            square = release.parameter**2
            return c * (c + 1) * square / 2, (c + 0.5) * square, square
        exponents, losses = self._nodes(release, c)[:2]
        top = exponents.max()
        weights = np.exp(exponents - top)
        mass = float(weights.sum())
        mean = float(weights @ losses) / mass
        return float(top) + math.log(mass), mean, float(weights @ (losses - mean) ** 2) / mass

    def _nodes(self, release: Release, c: float) -> tuple[Floats, Floats, Floats]:
        """Logarithms of the tilted masses of nodes, their losses, and log w there."""
        import numpy as np

        q, s, g = release.rate, release.parameter, c + 1 if self.remove else -c
        if release.gaussian:
            x = np.arange(min(g, 0) * s - 13, max(g, 0) * s + 13, 0.02)
            w = s * (x - s / 2)
            masses = -x * x / 2 + math.log(0.02 / math.sqrt(2 * math.pi))
        else:
            w = np.array([s, -s])
            masses = -np.logaddexp(0.0, w)
        logarithms = np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + w)
        return masses + g * logarithms, logarithms if self.remove else -logarithms, w

    def saddle(self, epsilon: float) -> float:
        """The c where the integrand is least on the real axis, or as near as is reachable."""
        low, high = math.log(_SMALLEST), math.log(_LARGEST)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            c = math.exp(middle)
            rising = not self.reachable(1.05 * c) or self.moments(c)[1] - epsilon - 1 / c - 1 / (c + 1) > 0
            low, high = (low, middle) if rising else (middle, high)
        return math.exp(low)

    def chernoff(self, c: float, epsilon: float) -> float:
        """About the logarithm of the bound M(c)·e^(−cε)·c^c/(1 + c)^(1 + c) of δ."""
        return self.moments(c)[0] - c * epsilon + c * math.log(c) - (1 + c) * math.log1p(c)

    def long_enough(self, c: float, h: float, wanted: float, work: float) -> Line | None:
        """The shortest line without a dither that is affordable, else the longest affordable one with it.

        `wanted` is the logarithm of what the terms left out, but for their number and |φ|, are too large by.
        """
        import numpy as np

        places, best = 8.0, None
        while places <= _MOST_PLACES:
            count = math.ceil(places)
            end = count * h
            if self._work(c, end, count) > work:
                break
            beyond = sum(release.times * self._log_beyond(release, c, end) for release in self.releases)
            missing = wanted - math.log(math.pi * end) + beyond
            best = Line(c, h, count, float(np.float32(math.sqrt(2 * max(missing, 0.0)) / end)))
            if missing <= 0:
                break
            places *= _GROWTH
        return None if best is None or best.dither > 1 else best

    def _work(self, c: float, end: float, places: int) -> float:
        total = float(_PLACE * places)
        for release in self.releases:
            s = release.parameter
            if release.exact:
                continue
            if not release.gaussian:
                total += 2 * places
                continue
            fineness = 1 / self._spacing(s, c, end)
            grown = c * (c + 1) * s * s / 2
            nodes = fineness * (14 + (c + 1) * s + math.sqrt(2 * (70 + grown)) + s)
            total += nodes * (places + _NODE)
        return total

    def _spacing(self, s: float, c: float, end: float) -> float:
        """Return the distance of the checker's nodes."""
        high = min(8.0, 2.5 / s)
        wanted = (70 + high**2 / 2 + end * s * high + (0.0 if self.remove else 1.6 * c)) / (6 * high)
        return 1 / (max(int(wanted), 1) + 1)

    def _log_beyond(self, release: Release, c: float, end: float) -> float:
        """About the bound of log|φ| from the line's end on."""
        import numpy as np

        if release.exact:
            return -((release.parameter * end) ** 2) / 2
        if not release.gaussian:
            return 0.0
        q, s, g = release.rate, release.parameter, c + 1 if self.remove else -c
        step = self._spacing(s, c, end)
        x = np.arange(math.floor((min(g, 0) * s - 13) / step), math.ceil((max(g, 0) * s + 13) / step)) * step
        w = s * (x - s / 2)
        logarithms = np.logaddexp(np.log1p(-q), np.log(q) + w)
        densities, powers = -x * x / 2, g * logarithms
        exponents = np.maximum(densities[1:], densities[:-1]) + np.maximum(powers[1:], powers[:-1])
        top = exponents.max()
        total = float(np.exp(densities + powers - top).sum())
        masses = np.exp(exponents - top) / total  # the largest in each cell, as the checker takes them
        inverse = np.exp(np.minimum(logarithms - np.log(q) - w, 600.0))[:-1]  # 1/ρ
        slopes = masses / step * inverse / s
        steep = (g + 1) * s * s
        flat = len(masses) if steep < 4 else int(np.count_nonzero(inverse >= steep))
        best = 1.0
        for last, maxima in ((len(masses), 1 if steep < 4 else 2), (flat, 1)):
            if last:
                highest = np.maximum.accumulate(slopes[:last][::-1])[::-1]
                inside = (
                    np.cumsum(masses)[:last] - masses[:last] + float(masses[last:].sum()) + 2 * maxima * highest / end
                )
                best = min(best, 1.001 * float(inside.min()))
        return math.log(best)
