"""Moments of a release's privacy loss where public chance decides which of several laws it has.

Legend: as in `transforms`; p_j are the chances, M_j the moments of the laws, M = Σ p_j·M_j. On the line c + iy
φ(y) = Σ w_j·e^(iy(m_j − m))·φ_j(y) with w_j = p_j·M_j(c)/M(c), which add up to 1. The proofs are in
`docs/soundness_batches.md`, section "By contours".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import final

import numpy as np
from attrs import frozen

from .._kernels import loss_transforms as kernels
from ..enclosures import Enclosure
from ..exact import exact
from .transforms import Line, Logarithms, Transform

_LARGEST_TURN = 2.0**28


@final
@frozen
class MixedTransform(Transform):
    """The moments of a mixture: M(z) = Σ p_j·M_j(z).

    Attributes:
        parts: the probability p_j of each law, above 0, and its transform; probabilities add up to 1.
    """

    parts: tuple[tuple[Enclosure, Transform], ...]

    @property
    def ends(self) -> tuple[Transform, Transform]:
        """The mixtures of the parts' ends, by the same chances: what is known of these is part of each error."""
        found = [(chance, *transform.ends) for chance, transform in self.parts]
        low = MixedTransform(tuple((chance, least) for chance, least, _ in found))
        return low, MixedTransform(tuple((chance, most) for chance, _, most in found))

    @property
    def null(self) -> bool:
        """Whether the loss is 0 always: where it is so in every part."""
        return all(transform.null for _, transform in self.parts)

    @property
    def largest(self) -> Enclosure | None:
        """The largest of the parts' suprema; None where one is infinite."""
        found = [Enclosure.of(0) if one.null else one.largest for _, one in self.parts]
        known = [most for most in found if most is not None]
        return reduce(Enclosure.maximum, known) if len(known) == len(found) else None

    def estimate(self, c: float) -> tuple[float, float, float]:
        """Estimate log M(c) and its first two derivatives: those of a mixture."""
        found = np.array([(float(chance.midpoint), *one.estimate(c)) for chance, one in self.parts])
        chances, moments, slopes, variances = found.T
        top = float(np.max(moments))
        weights = chances * np.exp(moments - top)
        total = float(np.sum(weights))
        slope = float(weights @ slopes) / total
        spread = float(weights @ (variances + (slopes - slope) ** 2)) / total
        # less 1 at once: near 0 the sum would lose it
        moment = math.log1p(float(chances @ np.expm1(moments))) if top < 1.0 else top + math.log(total)
        return moment, slope, spread

    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """The lines of all parts together; None where one has none."""
        lines = [(chance, one.on(c, reach=reach, steps=steps)) for chance, one in self.parts]
        known = [(chance, line, line.log_moment) for chance, line in lines if line is not None]
        moments = [(chance, line, moment) for chance, line, moment in known if moment is not None]
        if len(moments) < len(lines):
            return None
        zero = Enclosure.of(0)
        total = sum((chance * moment.expm1() for chance, _, moment in moments), zero).log1p()
        parts = tuple((chance * (moment - total).exp(), line) for chance, line, moment in moments)
        centre = exact(math.fsum(float(weight.midpoint) * float(line.centre) for weight, line in parts))
        if not all(abs(float(line.centre - centre)) * reach < _LARGEST_TURN for _, line in parts):
            return None
        return _MixedLine(parts, total, centre)


@final
@frozen(eq=False)
class _MixedLine(Line):
    """The lines of the parts with their weights w_j, log M(c), and m."""

    parts: tuple[tuple[Enclosure, Line], ...]
    moment: Enclosure
    middle: Fraction

    @property
    def log_moment(self) -> Enclosure:
        return self.moment

    @property
    def centre(self) -> Fraction:
        return self.middle

    @property
    def nodes(self) -> int:
        return sum(line.nodes for _, line in self.parts)

    def add(self, times: int, to: Logarithms) -> None:
        """Mix the parts' values, and take the logarithm of what results."""
        real, imaginary, hidden = (np.zeros(to.count) for _ in range(3))
        for weight, line in self.parts:
            own = Logarithms(to.step, to.count)
            line.add(1, own)
            about = float(weight.midpoint)
            slack = max(weight.upper - exact(about), exact(about) - weight.lower)
            kernels.mix_in(
                about,
                float(slack) * (1 + 2.0**-50),
                float(line.centre - self.middle),
                to.step,
                own.size,
                own.phase,
                own.error,
                real,
                imaginary,
                hidden,
            )
        kernels.add_logarithms_of(float(times), real, imaginary, hidden, to.size, to.phase, to.error)

    def estimate(self, y: float) -> float:
        here = Logarithms(y, 1)
        self.add(1, here)
        return min(float(here.size[0]), 0.0)

    def tail(self, y: float, wanted: float) -> float:
        """Bound by Σ w_j·T_j, T_j of the parts, of each of which the same part of what it has at y is asked for."""
        here = self.estimate(y)
        share = min(wanted / here, 1.0) if here < 0 else 0.0
        lacking = Enclosure.of(0)
        for weight, line in self.parts:
            lacking = lacking + weight * Enclosure.of(exact(line.tail(y, share * line.estimate(y)))).expm1()
        return min(lacking.log1p().upper_float, 0.0) if lacking.lower > -1 else 0.0
