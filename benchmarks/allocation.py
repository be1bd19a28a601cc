"""Random allocation, one of t batches in each epoch: how far apart both proven ends of ε are, and samples beside them.

The grid has σ, t, epochs and δ of docs/accuracy.md, in both directions. Samples are of one epoch: δ(ε), at the ε that
is proven for each δ of one epoch, from N independent sets of outputs that are drawn by another law and weighted, for
all σ and t of the grid up to t = 1,000. A sample lies outside where its interval of 99.9 % does not meet the proven
one. Run: python benchmarks/allocation.py [grid | samples [N]].
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from statistics import median
from typing import TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import GaussianPair, Pair, allocated
from certdp.accounting.relations import Direction

NOISES = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
BATCHES = (10, 100, 1000, 10_000)
EPOCHS = (1, 10, 100)
DELTAS = ("1e-5", "1e-8", "1e-10")
NARROW, WORST = 1e-3, 10
QUANTILE = 3.2905  # of the normal law at 99.95 %
BLOCK = 1 << 20
SAMPLES = 100_000
Values: TypeAlias = NDArray[np.float64]


@frozen(order=True)
class Result:
    """Both ends of one ε."""

    gap: float
    lower: float
    upper: float
    case: tuple[str, ...]
    seconds: float


def epoch(noise: Fraction, batches: int) -> Pair:
    """The pair of one epoch."""
    return allocated(GaussianPair(1 / Enclosure.of(noise)), batches)


def ends(pair: Pair, delta: str, direction: Direction) -> tuple[float, float]:
    """Both ends of the smallest ε."""
    enclosed = pair.smallest_epsilon(Enclosure.of(delta), direction)
    assert enclosed is not None
    return enclosed.lower_float, enclosed.upper_float


def results() -> Iterator[Result]:
    """The whole grid; the first ε of a σ and a t pays for the mean of t ratios, which the others share."""
    for noise, batches, epochs, delta, direction in product(NOISES, BATCHES, EPOCHS, DELTAS, Direction):
        start = time.process_time()
        lower, upper = ends(epoch(noise, batches).repeated(epochs), delta, direction)
        case = f"{float(noise):g}", f"{batches:,}", str(epochs), delta, direction.name.lower()
        yield Result((upper - lower) / upper, lower, upper, case, time.process_time() - start)


def grid() -> None:
    """Print how many cells are narrow, and the worst."""
    cells = sorted(results(), reverse=True)
    narrow = sum(cell.gap <= NARROW for cell in cells)
    print(f"{narrow} of {len(cells)} have a gap of at most {NARROW:g}; median {median(c.gap for c in cells):.1g}.")
    means = sorted(cell.seconds for cell in cells if cell.case[2:4] == ("1", DELTAS[0]) and cell.case[4] == "remove")
    others = [cell.seconds for cell in cells if cell.seconds < means[0]]
    print(f"CPU seconds: {means[0]:.2g} to {means[-1]:.2g} with the mean of t ratios, {median(others):.2g} without.\n")
    print("| gap | ε | σ | t | epochs | δ | direction |\n|--:|---|--:|--:|--:|---|---|")
    for cell in cells[:WORST]:
        print(f"| {cell.gap:.1g} | [{cell.lower:.7g}, {cell.upper:.7g}] | {' | '.join(cell.case)} |")


# Samples.


MOST = 3.0
CELLS = np.linspace(-12.0, 16.0, 28_001)


def likelihoods(outputs: Values, shift: float) -> Values:
    """The ratios of the law with the record to that without it."""
    return np.asarray(np.exp(shift * outputs - shift * shift / 2))


@frozen(eq=False)
class Tilted:
    """Independent outputs of density ∝ φ(z)·e^(θ·min(L(z), most)), constant within cells of a fine grid.

    Attributes:
        masses: of the cells.
    """

    masses: Values

    @classmethod
    def to(cls, shift: float, mean: float) -> Tilted:
        """θ such that the mean of the ratios is about `mean`; they are cut at MOST times that."""
        middles = (CELLS[1:] + CELLS[:-1]) / 2
        ratios = likelihoods(middles, shift)
        sign, most = (1.0, MOST * mean) if mean > 1 else (-1.0, math.inf)

        def masses(theta: float) -> Values:
            exponents = sign * theta * np.minimum(ratios, most) - middles * middles / 2
            found = np.exp(exponents - exponents.max())
            return np.asarray(found / found.sum())

        low, high = -15.0, 15.0
        for _ in range(50):
            middle = (low + high) / 2
            far = sign * (float(masses(math.exp(middle)) @ ratios) - mean) > 0
            low, high = (low, middle) if far else (middle, high)
        return cls(masses(math.exp(low)))

    def draw(self, size: int, batches: int, random: np.random.Generator) -> Values:
        """So many rows of outputs."""
        cells = np.searchsorted(np.cumsum(self.masses), random.random((size, batches)))
        cells = np.minimum(cells, self.masses.size - 1)
        return np.asarray(CELLS[cells] + (CELLS[1] - CELLS[0]) * random.random((size, batches)))

    def density(self, rows: Values) -> Values:
        """Of rows, over that of normal outputs."""
        width = float(CELLS[1] - CELLS[0])
        places = np.clip(((rows - CELLS[0]) / width).astype(np.int64), 0, self.masses.size - 1)
        with np.errstate(divide="ignore"):
            logs = np.log(self.masses / width)[places] + rows * rows / 2 + math.log(2 * math.pi) / 2
        return np.asarray(np.exp(logs.sum(axis=1)))


def one_density(rows: Values, more: float) -> Values:
    """That of rows of which one output, drawn uniformly, has the mean `more`, over that of normal outputs."""
    return np.asarray(np.exp(more * rows - more * more / 2).mean(axis=1))


def sample(count: int, shift: float, batches: int, epsilon: float, direction: Direction) -> tuple[float, float]:
    """The mean of that many weighted values, which is δ(ε) in expectation, and its standard error.

    All outputs are tilted; where the mean of the ratios is to be large, half of the rows have one larger output.
    """
    factor = math.exp(epsilon)
    removes = direction is Direction.REMOVE
    tilted = Tilted.to(shift, factor if removes else 1 / factor)
    # one ratio that makes up for all others
    more = min(math.log(max(batches * (factor - 1), 1.0)) / shift + shift / 2, 12.0)
    random = np.random.default_rng(2)
    size = max(2, BLOCK // batches)
    total = squares = 0.0
    for start in range(0, count, size):
        number = min(size, count - start)
        half = number // 2 if removes else 0
        rows = tilted.draw(number - half, batches, random)
        if half:
            one = random.standard_normal((half, batches))
            one[np.arange(half), random.integers(batches, size=half)] += more
            rows = np.concatenate([rows, one])
        density = (1 - half / number) * tilted.density(rows)
        if half:
            density += half / number * one_density(rows, more)
        ratio = likelihoods(rows, shift).mean(axis=1)
        values = np.maximum(ratio - factor if removes else 1 - factor * ratio, 0) / density
        total += float(values.sum())
        squares += float((values * values).sum())
    mean = total / count
    return mean, math.sqrt(max(squares / count - mean * mean, 0) / count)


def samples(count: int) -> None:
    """Print how many samples lie outside, and how sharp they are."""
    outside, widths = 0, []
    print("| σ | t | direction | δ proven at ε | sampled, 99.9 % | |\n|--:|--:|---|---|---|---|")
    for noise, batches, delta, direction in product(NOISES, BATCHES[:3], DELTAS, Direction):
        pair = epoch(noise, batches)
        epsilon = ends(pair, delta, direction)[1]
        assert pair.delta is not None
        proven = pair.delta(Enclosure.of(epsilon), direction)
        mean, error = sample(count, float(1 / noise), batches, epsilon, direction)
        low, high = mean - QUANTILE * error, mean + QUANTILE * error
        meets = low <= proven.upper_float and proven.lower_float <= high
        outside += not meets
        widths.append((high - low) / 2 / proven.upper_float)
        words = "meets it" if meets else "**outside**"
        interval = f"[{proven.lower_float:.6g}, {proven.upper_float:.6g}] at {epsilon:.6g}"
        case = f"{float(noise):g} | {batches:,} | {direction.name.lower()}"
        print(f"| {case} | {interval} | [{low:.6g}, {high:.6g}] | {words} |", flush=True)
    print(f"\n{outside} of {len(widths)} outside; half widths {median(widths):.2g} (median), {max(widths):.2g} (most).")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [] | ["grid"]:
            grid()
        case ["samples", *number]:
            samples(int(number[0]) if number else SAMPLES)
        case _:
            raise SystemExit(__doc__)
