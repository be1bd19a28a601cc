"""PWS Section 6 on counts: how well private samples keep the order of keys, and what their own error statements say.

ε and δ are those of Figure 4. Keys are sampled by ppswor or not at all, and sanitised with their frequencies
(Algorithm 4); a release draws seeded coins. What is compared with the truth is for the data's owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.keyed.estimates import Total, likelihood, likely_kendall, moment_curve, sum_error_of
from ..accounting.provenance import Public
from ..samplers.every_key import EveryKey
from ..samplers.ppswor import Ppswor
from ..weighted_sampling.counts import KeyCounts
from ..weighted_sampling.release import PrivateSample, PrivateWeightedSampling
from .contenders import coins_at
from .experiment import ExperimentOptions, Prepared
from .findings import Advance, Findings, Table
from .key_frequencies import KeyFrequencies, read_counts
from .pictures import Picture
from .pws_curves import STYLES
from .pws_fractions import DELTA, EPSILON

THRESHOLDS = (None, Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))
"""τ; None for no sampling."""
REPETITIONS = 5
TOP = 100
RANKS = (1, 10, 100, 1000)
"""True ranks of the keys whose rank is estimated."""
SHOWN = (1, 8, 64, 512)
"""Frequencies of which is told what part of a key is counted."""
LAW, KEYS = 1.0, 10_000
"""Zipf's law in place of a file."""

_SYNTHETIC = "a law of frequencies; seeded coins: nothing here is private"
_PRIVATE = "compared with the counts, with seeded coins: for the data's owner, not for publication"

_BITS = 53

Counts = NDArray[np.int64]


@final
@frozen
class OrderExperiment:
    """Estimates from releases, beside the truth.

    Attributes:
        shows: what it shows, in words.
    """

    shows: str

    @property
    def draws(self) -> bool:
        """Whether it draws coins: it does."""
        return True

    def prepare(self, asked: ExperimentOptions) -> Prepared:
        """Prepare the counts; errors as for `Experiment.prepare`."""
        options = ("size", "epsilon", "split", "array", "transpose", "divide-by")
        asked.refuse(*options, because="It reads keys and counts, and has the ε of the figures")
        counts = _law() if asked.data is None else _counts(asked.data)
        plan = _Plan(asked.name, counts, asked.repetitions or REPETITIONS, asked.seed)
        return Prepared(
            source=f"Zipf[{LAW:g}] by rank" if asked.data is None else "the file given",
            notice=_SYNTHETIC if asked.data is None else _PRIVATE,
            settings={"seed": plan.seed, "repetitions": plan.repetitions, "epsilon": float(EPSILON)},
            compute=plan.findings,
        )


def _law() -> Counts:
    law = KeyFrequencies.zipf(LAW, KEYS)
    return np.repeat(law.frequencies, law.keys)[::-1]


def _counts(path: Path) -> Counts:
    counts = read_counts(path)
    if counts.min() == counts.max():
        raise InvalidValue("data", str(path), "keys of at least two frequencies", "Equal ones have no order")
    return np.sort(counts)[::-1]


