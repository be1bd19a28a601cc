"""Audits of runs that certdp accounts for: sampled releases of any mechanism, and releases of sampled keys.

The inputs are synthetic neighbours chosen by the library, so nothing of what an audit shows is private.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats, Number
from ..accounting.keyed.reporting import Reporting
from ..accounting.pairs import FinitePair
from ..accounting.relations import ADD_REMOVE, ZERO_OUT, Direction, Relation
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.drawing import Rate
from ..accounting.sampling.losses import Loss
from ..accounting.sampling.records import Features
from ..accounting.sampling.releases import Releases as Plan
from ..accounting.units import Delta, Epsilon
from ..plugins.contract import Coins, KnowsNeighbours, Mechanism, Neighbours, StatesNoiseRelatively
from ..plugins.contract.coins import release_coins
from ..runs.declared import declared_loss
from ..runs.keyed import KeyedRun
from ..runs.sampled import SampledRun
from ..verification.audit import (
    CONFIDENCE,
    RUNS,
    Audit,
    Pair,
    Power,
    Releases,
    Searched,
    audit,
    audited_releases,
    fewest_runs,
    power_of,
    search_pairs,
    worst_neighbours,
)
from ..weighted_sampling.drawing import draw_reports

AnyRun: TypeAlias = SampledRun[Any] | KeyedRun
"""What can be audited."""

Progress: TypeAlias = Callable[[int], None]

_MOST_FREQUENCIES = 1000
_MANY = 10**15


@final
@frozen(kw_only=True)
class RunAudit:
    """An audit of a run, against a claim.

    Attributes:
        found: what the runs prove.
        claimed: the ε that was claimed at the audit's δ.
        proven: whether that is what certdp itself proves of the run.
        difference: in what the two inputs differ.
        search: how the two inputs were chosen.
        power: how far the runs on them can see.
    """

    found: Audit
    claimed: Epsilon
    proven: bool
    difference: str
    search: Searched
    power: Power

    @property
    def refuted(self) -> bool:
        """Whether the runs contradict the claim."""
        return self.found.refutes(self.claimed)

    def __str__(self) -> str:
        verdict = "refuted" if self.refuted else "not refuted"
        return (
            f"the claim of ε = {self.claimed} is {verdict}: {self.found}; the inputs differ in {self.difference}; "
            f"{self.power}"
        )


def audit_run(
    run: AnyRun,
    *,
    claimed: Epsilon | None = None,
    delta: Delta | None = None,
    runs: int = RUNS,
    confidence: Number = CONFIDENCE,
    neighbours: Neighbours | None = None,
    coins: Coins | None = None,
    one_by_one: bool = False,
    progress: Progress | None = None,
) -> RunAudit:
    """A lower bound on the ε of a run, from independent runs of it on two neighbouring inputs.

    Args:
        run: sampler, mechanism and plan of releases.
        claimed: the ε in question; what certdp proves of the run unless given.
        delta: the δ in question; unless given 0, or of sampled keys the δ that the mechanism states.
        runs: per input; where the two inputs are searched for, a fifth of them choose those. Of the others half choose
            an event, half test it.
        confidence: between 0 and 1.
        neighbours: the two inputs, for mechanisms of records; unless given those that the mechanism knows, or a record
            of the public domain, present and absent: of those that are declared to lose most in each of a few
            directions, the one that tells most.
        coins: the operating system's unless given.
        one_by_one: whether to make each release by the mechanism's `release`, however slow.
        progress: called with the number of runs done; there are `runs` on each input.

    Guarantees:
        As `audit`.

    Raises:
        InvalidValue: for so few runs that no outcome could refute the claim, with how many could; where the mechanism
            covers replacing a record alone and does not know its neighbours; as `audit` and the run itself.
    """
    subject = _subject(run)
    limit = subject.delta if delta is None else delta
    claim = subject.proven_epsilon(limit) if claimed is None else claimed
    fewest = fewest_runs(claim, limit, confidence)
    if runs < fewest:
        raise InvalidValue(
            "trials",
            runs,
            f"at least {_counted(fewest)} runs on each input",
            f"With fewer no outcome refutes ε = {claim} at δ = {limit} with confidence {float(Fraction(confidence))}",
        )
    inputs = subject.inputs(claim, neighbours, release_coins(coins), one_by_one, progress)
    pairs = [Pair(first=one.first, second=one.second, delta=limit, claimed=claim) for one in inputs]
    search = search_pairs(pairs, runs=runs, fewest=fewest)
    chosen = inputs[search.chosen]
    return RunAudit(
        found=audit(chosen.first, chosen.second, delta=limit, runs=search.left, confidence=confidence),
        claimed=claim,
        proven=claimed is None,
        difference=chosen.difference,
        search=search,
        power=power_of(claim, limit, runs=search.left, confidence=confidence),
    )


def neighbours_among(run: AnyRun, records: ArrayLike) -> Neighbours:
    """The two inputs that a matrix of records stands for, where no record of it is private.

    Under add/remove all records, and all but the last; under replace all but the last, and the last in the place of the
    one before.

    Raises:
        InvalidValue: for too few records.
    """
    subject = _subject(run)
    if subject.relation in (ADD_REMOVE, ZERO_OUT):
        return Neighbours.without_last(records)
    return Neighbours.replacing_last(records)


@final
@frozen
class _Inputs:
    first: Releases
    second: Releases
    difference: str


@final
@frozen(kw_only=True)
class _OfRecords:
    """A run on records, as an audit takes it."""

    mechanism: Mechanism
    drawing: Rate
    plan: Plan
    domain: NormBall | None
    relation: Relation
    proven_epsilon: Callable[[Delta], Epsilon]
    delta: Delta = field(factory=lambda: Delta(0))

    def inputs(
        self, claim: Epsilon, given: Neighbours | None, coins: Coins, one_by_one: bool, progress: Progress | None
    ) -> tuple[_Inputs, ...]:
        tried = self._known(claim) if given is None else (given,)

        def releases(records: Floats) -> Releases:
            features = hold(records, self.domain, Outside.CLIP).features
            mechanism = self._with_noise(features)
            realisation = self.drawing.realise(features)
            return audited_releases(
                mechanism, features.records, realisation, self.plan, coins, one_by_one=one_by_one, progress=progress
            )

        return tuple(_Inputs(releases(two.first), releases(two.second), two.difference) for two in tried)

    def _known(self, claim: Epsilon) -> tuple[Neighbours, ...]:
        if isinstance(self.mechanism, KnowsNeighbours):
            return (self.mechanism.neighbours,)
        if self.relation not in (ADD_REMOVE, ZERO_OUT):
            raise InvalidValue(
                "mechanism",
                self.mechanism.about.name,
                "a mechanism under add/remove, or one that knows its neighbours",
                "State them: a property `neighbours` of the mechanism, or records of your own",
            )
        level = claim.value / (2 * self.plan.steps)  # at the claim itself a pure loss has no δ to compare by
        return worst_neighbours(self._loss, self.drawing, self.domain, level)

    @property
    def _loss(self) -> Loss:
        return declared_loss(self.mechanism)

    def _with_noise(self, features: Features) -> Mechanism:
        """The mechanism, with the noise of this run where that is stated relatively."""
        if not isinstance(self.mechanism, StatesNoiseRelatively):
            return self.mechanism
        one = Features(np.ones((1, features.records.shape[1])))  # the rate is one number, and so is the weight
        weight = float(self.drawing.realise(one).weight[0])
        radius = 1 if self.domain is None else self.domain.radius.value
        return self.mechanism.scaled(radius, weight if np.isfinite(weight) else 1)


@final
@frozen(kw_only=True)
class _OfKeys:
    """A run on keys, each of which is a run by itself."""

    run: KeyedRun

    @property
    def relation(self) -> Relation:
        return self.run.relation

    @property
    def delta(self) -> Delta:
        return self.run.reporting.delta

    def proven_epsilon(self, delta: Delta) -> Epsilon:
        return Epsilon(self.run.epsilon(delta).epsilon.upper)

    def inputs(
        self, claim: Epsilon, given: Neighbours | None, coins: Coins, one_by_one: bool, progress: Progress | None
    ) -> tuple[_Inputs, ...]:
        if given is not None:
            raise InvalidValue("neighbours", given.difference, "nothing, for keyed data", "Leave the records out")
        if one_by_one:
            raise InvalidValue("one_by_one", True, "False, for keyed data", "Each key is drawn by itself anyway")
        frequency = self._costliest_frequency(claim)

        def releases(count: int) -> Releases:
            return _of_keys(self.run.reporting, count, self.run.releases, coins, progress)

        difference = f"the frequency of a key, {frequency} and {frequency - 1}; an entry is its token, −1 for none"
        return (_Inputs(releases(frequency), releases(frequency - 1), difference),)

    def _costliest_frequency(self, claim: Epsilon) -> int:
        """The frequency at which the rows of the table lose most, beyond the claim or halfway to it."""
        reporting = self.run.reporting
        last = min(reporting.last or _MOST_FREQUENCIES, 2 * self.run.band, _MOST_FREQUENCIES)
        growth = Enclosure.of(claim.value / self.run.releases).exp().upper
        delta = reporting.delta.value

        def loss(pair: FinitePair) -> tuple[Fraction, Fraction]:
            beyond, halfway = (
                max(pair.hockey_stick(factor, direction) for direction in Direction)
                for factor in (growth, (growth + 1) / 2)
            )
            return max(Fraction(0), beyond - delta), halfway

        losses = [loss(pair) for pair in self.run.neighbours(range(1, last + 1))]
        return 1 + max(range(last), key=losses.__getitem__)


def _of_keys(reporting: Reporting, frequency: int, releases: int, coins: Coins, progress: Progress | None) -> Releases:
    """Draw what is reported about a key of this frequency: the token of each release, −1 where there is none."""

    def drawn(count: int) -> Floats:
        outputs = np.full((releases, count), -1.0)
        if frequency:
            counts = np.full(count, frequency, dtype=np.uint64)
            for output in outputs:
                reports = draw_reports(reporting, counts, coins)
                output[reports.kept] = reports.tokens
        if progress is not None:
            progress(count)
        return outputs.T

    return drawn


def _subject(run: AnyRun) -> _OfRecords | _OfKeys:
    match run:
        case SampledRun():
            return _OfRecords(
                mechanism=run.mechanism,
                drawing=run.drawing,
                plan=run.releases,
                domain=run.domain,
                relation=run.relation,
                proven_epsilon=lambda delta: Epsilon(run.epsilon(delta).epsilon.upper),
            )
        case KeyedRun():
            return _OfKeys(run=run)
    raise InvalidType("run", run, "SampledRun or KeyedRun")


def _counted(runs: int) -> str:
    return f"{runs:,}" if runs < _MANY else f"10^{len(str(runs)) - 1}"
