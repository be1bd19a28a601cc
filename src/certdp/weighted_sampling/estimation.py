"""What a released sample tells of the data: sums, keys, ranks and quantiles, with what is known of their errors.

All of it is post-processing: it costs nothing, and needs no more than the sample and its statement. Three kinds of
statements are kept apart:

1. Estimates: the sums of PWS Section 7.1 with the maximum likelihood values of Equation 9, and what follows by putting
   the likeliest frequency H of a key's token in place of its own, one reported key standing for 1/π_H keys.
2. Their errors, estimated in the same way: bias and standard error as they would be if the frequencies were those
   estimated. These are estimates, not confidence statements: of keys so infrequent that none of their kind was reported
   they know nothing, and that part of the bias, always downwards, is missing in them. What is lost of a key of each
   frequency is public, and told beside: `accounting.keyed.estimates.moment_curve`.
3. Certainties: a token is reported by frequencies in a known range alone (its reach). So the reported keys of a
   selection add up to at least Σ g(least), and with them all of its keys. What the keys that were not reported add is
   bounded only where the number of keys is (a public number), and every frequent key is reported.

Where a public largest frequency M is declared, frequencies above it are treated as M: estimates are of g(min(w, M)).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import cached_property
from math import fsum, sqrt
from typing import NamedTuple, Protocol, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.display import figure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats, Number, exact
from ..accounting.keyed.estimates import (
    Cap,
    Cells,
    Count,
    Likelihood,
    MomentCurve,
    NamedStatistic,
    Statistic,
    SumError,
    Total,
    concordances,
    likelihood,
    likely_kendall,
    moment_curve,
    sizes,
    sum_error_of,
)
from ..accounting.keyed.reporting import Inclusion, Reporting
from ..accounting.provenance import Private
from .counts import KeyCounts
from .keys import Keys, are_among, key_at
from .selections import Coefficients, Where, coefficients
from .threshold_samples import ThresholdSample

_RATE_BITS = 128
_NEARLY = 0.01  # parts of an estimate that are not told any more
_MARGIN = 2.0**-48
_ROUNDING = 1e-12


class HowDrawn(Protocol):
    """With what a sample was drawn."""

    @property
    def reporting(self) -> Reporting:
        """With how many units a key of each frequency was reported with each token."""
        ...


class ReleasedSample(Protocol):
    """What estimates need of a released sample: `PrivateSample` has it."""

    @property
    def keys(self) -> Keys:
        """The keys that were reported."""
        ...

    @property
    def tokens(self) -> NDArray[np.uint64] | None:
        """The token of each key, None where keys alone are reported."""
        ...

    @property
    def sampling(self) -> HowDrawn:
        """How the sample was drawn."""
        ...


@final
@frozen(kw_only=True)
class SumEstimate:
    """An estimate of Σ L(x)·g(w); it prints as a few lines.

    Attributes:
        statistic: what is estimated, in words; certainties are about it, too.
        keys: how many keys of the sample it is from.
        estimate: of the sum.
        bias: estimated bias of the estimate; None where nothing is known of it. It lacks the keys that are so
            infrequent that the sample shows none like them.
        standard_error: estimated standard deviation of the estimate.
        at_least: the sum is at least so much, for certain; None where keys that were not reported may count negatively.
        at_most: the sum is at most so much, for certain; None where nothing bounds it.
        counted: by frequency, 1, 2, 4 and so on, the part of its own g that a key adds to the estimate on average:
            public, whatever the sample, and what `bias` lacks of infrequent keys. Empty where no tokens are read.
    """

    statistic: str
    keys: int
    estimate: float
    bias: float | None
    standard_error: float
    at_least: float | None
    at_most: float | None
    counted: Mapping[int, float] = field(factory=dict)
    unbiased: bool = False
    """Whether the estimate is unbiased whatever the data, as inverse probabilities make it, and its variance, too."""

    def __str__(self) -> str:
        lines = [f"{self.statistic}: {figure(self.estimate)}, from {self.keys:,} keys"]
        error = f"  standard error {figure(self.standard_error)}"
        if self.unbiased:
            lines.append(f"{error}, estimated; unbiased")
        else:
            bias = "" if self.bias is None else f", bias {figure(_visible(self.bias, self.estimate))}"
            lines.append(f"{error}{bias}: estimated, and blind to keys too infrequent to be in the sample")
        if self.counted:
            parts = ", ".join(f"{part:.1%} at {frequency:,}" for frequency, part in self.counted.items())
            lines.append(f"  of what a key adds it counts on average, by the key's frequency: {parts}")
        if self.at_least is not None:
            most = (
                "nothing bounds it above" if self.at_most is None else f"at most {figure(self.at_most, ROUND_CEILING)}"
            )
            lines.append(f"  for certain at least {figure(self.at_least, ROUND_FLOOR)}; {most}")
        return "\n".join(lines)


@final
@frozen(kw_only=True)
class LikelyKey:
    """A reported key.

    Attributes:
        key: text or bytes.
        token: the higher, the more frequent it is likely to be.
        likeliest: the frequency that reports its token most often.
        least: its frequency is at least that, for certain.
        most: its frequency is at most that, for certain; None where a public largest frequency M was declared and the
            token is that of M.
    """

    key: str | bytes
    token: int
    likeliest: int
    least: int
    most: int | None


@final
@frozen(kw_only=True)
class QuantileEstimate:
    """A quantile of the frequencies of keys.

    Attributes:
        level: which one, from 0 to 1.
        frequency: so many keys have at most that frequency: estimated, among keys frequent enough to be reported.
        low: the same where the share of keys below is one standard error more.
        high: the same where it is one standard error less.
    """

    level: float
    frequency: int
    low: int
    high: int


@final
@frozen(kw_only=True)
class RankEstimate:
    """The rank of a key by frequency, the most frequent being first.

    Attributes:
        key: text or bytes.
        rank: estimated, among all keys.
        standard_error: estimated, from how likely the tokens of keys are in the wrong order.
        best: among the reported keys its rank is no better than that, for certain.
        worst: nor any worse than that.
    """

    key: str | bytes
    rank: float
    standard_error: float
    best: int
    worst: int


@final
@frozen(kw_only=True)
class OrderEstimate:
    """Whether two reported keys are ordered as their tokens are.

    Attributes:
        higher: the key with the higher token; the first one given where they are alike.
        probability: with which keys of the likeliest frequencies are reported in their order; ½ where these are alike.
        certain: whether the order of the tokens is that of the frequencies, for certain.
    """

    higher: str | bytes
    probability: float
    certain: bool


class _Read(NamedTuple):
    """What the tokens of a sample tell."""

    likelihood: Likelihood
    likeliest: NDArray[np.int64]
    reported: Floats
    """π of the likeliest frequency."""
    least: NDArray[np.int64]
    most: NDArray[np.int64]


@final
@frozen(eq=False)
class SampleEstimates:
    """Estimates from a sample that was sanitised.

    Args:
        keys: an Arrow array of the reported keys.
        tokens: of each key, or None where keys alone are reported.
        reporting: with what probability a key of each frequency is reported with each token.

    Raises:
        InvalidValue: for tokens where none are reported, and the other way round.
    """

    keys: Keys
    tokens: NDArray[np.uint64] | None
    reporting: Reporting = field(repr=False)

    def __attrs_post_init__(self) -> None:
        if (self.tokens is not None) != self.reporting.with_frequencies:
            raise InvalidValue("tokens", self.tokens, "one for each key, where keys are reported with frequencies")
        if self.tokens is not None and len(self.tokens) != len(self.keys):
            raise InvalidValue("tokens", f"{len(self.tokens)} tokens", f"{len(self.keys)}, one for each key")

    @classmethod
    def of(cls, sample: ReleasedSample) -> SampleEstimates:
        """Return the estimates from a released sample."""
        return cls(sample.keys, sample.tokens, sample.sampling.reporting)

    def sum(
        self, where: Where = None, statistic: Statistic | None = None, *, population: int | None = None
    ) -> SumEstimate:
        """Σ L(x)·g(w) over all keys (PWS Equation 8).

        Args:
            where: which keys count, or their coefficients; every key unless given.
            statistic: g; the frequency itself unless given.
            population: a public number of keys that `where` holds for; where every frequent key is reported, it bounds
                the sum from above.

        Raises:
            InvalidValue: for keys without frequencies, unless they are counted; for a g with g(0) ≠ 0 or that
                decreases; for a population smaller than what was reported.
        """
        measured: Statistic = Total() if statistic is None else statistic
        if not self.reporting.with_frequencies:
            return self._counted(where, measured)
        held = coefficients(where, self.keys)
        chosen = np.flatnonzero(held.values)
        if not chosen.size:
            return self._summed(measured, held, chosen, None, population)
        distinct, laws = self._laws
        places = np.searchsorted(distinct, self._read.likeliest[chosen])
        used, places = np.unique(places, return_inverse=True)
        curve = moment_curve(self._read.likelihood, measured, distinct[used], (laws[place] for place in used.tolist()))
        return self._summed(measured, held, chosen, (curve, places.reshape(-1)), population)

    def _parts_counted(self, statistic: Statistic) -> dict[int, float]:
        """The expected part of g that a key adds, at powers of two, up to where nearly all of it is."""
        found: dict[int, float] = {}
        for frequency in _powers(int(self._read.likeliest.max())):
            curve = moment_curve(self._read.likelihood, statistic, [frequency])
            if curve.sizes[0] > 0:
                found[frequency] = float(1 + curve.bias[0] / curve.sizes[0])
                if abs(1 - found[frequency]) < _NEARLY:
                    break
        return found

    def count(self, where: Where = None, *, population: int | None = None) -> SumEstimate:
        """How many keys there are; as `sum` otherwise. From keys alone, how many were reported."""
        return self.sum(where, Count(), population=population)

    def top(self, count: int, where: Where = None) -> list[LikelyKey]:
        """The keys with the highest tokens, from the highest on; of equal ones those with the first bytes."""
        read, chosen = self._read, np.flatnonzero(coefficients(where, self.keys).values)
        order = chosen[np.argsort(~self._tokens[chosen], kind="stable")][: whole("count", count, 1)]
        largest = self.reporting.largest
        return [
            LikelyKey(
                key=key_at(self.keys, int(place)),
                token=int(self._tokens[place]),
                likeliest=int(read.likeliest[place]),
                least=int(read.least[place]),
                most=None if largest is not None and read.most[place] >= largest else int(read.most[place]),
            )
            for place in order
        ]

    def quantiles(self, levels: Sequence[Number], where: Where = None) -> list[QuantileEstimate]:
        """Quantiles of the frequencies of keys, each reported key weighted by 1/π.

        Keys of frequencies that are hardly ever reported are hardly ever in it: where there are many of them, the
        frequencies below which a share of all keys lies are lower.

        Args:
            levels: from 0 to 1.
            where: which keys count.

        Raises:
            InvalidValue: for other levels, and where no key is selected.
        """
        parts = [_level(level) for level in levels]
        factors = coefficients(where, self.keys).values
        chosen = np.flatnonzero(factors)
        if not chosen.size or factors.min() < 0:
            raise InvalidValue("where", "no keys", "a predicate that holds for some reported keys")
        order = chosen[np.argsort(self._read.likeliest[chosen], kind="stable")]
        frequencies, chances = self._read.likeliest[order], self._read.reported[order]
        weights = factors[order] / chances
        shares = np.cumsum(weights) / weights.sum()

        def at(share: float) -> int:
            return int(frequencies[min(int(np.searchsorted(shares, share)), len(shares) - 1)])

        def error(level: float, frequency: int) -> float:
            """Of the estimated share of keys up to this frequency, by linearisation."""
            spread = weights * ((frequencies <= frequency) - level)
            return sqrt(float(np.sum(spread * spread * (1 - chances)))) / float(weights.sum())

        found = []
        for level in parts:
            frequency = at(level)
            margin = error(level, frequency)
            found.append(
                QuantileEstimate(level=level, frequency=frequency, low=at(level - margin), high=at(level + margin))
            )
        return found

    def survival(self) -> tuple[NDArray[np.int64], Floats]:
        """Increasing frequencies, and how many keys are estimated to have at least each."""
        distinct, places = np.unique(self._read.likeliest, return_inverse=True)
        keys = _totals(places, 1 / self._read.reported)
        return distinct, np.cumsum(keys[::-1])[::-1]

    def rank(self, key: str | bytes) -> RankEstimate:
        """The rank of a reported key among all keys: 1 and the keys above it, each standing for 1/π; ties count ½.

        Raises:
            InvalidValue: for a key that was not reported.
        """
        place, read = self._place(key), self._read
        others = np.arange(len(self.keys)) != place
        above = others & (self._tokens > self._tokens[place])
        tied = others & (self._tokens == self._tokens[place])
        surely_above = read.least > read.most[place]
        surely_below = read.most < read.least[place]
        near = others & ~surely_above & ~surely_below
        wrong = self._misplaced(int(read.likeliest[place]), read.likeliest[near])
        return RankEstimate(
            key=key,
            rank=1 + float(np.sum(1 / read.reported[above])) + float(np.sum(1 / read.reported[tied])) / 2,
            standard_error=sqrt(float(np.sum(wrong * (1 - wrong) / read.reported[near] ** 3))),
            best=1 + int(surely_above.sum()),
            worst=len(self.keys) - int(surely_below.sum()),
        )

    def order(self, one: str | bytes, other: str | bytes) -> OrderEstimate:
        """Whether two reported keys are ordered as their frequencies are.

        Raises:
            InvalidValue: for keys that were not reported.
        """
        read, places = self._read, [self._place(one), self._place(other)]
        low, high = sorted(places, key=lambda place: int(self._tokens[place]))
        frequencies = sorted({int(read.likeliest[place]) for place in places})
        if self._tokens[low] == self._tokens[high]:
            low, high = places[1], places[0]
        matrix = concordances(self.reporting, frequencies)
        return OrderEstimate(
            higher=key_at(self.keys, high),
            probability=float(matrix[0, -1]),
            certain=bool(read.most[low] < read.least[high]),
        )

    def kendall(self) -> float:
        """The expected Kendall τ of the order of tokens, for keys as the sample shows them (PWS Section 6).

        Raises:
            InvalidValue: where all keys have the same likeliest frequency.
        """
        distinct, places = np.unique(self._read.likeliest, return_inverse=True)
        return likely_kendall(self.reporting, distinct, _totals(places, 1 / self._read.reported))

    @cached_property
    def _tokens(self) -> NDArray[np.uint64]:
        if self.tokens is None:
            raise InvalidValue(
                "sample", "keys without frequencies", "keys that were reported with frequencies", "Release those"
            )
        return self.tokens

    @cached_property
    def _read(self) -> _Read:
        tokens = self._tokens
        highest = (int(tokens.max()) >> self.reporting.budget.subdivision) + 1 if tokens.size else 1
        read = likelihood(self.reporting, highest)
        likeliest, reach = read.likeliest(tokens), read.reach(tokens)
        return _Read(read, likeliest, read.reported(likeliest), reach.least, reach.most)

    @cached_property
    def _laws(self) -> tuple[NDArray[np.int64], list[Cells]]:
        """The likeliest frequencies, and what keys of each are reported with."""
        distinct = np.unique(self._read.likeliest)
        return distinct, list(self._read.likelihood.laws(distinct.tolist()))

    def _summed(
        self,
        statistic: Statistic,
        held: Coefficients,
        chosen: NDArray[np.intp],
        curve: tuple[MomentCurve, NDArray[np.intp]] | None,
        population: int | None,
    ) -> SumEstimate:
        factors = held.values[chosen]
        estimate = bias = error = 0.0
        if curve is not None:
            moments, places = curve
            each = factors / self._read.reported[chosen]
            estimate = fsum(each * moments.sizes[places])
            bias = fsum(each * moments.bias[places])
            error = sqrt(fsum(factors * each * moments.variance[places]))
        least = most = None
        if held.selecting:
            least = fsum(sizes(statistic, self._read.least[chosen])) * (1 - _margin(statistic))
            most = self._bounded(statistic, chosen, population)
        return SumEstimate(
            statistic=_named(statistic) + self._held(statistic),
            keys=len(chosen),
            estimate=estimate,
            bias=bias,
            standard_error=error,
            at_least=least,
            at_most=most,
            counted={} if curve is None else self._parts_counted(statistic),
        )

    def _held(self, statistic: Statistic) -> str:
        """What becomes of frequencies above a declared largest one, in words; empty where it makes no difference."""
        largest = self.reporting.largest
        if largest is None:
            return ""
        match statistic:
            case Count():
                return ""
            case Cap(largest=cap) if cap <= largest:
                return ""
        return f", those above {largest:,} counted as {largest:,}"

    def _bounded(self, statistic: Statistic, chosen: NDArray[np.intp], population: int | None) -> float | None:
        """The most that a selection of so many keys adds up to."""
        if population is None:
            return None
        hidden = whole("population", population, 0) - len(chosen)
        if hidden < 0:
            raise InvalidValue("population", population, f"at least {len(chosen)}, the keys reported")
        withheld = self._read.likelihood.last_withheld
        if withheld is None and hidden:
            return None
        extra = float(sizes(statistic, np.array([withheld or 0], dtype=np.int64))[0])
        return fsum([*sizes(statistic, self._read.most[chosen]), hidden * extra]) * (1 + _margin(statistic))

    def _counted(self, where: Where, statistic: Statistic) -> SumEstimate:
        """Keys alone: only those reported are known of, and their number varies by less than its root."""
        match statistic:
            case Count():
                pass
            case _:
                raise InvalidValue(
                    "statistic",
                    _named(statistic),
                    "the number of keys, for a sample of keys without frequencies",
                    "Release keys with frequencies to estimate more",
                )
        held = coefficients(where, self.keys)
        total = fsum(held.values)
        return SumEstimate(
            statistic=f"{statistic} reported",
            keys=int(np.count_nonzero(held.values)),
            estimate=total,
            bias=None,
            standard_error=sqrt(fsum(held.values**2)),
            at_least=total if held.selecting else None,
            at_most=None,
        )

    def _misplaced(self, frequency: int, others: NDArray[np.int64]) -> Floats:
        """The probability that a key of each frequency and one of this frequency are in the wrong order."""
        distinct, places = np.unique(np.append(others, frequency), return_inverse=True)
        row = concordances(self.reporting, distinct)[places.reshape(-1)[-1]]
        return np.asarray((1 - row)[places.reshape(-1)[:-1]], dtype=np.float64)

    def _place(self, key: str | bytes) -> int:
        found = np.flatnonzero(are_among(self.keys, {key.encode() if isinstance(key, str) else key}))
        if not len(found):
            raise InvalidValue("key", key, "a reported key", "What is not in the sample has no rank")
        return int(found[0])


def estimate_sum(
    sample: ReleasedSample,
    where: Where = None,
    statistic: Statistic | None = None,
    *,
    population: int | None = None,
) -> SumEstimate:
    """Σ L(x)·g(w) over all keys, from a released sample; arguments and errors as for `SampleEstimates.sum`."""
    return SampleEstimates.of(sample).sum(where, statistic, population=population)


def estimate_count(sample: ReleasedSample, where: Where = None, *, population: int | None = None) -> SumEstimate:
    """How many keys there are, from a released sample; as `SampleEstimates.count`."""
    return SampleEstimates.of(sample).count(where, population=population)


def expected_error(
    reporting: Reporting, data: KeyCounts, where: Where = None, statistic: Statistic | None = None
) -> Private[SumError]:
    """Bias, variance and NRMSE of the estimate of a sum on data that are at hand: for their owner.

    Args:
        reporting: what is to be reported.
        data: the keys and their true frequencies.
        where: which keys count, or their coefficients.
        statistic: g; the frequency itself unless given.

    Raises:
        InvalidValue: as `SampleEstimates.sum`, and where the true sum is 0.
    """
    measured: Statistic = Total() if statistic is None else statistic
    factors = coefficients(where, data.keys).values
    counts = data.counts.astype(np.int64)
    distinct, places = np.unique(
        counts if reporting.largest is None else np.minimum(counts, reporting.largest), return_inverse=True
    )
    if not distinct.size:
        raise InvalidValue("data", "no keys", "keys whose true sum is not 0")
    curve = moment_curve(likelihood(reporting, int(distinct[-1])), measured, distinct)
    return Private(sum_error_of(curve, _totals(places, factors), _totals(places, factors**2)))


def estimate_unsanitised_sum(
    sample: ThresholdSample, where: Where = None, statistic: Statistic | None = None
) -> Private[SumEstimate]:
    """Σ L(x)·g(w) by inverse probabilities, unbiased, from a sample with true frequencies (PWS Equation 7).

    Args:
        sample: not private, nor is what follows from it. For a bottom-k sample the probabilities are those of the
            realised threshold, given what the other keys drew.
        where: which keys count, or their coefficients.
        statistic: g; the frequency itself unless given.

    Raises:
        InvalidValue: as `SampleEstimates.sum`.
    """
    measured: Statistic = Total() if statistic is None else statistic
    held = coefficients(where, sample.keys)
    chosen = np.flatnonzero(held.values)
    distinct, places = np.unique(sample.counts[chosen].astype(np.int64), return_inverse=True)
    rates = np.array([_rate(sample.inclusion, frequency) for frequency in distinct.tolist()])[places.reshape(-1)]
    true = sizes(measured, distinct)[places.reshape(-1)]
    factors = held.values[chosen]
    return Private(
        SumEstimate(
            statistic=_named(measured),
            keys=len(chosen),
            estimate=fsum(factors * true / rates),
            bias=0.0,
            standard_error=sqrt(fsum((factors * true / rates) ** 2 * (1 - rates))),
            at_least=fsum(true) * (1 - _margin(measured)) if held.selecting else None,
            at_most=None,
            unbiased=True,
        )
    )


def _powers(largest: int) -> Iterator[int]:
    power = 1
    while power <= largest:
        yield power
        power *= 2


def _rate(inclusion: Inclusion, frequency: int) -> float:
    return inclusion.units(frequency, _RATE_BITS) / (1 << _RATE_BITS)


def _totals(places: NDArray[np.intp], weights: Floats) -> Floats:
    """The sum of the weights at each place."""
    return np.asarray(np.bincount(places.reshape(-1), weights=weights), dtype=np.float64)


def _level(level: Number) -> float:
    value = exact(level, parameter="level")
    if not 0 <= value <= 1:
        raise InvalidValue("level", level, "from 0 to 1")
    return float(value)


def _margin(statistic: Statistic) -> float:
    """By what part a sum of values of g may be rounded: sums of whole numbers below 2^53 are exact, powers are within
    a few units of 2^−53 and so is their sum."""
    match statistic:
        case Total() | Count() | Cap():
            return 0.0
    return _MARGIN


def _named(statistic: Statistic) -> str:
    match statistic:
        case NamedStatistic():
            return str(statistic)
    return getattr(statistic, "__name__", "statistic")


def _visible(value: float, beside: float) -> float:
    """Return the value, or 0 where it is rounding error alone."""
    return value if abs(value) > _ROUNDING * abs(beside) else 0.0