@final
@frozen
class _Plan:
    """What is asked: `counts` from the most frequent key on, which are named by their place there."""

    name: str
    counts: Counts = field(repr=False)
    repetitions: int
    seed: int

    def findings(self, advance: Advance) -> Findings:
        rows = []
        for place, threshold in enumerate(THRESHOLDS):
            rows.append(self._row(place, threshold))
            advance((place + 1) / len(THRESHOLDS))
        table = Table(tuple(rows[0]), [tuple(row.values()) for row in rows])
        picture = Picture.of(1, 1, width=5.4, height=3.8)
        _draw(picture.axes[0, 0], rows)
        title = f"Order of {len(self.counts):,} keys, ε = {float(EPSILON):g}, δ = {float(DELTA):g}, ppswor"
        summary = {"keys": len(self.counts), "elements": int(self.counts.sum()), "rows": rows}
        return Findings(summary, {self.name: table}, {self.name: picture.titled(title)})

    def _row(self, place: int, threshold: Fraction | None) -> dict[str, Any]:
        """One sampling rate: what is expected of it exactly, and means over the releases."""
        sampler = EveryKey() if threshold is None else Ppswor(threshold=Public(threshold))
        sampling = PrivateWeightedSampling.within(epsilon=EPSILON, delta=DELTA, sampler=sampler, frequencies=True)
        keys = KeyCounts.of(([str(key) for key in range(len(self.counts))], self.counts))
        releases = [
            self._read(sampling.release(keys, coins_at(self.seed, place, number))) for number in range(self.repetitions)
        ]
        frequencies, many = np.unique(self.counts, return_counts=True)
        weights = many.astype(np.float64)
        highest = int(max(frequencies[-1], SHOWN[-1]))
        likely = likelihood(sampling.reporting, highest)
        curve, shown = (moment_curve(likely, Total(), chosen) for chosen in (frequencies, np.array(SHOWN)))
        error = sum_error_of(curve, weights, weights)
        rates = [float(sampler.inclusion.rate(one, precision=_BITS).midpoint) for one in frequencies.tolist()]
        counted = 1 + shown.bias / shown.sizes
        return {
            "tau": None if threshold is None else float(threshold),
            "kendall": likely_kendall(sampling.reporting, frequencies, weights),
            "kendall_not_private": kendall_of_sample(np.array(rates), weights),
            "sum_bias": error.bias / error.truth,
            "sum_deviation": float(np.sqrt(error.variance)) / error.truth,
            **{f"counted_at_{one}": float(part) for one, part in zip(SHOWN, counted, strict=True)},
            **{name: _mean([release[name] for release in releases]) for name in releases[0]},
        }

    def _read(self, sample: PrivateSample) -> dict[str, float | None]:
        """One release: what it states, and the truth of it."""
        assert sample.tokens is not None
        places = np.array(sample.keys.to_pylist(), dtype=np.int64)
        tokens = np.zeros(len(self.counts))
        tokens[places] = sample.tokens.astype(np.float64) + 1  # keys that are not reported come last
        listed = min(TOP, len(self.counts))
        truth, stated = int(self.counts.sum()), sample.estimate()
        top = [int(key.key) for key in sample.estimates.top(TOP)] if len(places) else []
        ranks = {rank: sample.estimates.rank(str(rank - 1)) if rank - 1 in places else None for rank in RANKS}
        return {
            "reported": float(len(places)),
            "kendall_found": kendall(self.counts, tokens),
            "kendall_stated": sample.estimates.kendall() if len(places) > 1 else None,
            "top_found": float(np.sum(self.counts[top] >= self.counts[listed - 1])) / listed,
            "sum_found": stated.estimate / truth - 1,
            "sum_stated_bias": (stated.bias or 0.0) / truth,
            "sum_stated_deviation": stated.standard_error / truth,
            **{f"rank_of_{rank}": None if found is None else found.rank for rank, found in ranks.items()},
            **{
                f"rank_error_of_{rank}": None if found is None else found.standard_error
                for rank, found in ranks.items()
            },
        }


def kendall(counts: Counts, scores: Floats) -> float:
    """Kendall's τ over the pairs of keys with different counts: 1 for a pair that scores order alike, 0 for a tie."""
    from scipy.stats import kendalltau

    pairs = _pairs(len(counts))
    of_counts, of_scores = (pairs - sum(map(_pairs, _multiplicities(values))) for values in (counts, scores))
    if not of_scores:
        return 0.0
    # scipy divides by the geometric mean of the pairs that either tells apart
    found: Any = kendalltau(counts, scores)
    return float(found.statistic * np.sqrt(of_scores / of_counts))


def kendall_of_sample(rates: Floats, keys: Floats) -> float:
    """The expectation of `kendall` for a sample with true counts, whose keys are kept independently.

    Args:
        rates: the probability with which a key of each frequency is kept, from the lowest frequency on.
        keys: how many keys have each.
    """
    kept = keys * rates
    fewer, fewer_kept = np.cumsum(keys) - keys, np.cumsum(kept) - kept
    # the more frequent key is kept: in order; it alone is not: reversed; neither is: a tie
    agreed = float(np.sum(kept * fewer - (keys - kept) * fewer_kept))
    return agreed / float(np.sum(keys * fewer))


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _multiplicities(values: Any) -> Sequence[int]:
    return [int(count) for count in np.unique(values, return_counts=True)[1]]


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean over the releases in which there is a value."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _draw(panel: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    sampled = [row for row in rows if row["tau"] is not None]
    places = [row["tau"] for row in sampled]
    for name, style in (("kendall", STYLES["pws"]), ("kendall_not_private", STYLES["sampling"])):
        panel.plot(places, [row[name] for row in sampled], marker="o", markersize=3, **style)
    panel.set_xscale("log")
    panel.set_xlabel("τ")
    panel.set_ylabel("expected Kendall τ of the order of keys")
    panel.legend(fontsize="x-small")
