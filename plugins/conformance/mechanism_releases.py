"""Laws of what a mechanism releases."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import frozen

from ...accounting.conversions import epsilon_at_order
from ...accounting.errors import CertdpError, OutsideDomain
from ...accounting.exact import Floats
from ...accounting.pairs import Pair
from ...accounting.relations import Direction
from ...accounting.units import Delta, Epsilon
from ...verification.audit import (
    Audit,
    Releases,
    Searched,
    audit,
    directions,
    fewest_runs,
    power_of,
    repeated,
    search_pairs,
)
from ...verification.audit import (
    Pair as AuditedPair,
)
from ..contract import Case, Coins, Finding, ReleasesMany, WeightedSample
from .conformance import Audited
from .divergences import formatted, pair_at, point
from .law import Law, broken, kept
from .mechanism_losses import loss_of
from .subjects import Ground, MechanismSubject, Trial

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Record: TypeAlias = tuple[float, ...]
Weighted: TypeAlias = tuple[tuple[Record, float], ...]
"""A few records, each with its weight."""

_CLOSE = 1e-9
_AUDITED = 2.0
"""The ε near which an audit of few runs sees most."""
_AUDITS = 3
_SEARCHED = 2**32
"""The first seed of a search, whose runs no audit may draw again."""
_CONFIDENCE = Fraction(10**6 - 1, 10**6)
_DELTA = Fraction(1, 10**4)
_EPSILONS = (Fraction(2), Fraction(1), Fraction(1, 2))
_WEIGHTS = (1.0, 1.5, 2.0, 4.0, 8.0)
_FEWEST, _SHARE = 20, 5  # of an audit that is made for every case
_HUGE, _TINY = 1e150, 1e-300


def _releases(subject: MechanismSubject) -> str | None:
    if subject.trials:
        return None
    return f"it releases from none of the records tried ({subject.refusal}); give some that it takes: records=…"


def _trials(subject: MechanismSubject) -> SearchStrategy[Case]:
    """Constants, a few weighted records and a seed of the coins."""
    from hypothesis import strategies

    def case(trial: Trial) -> SearchStrategy[Case]:
        weighted = strategies.tuples(trial.ground.record(), trial.ground.weight())
        return strategies.fixed_dictionaries(
            {
                "constants": strategies.just(trial),
                "sample": strategies.lists(weighted, max_size=4).map(tuple),
                "seed": strategies.integers(0, 99),
            }
        )

    return strategies.sampled_from(subject.trials).flatmap(case)


def _sample(case: Case) -> WeightedSample:
    return _weighted(case["constants"].ground, case["sample"])


def _weighted(ground: Ground, sample: Weighted) -> WeightedSample:
    return ground.sample(tuple(record for record, _ in sample), [weight for _, weight in sample])


def _released(case: Case, sample: WeightedSample) -> Floats:
    return _array(case["constants"].setup.build().release(sample, Coins.seeded(case["seed"])))


def _array(output: object) -> Floats:
    """A copy of a release.

    Raises:
        TypeError: where it is no array of numbers.
    """
    if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiu" or not output.ndim:
        raise TypeError(f"release returns {type(output).__name__} {output!r}, which is no array of numbers")
    return np.array(output, dtype=np.float64)


def _repeats(_: MechanismSubject, case: Case) -> Finding:
    """The same sample and coins give the same release, whatever was asked before."""
    plugin, sample, seed = case["constants"].setup.build(), _sample(case), case["seed"]
    first = _array(plugin.release(sample, Coins.seeded(seed)))
    plugin.release(sample, Coins.seeded(seed + 1))
    for again, when in ((plugin, "later"), (case["constants"].setup.build(), "from a new instance")):
        second = _array(again.release(sample, Coins.seeded(seed)))
        if not np.array_equal(first, second, equal_nan=True):
            return broken(f"{second} {when}, with the same coins", f"{first}, as before")
    return kept()


def _keeps_inputs(_: MechanismSubject, case: Case) -> Finding:
    """A release changes neither its sample nor its plugin."""
    plugin, sample = case["constants"].setup.build(), _sample(case)
    records, weights, text = sample.records.copy(), sample.weights.copy(), repr(plugin)
    plugin.release(sample, Coins.seeded(case["seed"]))
    if not np.array_equal(records, sample.records):
        return broken(f"records {sample.records.tolist()} after a release", records.tolist())
    if not np.array_equal(weights, sample.weights):
        return broken(f"weights {sample.weights.tolist()} after a release", weights.tolist())
    return kept() if repr(plugin) == text else broken(f"{plugin!r} after a release", text)


def _a_set(subject: MechanismSubject) -> str | None:
    if not subject.counts_records:
        return "its relation replaces records, so that each has a place of its own"
    return _releases(subject)


def _ignores_order(subject: MechanismSubject, case: Case) -> Finding:
    """The same law of the outputs in another order of the records; mostly the same output for the same coins."""
    trial, sample = case["constants"], case["sample"]
    one, other = _released(case, _sample(case)), _released(case, _weighted(trial.ground, sample[::-1]))
    if one.shape == other.shape and np.allclose(one, other, rtol=_CLOSE, atol=_CLOSE, equal_nan=True):
        return kept()
    if one.shape != other.shape:
        return broken(f"shape {other.shape} in reverse", f"{one.shape}, as before")
    few = max(_FEWEST, subject.audit_trials // _SHARE)
    apart = _audit(trial, (sample, sample[::-1]), Delta(0), case["seed"], few)
    return broken(f"in reverse order, {apart}", "the same law") if apart.refutes(Epsilon(0)) else kept()


def _keeps_its_shape(_: MechanismSubject, case: Case) -> Finding:
    """The shape of a release tells nothing of how many records there are."""
    empty, some = _released(case, _weighted(case["constants"].ground, ())), _released(case, _sample(case))
    return kept() if empty.shape == some.shape else broken(f"shape {some.shape}", f"{empty.shape}, as of no records")


# Extremes


def _extremes(subject: MechanismSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    def case(trial: Trial) -> SearchStrategy[Case]:
        ground = trial.ground
        weight = strategies.just(2.0**52 if ground.weighted else 1.0)
        if ground.rows or ground.whole:
            entries = strategies.tuples(ground.record(), weight)
        else:
            sizes = strategies.sampled_from([0.0, _TINY, 5e-324, _HUGE, -_HUGE, 1.7e308])
            entries = strategies.tuples(strategies.tuples(*[sizes] * ground.columns), weight)
        return strategies.fixed_dictionaries(
            {
                "constants": strategies.just(trial),
                "sample": strategies.lists(entries, max_size=3).map(tuple),
                "seed": strategies.integers(0, 9),
            }
        )

    return strategies.sampled_from(subject.trials).flatmap(case)


def _stands_extremes(_: MechanismSubject, case: Case) -> Finding:
    """No records, records of 0 and beyond every bound: a finite release, or a refusal that says what is admissible."""
    try:
        with np.errstate(all="ignore"):
            output = _released(case, _sample(case))
    except CertdpError:
        return kept("a refusal with a reason")
    return kept() if np.isfinite(output).all() else broken(output, "finite numbers, or an InvalidValue")


def _extreme_losses(subject: MechanismSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    size = strategies.sampled_from([0.0, 5e-324, _TINY, _HUGE, 1.7e308])
    return strategies.fixed_dictionaries(
        {
            "constants": strategies.sampled_from(subject.setups),
            "record": strategies.tuples(size, size),
            "weight": strategies.sampled_from([1.0, 1.0 + 2.0**-52, 2.0**52, 2.0**900]),
            "rate": strategies.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 2**900), Fraction(0)]),
        }
    )


def _loss_stands_extremes(_: MechanismSubject, case: Case) -> Finding:
    """Every law of the pair is at least 0, or says that the value is beyond reach."""
    loss = loss_of(case["constants"])
    try:
        pair = pair_at(loss, case["record"], case["weight"])
    except CertdpError:
        return kept("a refusal with a reason")
    for law in (pair, pair.sampled(point(case["rate"]))):
        for direction in Direction:
            if law.pure is not None:
                try:
                    value = law.pure(direction)
                except OutsideDomain:
                    continue
                if value.upper < 0:
                    return broken(f"ε = {formatted(value)}", "at least 0")
    return kept()


# Audit


@final
@frozen(eq=False)
class Neighbours:
    """Two neighbouring samples, and what the loss says about telling them apart.

    Attributes:
        trial: public constants and records.
        with_record: the sample with the record.
        without: the sample without it, or with another record in its place.
        delta: δ.
        epsilon: the ε that the loss admits at δ.
    """

    trial: Trial
    with_record: Weighted
    without: Weighted
    delta: Delta
    epsilon: Epsilon

    def __str__(self) -> str:
        return (
            f"{self.trial}; first input {_formatted(self.with_record)}, second input {_formatted(self.without)}; "
            f"declared ε = {self.epsilon} at δ = {self.delta}"
        )


def _formatted(sample: Weighted) -> str:
    return " and ".join(f"{record} of weight {weight:g}" for record, weight in sample) or "no record"


@final
@frozen(kw_only=True)
class Chosen:
    """The neighbours that a search chose, on runs that their audit does not use."""

    neighbours: Neighbours
    search: Searched

    def __str__(self) -> str:
        return str(self.neighbours)


@final
class _Searches:
    """The searches of one plugin, and what those chose that were made."""

    def __init__(self, subject: MechanismSubject) -> None:
        on_axes = (_nearest(subject, trial, 0) for trial in subject.trials)
        trials = [found.trial for found in sorted(filter(None, on_axes), key=_distance)[:_AUDITS]]
        audits = min(_AUDITS, max([len(trials), *(len(_directions(trial.ground)) for trial in trials)]))
        every = [_in_every_direction(subject, trials[turn % len(trials)], turn) for turn in range(audits)]
        self.all = tuple(filter(None, every))
        self.made: dict[int, Chosen] = {}
        self._runs = subject.audit_trials

    def chosen(self, place: int) -> Chosen:
        """What a search chooses; it is made once."""
        if place not in self.made:
            among = self.all[place]
            search = self._search(among)
            self.made[place] = Chosen(neighbours=among[search.chosen], search=search)
        return self.made[place]

    def _search(self, among: tuple[Neighbours, ...]) -> Searched:
        fewest = max(fewest_runs(one.epsilon, one.delta, _CONFIDENCE) for one in among)
        try:
            pairs = [_pair(one, _SEARCHED + place) for place, one in enumerate(among)]
            return search_pairs(pairs, runs=self._runs, fewest=fewest)
        except Exception:  # what breaks is told with the case on which it does
            return Searched(chosen=0, tried=0, left=self._runs)


_searches = lru_cache(maxsize=1)(_Searches)


def _in_every_direction(subject: MechanismSubject, trial: Trial, turn: int) -> tuple[Neighbours, ...]:
    """Neighbours nearest to where an audit sees most, in each direction, from that of the turn on."""
    places = range(turn, turn + len(_directions(trial.ground)))
    return tuple(filter(None, (_nearest(subject, trial, place) for place in places)))


def _nearest(subject: MechanismSubject, trial: Trial, turn: int) -> Neighbours | None:
    """Those nearest to where an audit sees most, among records in one of the directions, which are taken in turn."""
    directions = _directions(trial.ground)
    return min(_candidates(subject, trial, directions[turn % len(directions)]), key=_distance, default=None)


def _distance(neighbours: Neighbours) -> tuple[float, float]:
    """How far from where an audit sees most; of equals the heaviest first, which tells a loss without its weight."""
    ((_, weight),) = neighbours.with_record
    return abs(float(neighbours.epsilon.value) - _AUDITED), -weight


def _candidates(subject: MechanismSubject, trial: Trial, direction: Record) -> Iterator[Neighbours]:
    loss = loss_of(trial.setup)
    for record, other in _records(trial.ground, direction):
        for weight in _WEIGHTS if trial.ground.weighted else (1.0,):
            declared = _declared(pair_at(loss, record, weight))
            if declared is None:
                continue
            rest: Weighted = ((other, 1.0),)
            replaced = rest if not subject.counts_records else ()
            yield Neighbours(trial, ((record, weight),), replaced, *declared)


def _directions(ground: Ground) -> tuple[Record, ...]:
    """The records of ℓ1 norm 1 that audits of runs try, too; the first where there is no choice."""
    tried = directions(ground.columns)
    return tried[:1] if ground.rows or ground.whole else tried


def _records(ground: Ground, direction: Record) -> Iterator[tuple[Record, Record]]:
    """Records with another one that could take their place; in the direction, where there is a choice."""
    if ground.rows:
        yield from ((row, ground.rows[0]) for row in ground.rows[::-1])
    elif ground.whole:
        yield (1.0,) * ground.columns, (0.0,) * ground.columns
    else:
        for halvings in range(8):
            size = ground.bound / 2**halvings
            yield tuple(size * entry for entry in direction), (0.0,) * ground.columns


def _declared(pair: Pair) -> tuple[Delta, Epsilon] | None:
    """A δ and the ε that the pair admits there; None where it says nothing that an audit could refute."""
    try:
        if pair.pure is not None:
            return Delta(0), Epsilon(max(pair.pure(direction).upper for direction in Direction))
        if pair.delta is not None:
            for epsilon in _EPSILONS:
                most = max(pair.delta(point(epsilon), direction).upper for direction in Direction)
                if _DELTA < most < 1:
                    return Delta(most), Epsilon(epsilon)
            return None
        return _by_renyi(pair)
    except OutsideDomain:
        return None


def _by_renyi(pair: Pair) -> tuple[Delta, Epsilon] | None:
    law = pair.renyi
    if law is None:
        return None
    delta = Delta("0.01")
    found = [
        max(epsilon_at_order(order, law(order, direction), point(delta.value)).upper for direction in Direction)
        for order in (Fraction(3, 2), Fraction(2), Fraction(4), Fraction(8), Fraction(16))
    ]
    return delta, Epsilon(min(found))


def _none_to_audit(subject: MechanismSubject) -> str | None:
    refused = _releases(subject)
    if refused is not None:
        return refused
    try:
        found = _searches(subject).all
    except Exception:  # what breaks is told with the case on which it does
        return None
    return None if found else "no neighbours were found whose declared ε an audit of few runs could refute"


def _audits(subject: MechanismSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    searches = _searches(subject)
    return strategies.fixed_dictionaries(
        {
            "neighbours": strategies.sampled_from(range(len(searches.all))).map(searches.chosen),
            "seed": strategies.just(0),
        }
    )


def _withstands_audit(subject: MechanismSubject, case: Case) -> Finding:
    """Runs on neighbouring samples do not refute the declared loss."""
    chosen: Chosen = case["neighbours"]
    found = chosen.neighbours
    samples = found.with_record, found.without
    seen = _audit(found.trial, samples, found.delta, case["seed"], chosen.search.left)
    return broken(seen, f"ε ≤ {found.epsilon}, as declared") if seen.refutes(found.epsilon) else kept()


def _power(subject: MechanismSubject) -> tuple[Audited, ...]:
    """How far each audit sees that was made, on the runs that its search left."""

    def power(chosen: Chosen) -> Audited:
        found, left = chosen.neighbours, chosen.search.left
        return Audited(str(found), power_of(found.epsilon, found.delta, runs=left, confidence=_CONFIDENCE))

    return tuple(power(chosen) for _, chosen in sorted(_searches(subject).made.items()))


def _pair(found: Neighbours, seed: int) -> AuditedPair:
    first, second = _repeated(found.trial, (found.with_record, found.without), Coins.seeded(seed))
    return AuditedPair(first=first, second=second, delta=found.delta, claimed=found.epsilon)


def _audit(trial: Trial, samples: tuple[Weighted, Weighted], delta: Delta, seed: int, runs: int) -> Audit:
    first, second = _repeated(trial, samples, Coins.seeded(seed))
    return audit(first, second, delta=delta, runs=runs, confidence=_CONFIDENCE)


def _repeated(trial: Trial, samples: tuple[Weighted, Weighted], coins: Coins) -> tuple[Releases, Releases]:
    plugin = trial.setup.build()
    first, second = (repeated(plugin, _weighted(trial.ground, sample), coins) for sample in samples)
    return first, second


def _one_by_one(subject: MechanismSubject) -> str | None:
    if not any(isinstance(trial.setup.build(), ReleasesMany) for trial in subject.trials):
        return "it makes releases one at a time alone"
    return _releases(subject)


def _agrees_in_number(subject: MechanismSubject, case: Case) -> Finding:
    """Many releases at once have the law of releases made one after the other."""
    trial, sample = case["constants"], _sample(case)
    plugin, coins = trial.setup.build(), Coins.seeded(case["seed"])
    release = plugin.release
    if not isinstance(plugin, ReleasesMany):
        return kept("one at a time")

    def alone(count: int) -> Floats:
        return np.stack([_array(release(sample, coins)).reshape(-1) for _ in range(count)])

    def together(count: int) -> Floats:
        return _array(plugin.release_many(sample, count, coins)).reshape(count, -1)

    if alone(1).shape != together(1).shape:
        return broken(f"shape {together(1).shape} at once", f"{alone(1).shape}, as one at a time")
    if not alone(1).size:
        return kept("nothing is released")
    apart = audit(alone, together, runs=max(_FEWEST, subject.audit_trials // _SHARE), confidence=_CONFIDENCE)
    return broken(f"at once, {apart}", "the same law as one at a time") if apart.refutes(Epsilon(0)) else kept()


LAWS: tuple[Law[MechanismSubject], ...] = (
    Law(
        name="repeats",
        says="the same sample and coins give the same release, whatever was asked before",
        absence=_releases,
        cases=_trials,
        examine=_repeats,
    ),
    Law(
        name="inputs",
        says="a release changes neither its sample nor its plugin",
        absence=_releases,
        cases=_trials,
        examine=_keeps_inputs,
    ),
    Law(
        name="order",
        says="the order of the records does not matter",
        absence=_a_set,
        cases=_trials,
        examine=_ignores_order,
    ),
    Law(
        name="many",
        says="many releases at once have the law of releases made one after the other",
        absence=_one_by_one,
        cases=_trials,
        examine=_agrees_in_number,
        most=4,
    ),
    Law(
        name="shape",
        says="the shape of a release does not depend on the records",
        absence=_a_set,
        cases=_trials,
        examine=_keeps_its_shape,
    ),
    Law(
        name="extreme-records",
        says="no records, zeros and numbers beyond every bound: a finite release, or a refusal with its reason",
        absence=_releases,
        cases=_extremes,
        examine=_stands_extremes,
    ),
    Law(
        name="extreme-losses",
        says="the loss is at least 0 at every norm, weight and rate, or beyond what an enclosure holds",
        cases=_extreme_losses,
        examine=_loss_stands_extremes,
    ),
    Law(
        name="audit",
        says="runs on neighbouring samples do not refute the declared loss",
        absence=_none_to_audit,
        cases=_audits,
        examine=_withstands_audit,
        most=_AUDITS,
        audited=_power,
    ),
)
