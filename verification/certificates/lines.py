"""Where the moments of the privacy loss are taken for a certificate, in floats: the checker proves what follows.

Symbols as in docs/soundness_loss_distribution.md: M(c), the step h, Λ = 2π/h, φ, T. The line passes near the saddle of
M(z)·e^(−zε)/(z(z + 1)); h makes the repetitions of δ at distance Λ negligible, and the line is so long that the rest
is, by itself or by one more Gaussian release of a small shift t (the dither), which multiplies δ by about
e^(c(c + 1)t²/2).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast, final

from attrs import evolve, frozen

from ...accounting.exact import ratio_text
from ...accounting.pairs import Pair, RandomAllocation
from ...accounting.relations import Direction
from ..checker.approximate.shuffled import FIRST_REACH, NEGLIGIBLE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...accounting.loss_distribution.cells import Law

    Floats = NDArray[np.floating[Any]]

_NATS = 18.0
_FALLING = 2.5  # δ falls faster in ε than e^(−cε) where single losses decide: (c + 1)t²/2 was exceeded up to 2.9 times
_ROUGHLY = 3.0
_LARGEST_REACH = 60.0  # of (c + 1)·s: nodes beyond are too many for the checker
_SMALLEST, _LARGEST = 1e-6, 1e6
_BISECTIONS = 60
_GROWTH = 1.25
_MOST_PLACES = 40_000
_NODE = 800  # what a node costs the checker, in places of a node
_TERM = 150  # what one more number of records drawn costs at a node
_PLACE = 1250
_POWER = 500
_NEAR = 12
_NUMBERS = 512  # of clones
_TINY = 1e-300
_MERGED = 16  # of the library's single losses of an epoch
_REACH = 16  # of the cells of normal noise, in standard deviations


class Release(ABC):
    """Equal releases whose loss the checker knows on a line; in floats, about one of them."""

    times: int
    power: ClassVar[float] = _POWER
    """What their power costs the checker at a place."""

    @property
    def shift_on_a_sample(self) -> float:
        """The shift of Gaussian noise on a sample: the larger, the fewer lines are in reach. Of others 0."""
        return 0.0

    @abstractmethod
    def moments(self, c: float, direction: Direction) -> tuple[float, float, float]:
        """About log M(c), its slope and its curvature."""

    @abstractmethod
    def work(self, line: Line, direction: Direction) -> float:
        """What the checker spends on them, in places."""

    @abstractmethod
    def log_beyond(self, c: float, end: float, direction: Direction) -> float:
        """About the bound of log|φ| from the line's end on."""


@final
@frozen
class Gaussian(Release):
    """Gaussian noise on every record.

    Attributes:
        shift: s.
        times: how many.
    """

    shift: float
    times: int
    power: ClassVar[float] = 0.0

    def moments(self, c: float, direction: Direction) -> tuple[float, float, float]:
        """A closed form in the shift."""
        square = self.shift**2
        return c * (c + 1) * square / 2, (c + 0.5) * square, square

    def work(self, line: Line, direction: Direction) -> float:
        """Return 0: the places of the line hold them."""
        return 0.0

    def log_beyond(self, c: float, end: float, direction: Direction) -> float:
        """A closed form in the shift."""
        return -((self.shift * end) ** 2) / 2


