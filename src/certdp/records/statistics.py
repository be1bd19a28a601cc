"""Individual losses for a data set's owner: in streams and files, as a picture, and what of them may be released.

What a run loses about each record is computed from the records, and so are its quantiles and histograms: all of it is
`Private`. A figure of them is published by a release that costs something itself: `release_quantile`, `release_count`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..accounting.derivation import SEEDED_COINS, Assumption, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats, Number, exact
from ..accounting.guarantees import Guarantee, require
from ..accounting.individual.filter import Mask
from ..accounting.notions import Pure
from ..accounting.provenance import Private, Public, Released
from ..accounting.relations import ADD_REMOVE, RECORD
from ..accounting.units import Epsilon
from ..durable.files import whole_file, writing
from ..plugins.contract import Coins
from ..plugins.contract.coins import release_coins
from ..plugins.contract.exact_draws import ExactDraws

Counts: TypeAlias = NDArray[np.int64]
Sink: TypeAlias = Callable[[Floats], None]
"""Takes the losses of the next records, in order."""

DEFAULT_GRID: Public[tuple[float, ...]] = Public(tuple(2.0 ** (k / 4) for k in range(-40, 25)))
"""65 losses from 2^-10 to 2^6, by factors of 2^(1/4)."""

_EXPONENTIAL = Theorem("McSherry, Talwar 2007", "Theorem 6")
_COUNT = Theorem("Ghosh, Roughgarden, Sundararajan 2012", "geometric mechanism")
_OWN = Assumption("individual losses", "each computed from its own record and what was released before")
_WORDS = 64


@final
@frozen(eq=False)
class LossHistogram:
    """How many losses lie in each cell of a public grid: private itself.

    Attributes:
        grid: losses that increase; public.
        counts: number of losses up to the first, from there to the second, …, above the last.
    """

    grid: tuple[float, ...]
    counts: Counts = field(repr=False)

    @classmethod
    def of(cls, losses: ArrayLike, grid: Public[Sequence[float]] = DEFAULT_GRID) -> Self:
        """The histogram of losses that may be infinite.

        Raises:
            InvalidType: for a grid that is not declared public.
            InvalidValue: for a grid of finite numbers that do not increase, or of none.
        """
        require("grid", grid, Public, "Declare it: Public((0.1, 1, 10)); it must not depend on the records")
        ends = np.asarray(grid.value, dtype=np.float64)
        if ends.ndim != 1 or not ends.size or not np.isfinite(ends).all() or not (np.diff(ends) > 0).all():
            raise InvalidValue("grid", grid.value, "finite numbers that increase, at least one")
        cells = np.searchsorted(ends, np.asarray(losses, dtype=np.float64), side="left")
        return cls(tuple(ends.tolist()), np.bincount(cells, minlength=len(ends) + 1).astype(np.int64))

    def __add__(self, other: LossHistogram) -> LossHistogram:
        if self.grid != other.grid:
            raise InvalidValue("grid", other.grid, "the same grid", "Count both on one grid")
        return LossHistogram(self.grid, self.counts + other.counts)


@contextmanager
def losses_file(path: Path) -> Iterator[Sink]:
    """Write losses to a CSV file with the columns record and private_epsilon, readable by the owner alone.

    Records are counted from 0. Numbers read back are the same binary64 numbers. The file appears when the context ends;
    after an exception, not at all.

    Raises:
        InvalidValue: for another ending than .csv, and where the file cannot be written.
    """
    if path.suffix.lower() != ".csv":
        raise InvalidValue("output", str(path), "a file ending in .csv", "Choose another name")
    done = 0
    with whole_file(path, secret=True) as stream:
        with writing(path):
            stream.write(b"record,private_epsilon\n")

        def put(losses: Floats) -> None:
            nonlocal done
            lines = (f"{record},{loss!r}\n" for record, loss in enumerate(losses.tolist(), start=done))
            with writing(path):
                stream.write("".join(lines).encode("ascii"))
            done += len(losses)

        yield put


def release_quantile(
    histogram: Private[LossHistogram], level: Number, epsilon: Epsilon | Number, *, coins: Coins | None = None
) -> Released[float]:
    """A loss of the public grid near a quantile of the individual losses, by the exponential mechanism.

    With A_j losses up to the j-th of the grid and n in all, the score |A_j − level·n| changes by at most
    Δ = max(level, 1 − level) where a record is added or removed, because each loss depends on its own record and on
    what was released before. The j-th is drawn with probability exactly proportional to e^(−ε·score/(2Δ)).

    Args:
        histogram: counts of the losses.
        level: 0 to 1; ½ asks for the median.
        epsilon: what the release may cost, above 0.
        coins: the operating system's unless given.

    Guarantees: ε-DP under adding or removing one record; the cost travels with the value and is composed into whatever
    uses it. How long the draw takes depends on the counts.

    Raises:
        InvalidType: for other types.
        InvalidValue: for a level outside [0, 1], and ε = 0.
    """
    require("histogram", histogram, Private, "Losses are private: LossHistogram.of(…) within Private.map")
    share = exact(level, parameter="level")
    if not 0 <= share <= 1:
        raise InvalidValue("level", level, "a number in [0, 1]")
    counted = histogram.reveal()
    below = np.cumsum(counted.counts).tolist()
    scores = [abs(share.denominator * count - share.numerator * below[-1]) for count in below[:-1]]
    spent = _spent(epsilon)
    unit = spent.value / (2 * share.denominator * max(share, 1 - share))
    least = min(scores)
    used = release_coins(coins)
    draws = ExactDraws(used.source, _WORDS)
    while True:  # a uniform proposal, kept with probability e^−γ
        chosen = draws.below(len(scores))
        exponent = unit * (scores[chosen] - least)
        if draws.bernoulli_exp(exponent.numerator, exponent.denominator):
            return Released(counted.grid[chosen], _cost(spent, _EXPONENTIAL, used))


def release_count(active: Private[Mask], epsilon: Epsilon | Number, *, coins: Coins | None = None) -> Released[int]:
    """The number of records that a filter has not dropped, with discrete Laplace noise of scale 1/ε.

    Args:
        active: the filter's mask: whether a record is in depends on that record and on what was released before.
        epsilon: what the release may cost, above 0.
        coins: the operating system's unless given.

    Guarantees: ε-DP under adding or removing one record; the noise has exactly its distribution.

    Raises:
        InvalidType: for other types.
        InvalidValue: for ε = 0.
    """
    require("active", active, Private, "A mask is private: give what the filter returns")
    used = release_coins(coins)
    spent = _spent(epsilon)
    noise = used.discrete_laplace(1 / spent.value, 1)[0]
    return Released(int(np.count_nonzero(active.reveal())) + noise, _cost(spent, _COUNT, used))


def _spent(epsilon: Epsilon | Number) -> Epsilon:
    spent = Epsilon.of(epsilon)
    if not spent.value:
        raise InvalidValue("epsilon", spent.value, "ε > 0", "A release that costs nothing tells nothing")
    return spent


def _cost(epsilon: Epsilon, theorem: Theorem, coins: Coins) -> Guarantee[Any, Any, Any]:
    return Guarantee(
        bound=Pure(Enclosure.of(epsilon.value)),
        relation=ADD_REMOVE,
        unit=RECORD,
        derivation=theorem.conclude(assumptions=[_OWN] if coins.private else [_OWN, SEEDED_COINS]),
    )