@final
@frozen
class SampledGaussian(Release):
    """Gaussian noise on a sample.

    Attributes:
        shift: s.
        rate: q, below 1.
        times: how many.
    """

    shift: float
    rate: float
    times: int

    @property
    def shift_on_a_sample(self) -> float:
        """The shift of the noise itself."""
        return self.shift

    def moments(self, c: float, direction: Direction) -> tuple[float, float, float]:
        """Sums over a fine grid."""
        import numpy as np

        moved = _power(c, direction) * self.shift
        x = np.arange(min(moved, 0) - 13, max(moved, 0) + 13, 0.02)
        masses = -x * x / 2 + math.log(0.02 / math.sqrt(2 * math.pi))
        return _moments(masses, self._logarithms(x), c, direction)

    def _logarithms(self, x: Floats) -> Floats:
        """Log B."""
        return _mixed(self.shift * (x - self.shift / 2), self.rate)

    def work(self, line: Line, direction: Direction) -> float:
        """So much for each node."""
        s, c = self.shift, line.real_part
        grown = c * (c + 1) * s * s / 2
        fineness = 1 / self._spacing(c, line.end, direction)
        nodes = fineness * (14 + (c + 1) * s + math.sqrt(2 * (70 + grown)) + s)
        return nodes * (line.places + _NODE)

    def _spacing(self, c: float, end: float, direction: Direction) -> float:
        """Return the distance of the checker's nodes."""
        high = min(8.0, 2.5 / self.shift)
        wanted = 70 + high**2 / 2 + end * self.shift * high + (0.0 if direction is Direction.REMOVE else 1.6 * c)
        return 1 / (max(int(wanted / (6 * high)), 1) + 1)

    def log_beyond(self, c: float, end: float, direction: Direction) -> float:
        """As the checker bounds it."""
        import numpy as np

        q, s, g = self.rate, self.shift, _power(c, direction)
        step = self._spacing(c, end, direction)
        x = np.arange(math.floor((min(g, 0) * s - 13) / step), math.ceil((max(g, 0) * s + 13) / step)) * step
        logarithms = self._logarithms(x)
        densities, powers = -x * x / 2, g * logarithms
        exponents = np.maximum(densities[1:], densities[:-1]) + np.maximum(powers[1:], powers[:-1])
        top = exponents.max()
        total = float(np.exp(densities + powers - top).sum())
        masses = np.exp(exponents - top) / total  # the largest in each cell, as the checker takes them
        inverse = np.exp(np.minimum(logarithms - np.log(q) - s * (x - s / 2), 600.0))[:-1]  # 1/ρ
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


@final
@frozen
class Mixture(Release):
    """Gaussian noise on a sample, about several records or replaced ones.

    Attributes:
        shift: s, of one record.
        rate: q, below 1.
        records: k.
        replaced: whether others take their place.
        times: how many releases.
    """

    shift: float
    rate: float
    records: int
    replaced: bool
    times: int

    @property
    def shift_on_a_sample(self) -> float:
        """The shift of all records, twice that where they are replaced."""
        return self.shift * self.records * (2 if self.replaced else 1)

    def moments(self, c: float, direction: Direction) -> tuple[float, float, float]:
        """Sums over a fine grid."""
        import numpy as np

        x = self._grid(c, direction, 0.02)
        exponents, losses = self._exponents(x, c, direction)
        exponents = exponents + math.log(0.02 / math.sqrt(2 * math.pi))
        top = exponents.max()
        weights = np.exp(exponents - top)
        mass = float(weights.sum())
        mean = float(weights @ losses) / mass
        return float(top) + math.log(mass), mean, float(weights @ (losses - mean) ** 2) / mass

    def _grid(self, c: float, direction: Direction, step: float) -> Floats:
        """Places that matter, so far apart."""
        import numpy as np

        far = _far(self, c, direction)
        low, high = (-far, _NEAR) if self._adds(direction) else (-_NEAR, far)
        return np.arange(round(low / step), round(high / step) + 1) * step

    def far(self, c: float, direction: Direction) -> int:
        """How far out nodes matter, as the checker finds it: little lies beyond."""
        import numpy as np

        whole, c1 = self.shift * self.records, (2 * c + 1 if self.replaced else c + 1)
        x = np.arange(_NEAR, c1 * whole + math.sqrt(2 * (70 + c * (c + 1) * (c1 / (c + 1) * whole) ** 2)) + 3)
        if self._adds(direction):
            x = -x
        exponents, _ = self._exponents(x, c, direction)
        within = np.nonzero(exponents + abs(x) + (c + 1) * self._rises(x)[0] > -70)[0]
        return int(abs(x[within[-1]])) + 2 if len(within) else _NEAR

    def _adds(self, direction: Direction) -> bool:
        return direction is Direction.ADD and not self.replaced

    def _exponents(self, x: Floats, c: float, direction: Direction) -> tuple[Floats, Floats]:
        """Logarithms of the integrand, and losses."""
        forward = self._logarithms(x)
        if self.replaced:
            back = self._logarithms(-x)
            return -x * x / 2 + (c + 1) * forward - c * back, forward - back
        if self._adds(direction):
            return -x * x / 2 - c * forward, -forward
        return -x * x / 2 + (c + 1) * forward, forward

    def _terms(self) -> tuple[Floats, Floats]:
        """Shifts, and logarithms of the chances that so many are drawn."""
        import numpy as np

        k, q = self.records, self.rate
        chances = [math.log(math.comb(k, j)) + j * math.log(q) + (k - j) * math.log1p(-q) for j in range(k + 1)]
        return np.arange(k + 1) * self.shift, np.array(chances)

    def _logarithms(self, x: Floats) -> Floats:
        """Log B."""
        import numpy as np

        total = np.full(x.shape, -math.inf)
        for moved, chance in zip(*self._terms(), strict=True):
            total = np.logaddexp(total, chance + moved * (x - moved / 2))
        return total

    def _rises(self, x: Floats) -> tuple[Floats, Floats]:
        """The means of the records' shift and of its square: the slope of log B, and what its curvature comes from."""
        import numpy as np

        logarithms, mean, square = self._logarithms(x), np.zeros(x.shape), np.zeros(x.shape)
        for moved, chance in zip(*self._terms(), strict=True):
            share = moved * np.exp(chance + moved * (x - moved / 2) - logarithms)
            mean += share
            square += moved * share
        return mean, square

    def work(self, line: Line, direction: Direction) -> float:
        """So much for each node."""
        c = line.real_part
        nodes = (_far(self, c, direction) + _NEAR) / self._spacing(c, line.end, direction)
        terms = (self.records + 1) * (2 if self.replaced else 1)
        return nodes * (line.places + 2 * _NODE + _TERM * terms)

    def _spacing(self, c: float, end: float, direction: Direction) -> float:
        """Return the distance of the checker's nodes."""
        whole = self.shift * self.records
        high = min(8.0, 2.5 / whole)
        turned = end * whole * high * (2 if self.replaced else 1)
        falls = self.replaced or self._adds(direction)
        wanted = 70 + high**2 / 2 + turned + (1.6 * c if falls else 0.0)
        return 1 / (max(int(wanted / (6 * high)), 0) + 1)

    def log_beyond(self, c: float, end: float, direction: Direction) -> float:
        """As the checker bounds it."""
        import numpy as np

        step = self._spacing(c, end, direction)
        x = self._grid(c, direction, step)
        exponents, _ = self._exponents(x, c, direction)
        heights = np.exp(np.maximum(exponents[1:], exponents[:-1]) - exponents.max())
        total = float(np.exp(exponents - exponents.max()).sum())
        power = c + 1 if self.replaced else _power(c, direction)
        (forward, square), (back, back_square) = self._rises(x), self._rises(-x)
        if not self.replaced:
            back, back_square = 0 * back, 0 * back_square
        rises = np.maximum(forward[:-1] + back[1:], 1e-300)
        bent = (square[1:] - forward[:-1] ** 2) / rises
        bent_back = (back_square[:-1] - back[1:] ** 2) / rises
        grown = power * forward + c * back
        low, high = (
            np.minimum(grown[1:], grown[:-1]) - x[1:] - bent,
            np.maximum(grown[1:], grown[:-1]) - x[:-1] + bent_back,
        )
        masses = heights / total
        tops = masses / step / rises
        variations = step * tops * np.maximum(abs(low), abs(high))
        order = np.argsort(abs(x[:-1] + step / 2) if self.replaced else x[:-1], kind="stable")
        outside = np.cumsum(masses[order]) - masses[order]
        told = np.cumsum(variations[order][::-1])[::-1] + tops[-1] + (tops[0] if self.replaced else 0.0)
        told += (2 if self.replaced else 1) * tops[order]
        return math.log(min(1.0, 1.001 * float((outside + told / end).min())))


@lru_cache(maxsize=1024)
def _far(mixture: Mixture, c: float, direction: Direction) -> int:
    """`Mixture.far`, which a search asks for again and again."""
    return mixture.far(c, direction)


def _log_binomial(number: Any, of: Any) -> Any:
    """Logarithms of the ways to choose so many of a number."""
    from scipy.special import gammaln

    return gammaln(number + 1.0) - gammaln(of + 1.0) - gammaln(number - of + 1.0)


@final
@frozen(eq=False)
class Finite(Release):
    """A finite pair on a sample, or on every record.

    Attributes:
        log_masses: of the outcomes, without the record.
        log_ratios: of each outcome's mass with the record to that.
        rate: q.
        times: how many.
    """

    log_masses: Floats
    log_ratios: Floats
    rate: float
    times: int

    @classmethod
    def responses(cls, loss: float, together: int, rate: float, times: int) -> Finite:
        """Randomised responses, so many on one sample."""
        import numpy as np

        for_it = np.arange(together + 1)
        log_binomials = np.array([math.log(math.comb(together, j)) for j in range(together + 1)])
        log_masses = log_binomials - together * math.log1p(math.exp(-loss)) - for_it * loss
        return cls(log_masses, (2 * for_it - together) * loss, rate, times)

    @classmethod
    def of_many(cls, loss: float, categories: int, rate: float, times: int) -> Finite:
        """Randomised response over so many categories, about two of them."""
        import numpy as np

        often = -math.log1p((categories - 1) * math.exp(-loss))
        log_masses = np.array([often - loss, often - loss + math.log(categories - 2), often])
        return cls(log_masses, np.array([loss, 0.0, -loss]), rate, times)

    @classmethod
    def exchanged(cls, loss: float, rate: float, times: int) -> Finite:
        """A replaced record with that pure loss: the sampled pair itself."""
        import numpy as np

        high, low = math.log1p(rate * math.expm1(loss)), math.log1p(rate * math.expm1(-loss))
        rare = -math.log1p(math.exp(loss))
        masses = np.array([rare + low, math.log(math.tanh(loss / 2)) + low, rare + high])
        return cls(masses, np.array([high - low, 0.0, low - high]), 1.0, times)

    @classmethod
    def place(cls, shift: float, cells: int, rate: float, times: int) -> Finite:
        """A place of a batch that changes hands, with normal noise spread onto the ends of so many cells."""
        import numpy as np
        from scipy.special import ndtr

        reach = math.ceil(shift / 2) + _REACH
        y = np.linspace(0.0, reach, cells // 2 + 1)
        without, with_record = (-np.diff(ndtr(-(y + moved))) for moved in (shift / 2, -shift / 2))
        upper = (with_record * np.exp(-shift * y[:-1]) - without) / math.expm1(shift * y[1])
        upper = np.clip(upper, 0.0, without)  # far out little is left of either
        masses = np.zeros(len(y))
        masses[:-1] += without - upper
        masses[1:] += upper
        with np.errstate(divide="ignore"):
            return cls(np.log(masses), shift * y, 1.0, times).symmetrised(rate)

    def symmetrised(self, rate: float) -> Finite:
        """The pair of both orders of this symmetric one on a sample."""
        return self._both_ways(rate, 0.0)

    def opposite(self, shift: float, rate: float) -> Finite:
        """What a sampled record and its opposite have, from Laplace noise of twice the shift, which this pair is."""
        grown = rate + (1 - rate) * math.exp(shift)
        return self._both_ways(rate / grown, math.log(grown))

    def _both_ways(self, rate: float, log_times: float) -> Finite:
        import numpy as np

        above = (self.log_ratios > 0) & np.isfinite(self.log_masses)
        losses, masses = _mixed(self.log_ratios[above], rate), self.log_masses[above] + log_times
        grown = masses + losses
        rest = max(1 - float(np.exp(masses).sum() + np.exp(grown).sum()), 1e-300)
        return Finite(
            np.concatenate((masses, grown, [math.log(rest)])), np.concatenate((losses, -losses, [0.0])), 1.0, self.times
        )

    @classmethod
    def noise(cls, shift: float, cells: int, rate: float, times: int) -> Finite:
        """Laplace noise, spread onto the ends of so many cells."""
        import numpy as np

        share = math.tanh(shift / (2 * cells))
        masses = np.full(cells + 1, share)
        masses[[0, -1]] = (1 + share) / 2
        place = np.arange(cells + 1) * (shift / cells)
        return cls(np.log(masses) - place, 2 * place - shift, rate, times)

    @classmethod
    def within(cls, length: float, cells: int, rate: float, times: int) -> Finite:
        """Losses in an interval: Laplace noise that lies between both places, spread onto the ends of the cells."""
        import numpy as np

        masses = np.full(cells + 1, 2 * math.tanh(length / (2 * cells)) / -math.expm1(-length))
        masses[[0, -1]] /= 2
        place = np.arange(cells + 1) * (length / cells)
        return cls(np.log(masses) - place, 2 * place - length, rate, times)

    @classmethod
    def epoch(cls, base: Pair, batches: int, times: int) -> Finite:
        """Epochs of so many batches, one of which a record enters; about as many outcomes as the checker has."""
        import numpy as np

        law = RandomAllocation(base, batches).loss_cells
        assert law is not None
        atoms = cast("Law", law(Direction.REMOVE).above).atoms
        known = np.isfinite(atoms.low) & (atoms.absent > 0)
        masses, losses = atoms.absent[known], atoms.low[known]
        starts = np.arange(0, len(masses), _MERGED)
        merged = np.add.reduceat(masses, starts)
        ratios = np.add.reduceat(masses * np.exp(losses), starts) / merged
        return cls(np.log(merged), np.log(ratios), 1.0, times)

    @classmethod
    def answers(cls, loss: float, users: int, clones: float, cells: int, times: int) -> Finite:
        """Shuffled answers: about the pair whose curve runs straight between so many places, as the checker has it."""
        import numpy as np
        from scipy.special import betainc, xlog1py, xlogy

        mean, spread = (users - 1) * clones, math.sqrt((users - 1) * clones * (1 - clones)) + 1
        looked_at = np.linspace(max(mean - _NEAR * spread, 0), min(mean + _NEAR * spread, users - 1), _NUMBERS)
        numbers = np.unique(looked_at.round())
        logs = _log_binomial(users - 1, numbers) + xlogy(numbers, clones) + xlog1py(users - 1 - numbers, -clones)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        base = math.exp(loss)

        def delta(place: float) -> float:
            growth = math.exp(place)
            threshold = np.floor((numbers + 1) * (base * growth - 1) / ((base - 1) * (growth + 1)))
            threshold = np.minimum(threshold, numbers)
            mass = np.exp(_log_binomial(numbers, threshold) - numbers * math.log(2))
            lead, gain = (base - growth) / (base + 1), growth - 1
            beyond = np.where(threshold < numbers, betainc(threshold + 1, np.maximum(numbers - threshold, 1), 0.5), 0.0)
            return float(weights @ np.maximum(lead * mass - gain * beyond, 0.0))

        reach = min(float(FIRST_REACH), loss)
        while reach < loss and delta(reach) > NEGLIGIBLE:
            reach = min(2 * reach, loss)
        growths = np.exp(np.arange(cells + 1) * (reach / cells))
        slopes = np.diff([delta(math.log(growth)) for growth in growths]) / np.diff(growths)
        masses = np.diff(np.minimum.accumulate(np.append(slopes, 0.0)[::-1])[::-1])
        known = masses > 0
        above, ratios = masses[known], growths[1:][known]
        rest = max(1 - float(above @ (1 + ratios)), _TINY)
        both = np.concatenate([above, above * ratios, [rest]])
        return cls(np.log(both), np.concatenate([np.log(ratios), -np.log(ratios), [0.0]]), 1.0, times)

    def moments(self, c: float, direction: Direction) -> tuple[float, float, float]:
        """Sums over the outcomes."""
        return _moments(self.log_masses, _mixed(self.log_ratios, self.rate), c, direction)

    def work(self, line: Line, direction: Direction) -> float:
        """So much for each outcome."""
        return len(self.log_masses) * (line.places + _NODE)

    def log_beyond(self, c: float, end: float, direction: Direction) -> float:
        """Return 0: |φ| ≤ 1."""
        return 0.0


@final
@frozen(eq=False)
class Cases(Release):
    """What is released in one of some cases.

    Attributes:
        cases: the probability of each, and what is released there.
        times: how many.
    """

    cases: Sequence[tuple[float, Release]]
    times: int

    @property
    def shift_on_a_sample(self) -> float:
        """The largest shift of a case."""
        return max(release.shift_on_a_sample for _, release in self.cases)

    def moments(self, c: float, direction: Direction) -> tuple[float, float, float]:
        """The mean of those of the cases."""
        found = [(math.log(chance), *release.moments(c, direction)) for chance, release in self.cases if chance]
        top = max(chance + log_m for chance, log_m, _, _ in found)
        shares = [math.exp(chance + log_m - top) for chance, log_m, _, _ in found]
        mass = sum(shares)
        mean = sum(share * slope for share, (_, _, slope, _) in zip(shares, found, strict=True)) / mass
        square = sum(s * (bent + slope**2) for s, (_, _, slope, bent) in zip(shares, found, strict=True)) / mass
        return top + math.log(mass), mean, square - mean**2

    def work(self, line: Line, direction: Direction) -> float:
        """What the checker spends on all cases together."""
        return sum(release.work(line, direction) for _, release in self.cases)

    def log_beyond(self, c: float, end: float, direction: Direction) -> float:
        """As the checker adds them up."""
        total = self.moments(c, direction)[0]
        return math.log(
            sum(
                chance * math.exp(release.moments(c, direction)[0] - total + release.log_beyond(c, end, direction))
                for chance, release in self.cases
            )
        )


def _power(c: float, direction: Direction) -> float:
    """The power of B whose mean without the record is M(c)."""
    return c + 1 if direction is Direction.REMOVE else -c


def _mixed(log_ratios: Floats, rate: float) -> Floats:
    """Log B of a sample, from log-ratios about a record that is drawn."""
    import numpy as np

    return log_ratios if rate >= 1 else np.logaddexp(np.log1p(-rate), np.log(rate) + log_ratios)


def _moments(masses: Floats, logarithms: Floats, c: float, direction: Direction) -> tuple[float, float, float]:
    """About log M(c), its slope and its curvature, from logarithms of masses and of B."""
    import numpy as np

    exponents = masses + _power(c, direction) * logarithms
    losses = logarithms if direction is Direction.REMOVE else -logarithms
    top = exponents.max()
    weights = np.exp(exponents - top)
    mass = float(weights.sum())
    mean = float(weights @ losses) / mass
    return float(top) + math.log(mass), mean, float(weights @ (losses - mean) ** 2) / mass


@final
@frozen
class Line:
    """The line, and by how much the dither raises ε.

    Attributes:
        real_part: c.
        step: h.
        places: K.
        dither: t.
        cells: onto whose ends Laplace noise is spread, or 0 where there is none.
    """

    real_part: float
    step: float
    places: int
    dither: float
    cells: int

    @property
    def end(self) -> float:
        """Return the imaginary part from which on the terms are bounded together."""
        return self.places * self.step

    @property
    def raised(self) -> float:
        """Estimate by how much the ε at a δ grows with the dither, and with what the line repeats and leaves out."""
        return _FALLING * (self.real_part + 1) * self.dither**2 / 2 + 4 * math.exp(-_NATS) / self.real_part

    def as_json(self) -> dict[str, Any]:
        """Return the line as a certificate states it."""
        real_part, step, dither = (ratio_text(Fraction(value)) for value in (self.real_part, self.step, self.dither))
        stated = {"real_part": real_part, "step": step, "places": self.places, "dither": dither}
        return {**stated, "cells": self.cells} if self.cells else stated


def log_moment(releases: Sequence[Release], c: float, direction: Direction) -> float:
    """About log M(c) of all releases."""
    return _Run(releases, direction, 0).moments(c)[0]


def work_on(releases: Sequence[Release], line: Line, direction: Direction) -> float:
    """About what the checker spends on a line, in places of a node."""
    at_places = _PLACE + sum(release.power for release in releases)
    return at_places * line.places + sum(release.work(line, direction) for release in releases)


def line_for(
    releases: Sequence[Release], epsilon: float, log_delta: float, direction: Direction, work: float, cells: int
) -> Line | None:
    """A line for (ε, δ); None where none was found.

    Args:
        releases: the composed releases.
        epsilon: ε ≥ 0.
        log_delta: log δ, finite.
        direction: which of the two; where the δ of one is far below δ, a rough bound of it is enough.
        work: what the checker may spend.
        cells: those of Laplace noise, or 0.
    """
    import numpy as np

    run = _Run(releases, direction, cells)
    saddle = run.saddle(epsilon)
    chernoff = [(c, run.chernoff(c, epsilon)) for c in (saddle / 2 ** (i / 2) for i in range(10, -1, -1))]
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

    def __init__(self, releases: Sequence[Release], direction: Direction, cells: int) -> None:
        self.releases = releases
        self.direction = direction
        self.cells = cells
        self.largest = max((release.shift_on_a_sample for release in releases), default=0.0)

    def reachable(self, c: float) -> bool:
        """Whether the nodes for c are few."""
        return (c + 1) * self.largest < _LARGEST_REACH

    def moments(self, c: float) -> tuple[float, float, float]:
        """About log M(c), its slope and its curvature."""
        total = [0.0, 0.0, 0.0]
        for release in self.releases:
            for i, value in enumerate(release.moments(c, self.direction)):
                total[i] += release.times * value
        return total[0], total[1], total[2]

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

        places, best = 2.0, None
        while places <= _MOST_PLACES:
            line = Line(c, h, math.ceil(places), 0.0, self.cells)
            if work_on(self.releases, line, self.direction) > work:
                break
            beyond = sum(release.times * release.log_beyond(c, line.end, self.direction) for release in self.releases)
            missing = wanted - math.log(math.pi * line.end) + beyond
            best = evolve(line, dither=float(np.float32(math.sqrt(2 * max(missing, 0.0)) / line.end)))
            if missing <= 0:
                break
            places *= _GROWTH
        return None if best is None or best.dither > 1 else best
