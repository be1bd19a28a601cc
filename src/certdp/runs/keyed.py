"""Private releases of sampled keys: what they cost for one occurrence of a key, by a plan fixed beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import final

from attrs import evolve, frozen

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import EX_POST, Assumption, Derivation, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, OutsideDomain, known_keywords
from ..accounting.guarantees import Guarantee, for_groups
from ..accounting.keyed.key_sanitiser import crossover
from ..accounting.keyed.reporting import (
    Comparison,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    KeyTable,
    Reporting,
    nothing_reported,
)
from ..accounting.keyed.reporting.profiles import dominating_pair
from ..accounting.keyed.reporting.rows import compared
from ..accounting.notions import APPROXIMATE, Approximate
from ..accounting.pairs import Envelope, FinitePair, Pair, compose_pairs
from ..accounting.relations import ADD_REMOVE, ELEMENT, AddRemove, Direction, Element, User
from ..accounting.sampling.every_value import ExPost, released_within
from ..plugins.contract import KeySampler, Sanitiser, open_parameters
from .declared import premises_of
from .run import RunPart, refuse_chosen

_ROWS = Theorem("law", "rows of every two neighbouring frequencies of a key, in whole units of probability")
_CONTRIBUTIONS = Theorem("law", "a user is a group of elements")
_OF_ELEMENTS = (
    Assumption("unit is an element", "one occurrence of a key"),
    Assumption("coins of each key", "independent of those of all other keys"),
)
_FIRST, _APART, _BESIDE, _FARTHEST = 40, 40, 3, 4000
"""Frequencies whose losses are lower ends: each is proven, and more of them cost time."""
MOST_CASES = 21
"""Pairs that frequencies share: more of them come closer and cost time."""
_TIMES = 4
_SHARES = (Fraction(0), Fraction(1, 2), Fraction(7, 8), Fraction(63, 64))
"""Of the way from 1 to e^ε: where frequencies are sought whose tests find much."""
_MOST_OUTCOMES = 1 << 16
"""Of all comparisons: up to so many they are of two neighbours each, not of whole stretches."""


def declared_inclusion(sampler: KeySampler) -> Inclusion:
    """Return the probability with which the sampler keeps a key of each frequency.

    Raises:
        InvalidType: where that is no inclusion.
    """
    inclusion = sampler.inclusion
    if not isinstance(inclusion, Inclusion):
        raise InvalidType("inclusion", inclusion, "an Inclusion", f"Repair sampler {sampler.about.name}")
    return inclusion


@final
@known_keywords
@frozen(kw_only=True, repr=False)
class KeyedRun(RunPart[Element]):
    """Releases of sampled keys, or of keys and their frequencies, from aggregated counts.

    Args:
        mechanism: what is reported about a sampled key.
        sampler: which keys enter.
        releases: how many independent releases there are, each on a fresh sample; fixed before the data are seen.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for adding or removing one element, which is one occurrence of a key, for keys of all
        frequencies and the units of probability really drawn. IS Theorem 6 is not used: the rate of a key depends on
        its frequency, and with it on the element itself. What released parameters cost is contained.

    Raises:
        InvalidValue: for plugins of another unit or without add/remove, heuristic evidence, and as the mechanism does.
        InvalidType: for anything but a sanitiser and a sampler of keys.
    """

    mechanism: Sanitiser
    sampler: KeySampler
    releases: int = 1
    precision: int = 128

    unit = ELEMENT
    domain = None

    def __attrs_post_init__(self) -> None:
        whole("releases", self.releases, 1)
        if not isinstance(self.mechanism, Sanitiser):
            raise InvalidType("mechanism", self.mechanism, "a sanitiser of sampled keys, such as PwsKeys")
        if not isinstance(self.sampler, KeySampler):
            raise InvalidType("sampler", self.sampler, "a sampler of keys, such as Ppswor")
        _ = self.relation, self.derivation, self.reporting

    @cached_property
    def relation(self) -> AddRemove:  # type: ignore[override]
        """Add/remove: one element is in one data set and not in the other."""
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            plugin.about.require(role, ELEMENT, ADD_REMOVE)
        return ADD_REMOVE

    @cached_property
    def reporting(self) -> Reporting:
        """The probabilities of what is reported about a key of each frequency, end to end."""
        reporting = self.mechanism.reporting(declared_inclusion(self.sampler))
        if not isinstance(reporting, Reporting):
            raise InvalidType("reporting", reporting, "a Reporting", f"Repair mechanism {self.mechanism.about.name}")
        return reporting

    # What it costs

    def guarantee(self) -> Guarantee[Approximate, AddRemove, Element]:
        """(ε, δ) for one element, as declared; of several releases, and with released parameters, the sums.

        `epsilon` and `delta` say what the rows themselves lose, which for several releases is less.
        """
        self.require_for_every_value()
        declared = (self.reporting.epsilon, self.reporting.delta)
        epsilon, delta = (Enclosure.of(unit.value, precision=self.precision) * self.releases for unit in declared)
        return Guarantee(
            bound=APPROXIMATE.compose([Approximate(epsilon, delta.minimum(1)), self._spent]),
            relation=self.relation,
            unit=ELEMENT,
            derivation=APPROXIMATE.composition_theorem.conclude([self.derivation]),
        )

    def guarantee_for_users(self, contributions: int) -> Guarantee[Approximate, AddRemove, User]:
        """(cε, δ·(e^{cε} − 1)/(e^ε − 1)) for one user with at most c elements; of one key or of several.

        Args:
            contributions: c ≥ 1. Counts that are aggregated already cannot prove it: it is an assumption.

        Raises:
            InvalidValue, InvalidType: for contributions that are no whole number ≥ 1.
        """
        unit = User(contributions=contributions)
        group = for_groups(self.guarantee(), contributions)
        assumption = Assumption("each user contributes at most so many elements in all", str(contributions))
        return Guarantee(
            bound=group.bound,
            relation=group.relation,
            unit=unit,
            derivation=_CONTRIBUTIONS.conclude([group.derivation], [assumption]),
        )

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run: they dominate all frequencies, and one is reached by some of them.

        One release has the largest divergences of all frequencies. What several lose is a matter of each frequency by
        itself: there few frequencies share a pair.
        """
        self.require_for_every_value()
        if self.for_every_value:
            return WorstPairs((self.dominating().repeated(self.releases),), ())
        if self.releases == 1:
            each = list(self.neighbours(_compared_frequencies([self])))
            asked = [(_factor(self, share), direction) for share in _SHARES for direction in Direction]
            worst = dict.fromkeys(max(each, key=lambda pair: pair.hockey_stick(*one)) for one in asked)
            return WorstPairs((self.dominating(),), (Envelope.of(each), *worst))
        return WorstPairs(joint_cases([self], MOST_CASES), (lower_bound_pair([self]),))

    def dominating(self, first: int = 0, end: int | None = None) -> FinitePair:
        """The pair of one release at the frequencies of some `comparisons`; by default at all frequencies.

        Where these are too many to compare, it is the pair of every (ε, δ)-DP release.
        """
        if first or end is not None:
            return dominating_pair(self.reporting.budget, self.comparisons[first:end])
        return self._dominating

    @cached_property
    def _dominating(self) -> FinitePair:
        if self.for_every_value:
            return _declared_pair(self.reporting)
        try:
            return self.reporting.dominating_pair()
        except OutsideDomain:
            return _declared_pair(self.reporting)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The rows of frequencies 1, 2, …, each compared with the one before, where these are not too many.

        One of them dominates the neighbours at each further frequency, too. Else there are none, nor for other tables,
        whose comparisons may dominate jointly.
        """
        if self.for_every_value:
            return ()
        match self.reporting:
            case KeyTable() | FrequencyTable() | FrequencyNoise():
                pass
            case _:
                return ()
        each, size = list[Comparison](), 0
        try:
            for comparison in self.reporting.comparisons():
                each.append(comparison)
                size += len(comparison)
                if size > _MOST_OUTCOMES:
                    return ()
        except OutsideDomain:
            return ()
        return tuple(each)

    @property
    def ends(self) -> bool:
        """Whether further frequencies than those of `comparisons` are reported alike, or have no rate."""
        match self.reporting:
            case KeyTable():
                return bool(self.comparisons)
        return False

    def neighbours(self, frequencies: Iterable[int]) -> Iterator[FinitePair]:
        """The exact pair of one release for each frequency i: the rows of i (present) and of i − 1 (absent).

        Args:
            frequencies: whole numbers ≥ 1, increasing.

        Raises:
            OutsideDomain: beyond the last frequency that has a rate.
        """
        asked = tuple(frequencies)
        rows = {0: nothing_reported(self.reporting.budget)}
        # each row is asked for once: a table may have to be built up to it
        found = self.reporting.at(dict.fromkeys(i for frequency in asked for i in (frequency - 1, frequency) if i))
        for frequency in asked:
            while frequency not in rows:
                row = next(found)
                rows[row.frequency] = row
            yield self._pair(rows[frequency - 1], rows[frequency])
            rows = {frequency: rows[frequency]}

    @property
    def band(self) -> int:
        """2⌈L⌉ + 1: at most one less frequencies are reported less often than sampled (PWS Lemma 4.3, corrected)."""
        reporting = self.reporting
        epsilon, delta = (Enclosure.of(unit.value) for unit in (reporting.epsilon, reporting.delta))
        return 2 * ceil(crossover(epsilon, delta).upper) + 1

    def _pair(self, lower: FrequencyRow, higher: FrequencyRow) -> FinitePair:
        """Both rows, tokens that they treat alike as one outcome; the first outcome is "not reported"."""
        certain = self.reporting.budget.certain
        first, *others = compared(lower, higher)
        masses = Counter[tuple[int, int]]()
        for number, before, after in others:
            masses[before, after] += number
        units = [first[1:], *((before * number, after * number) for (before, after), number in masses.items())]
        absent, present = (tuple(Fraction(mass, certain) for mass in law) for law in zip(*units, strict=True))
        return FinitePair(present, absent, precision=self.precision)

    # At released values

    @property
    def for_every_value(self) -> bool:
        """Whether parameters were released: then the declared (ε, δ) alone holds, which does not move."""
        return bool(self.open_parameters)

    def require_for_every_value(self) -> None:
        """Refuse bounds that move with a released value.

        Raises:
            ExPost: for a mechanism with released parameters, or one that does not state its ε and δ itself.
            InvalidValue: for a parameter that an adaptive run chose.
        """
        if not self.open_parameters:
            return
        refuse_chosen("parameters", self.payments)
        of_mechanism = open_parameters("mechanism", self.mechanism)
        declared = (self.reporting.epsilon.value, self.reporting.delta.value)
        named = [getattr(getattr(self.mechanism, name, None), "value", None) for name in ("epsilon", "delta")]
        if of_mechanism or tuple(named) != declared:
            raise ExPost.about(", ".join(of_mechanism or self.open_parameters))

    # As part of a plan

    @property
    def steps(self) -> int:
        """How many releases there are."""
        return self.releases

    @property
    def on_one_sample(self) -> bool:
        """Each release draws a sample of its own."""
        return False

    def pair_of_one(self, size: Fraction) -> Pair:
        """The pair of all releases about a key of one frequency that loses much."""
        return lower_bound_pair([self])

    # Shared steps

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        premises = [*premises_of(self.mechanism, self.sampler), *(cost.derivation for cost in self._costs)]
        released = [released_within(name, value) for name, value in self.open_parameters.items()]
        found = _ROWS.conclude(premises, [*_OF_ELEMENTS, *self._constants, *released])
        return EX_POST.conclude([found]) if self._is_ex_post else found

    @property
    def _constants(self) -> Iterator[Assumption]:
        """What is fixed beforehand besides the plugins' own parameters."""
        if self.releases > 1:
            yield Assumption("releases, each on a fresh sample with coins of its own", str(self.releases))
        reporting = self.reporting
        if reporting.largest is not None:
            yield Assumption("a key of more occurrences counts as having", str(reporting.largest))
        elif reporting.last is not None:
            yield Assumption("largest frequency", str(reporting.last))


def joint_cases(runs: Sequence[KeyedRun], most: int) -> tuple[Pair, ...]:
    """Pairs of all releases of some runs, one of which dominates each two neighbouring data sets.

    A key has one frequency, whatever is released of it. Frequencies share pairs: the fewer, the worse they are.

    Args:
        runs: at least one.
        most: how many pairs there may be, at least 1.
    """
    times = Counter[KeyedRun]()
    for run in runs:
        times[run if run.releases == 1 else evolve(run, releases=1)] += run.releases
    ranged = [run for run in times if run.ends or (len(times) == 1 and run.comparisons)]
    alike = [run.dominating().repeated(times[run]) for run in times if run not in ranged]
    last = max((len(run.comparisons) for run in ranged), default=0)
    cases = []
    for first, end in _ranges(ranged, last, most):
        pairs = [run.dominating(first, end).repeated(times[run]) for run in ranged if first < len(run.comparisons)]
        cases.append(compose_pairs([*pairs, *alike]))
    return tuple(dict.fromkeys(cases))


def lower_bound_pair(runs: Sequence[KeyedRun]) -> Pair:
    """The pair of all releases of some runs about keys of one and the same frequency, at which they lose much.

    Args:
        runs: at least one.
    """
    asked = _compared_frequencies(runs)
    each = list(zip(*(run.neighbours(asked) for run in runs), strict=True))
    # of those that are alike there the last one, whose rows have been cut off least
    pairs = max(reversed(each), key=lambda pairs: sum(map(_loss, runs, pairs)))
    return compose_pairs([pair.repeated(run.releases) for run, pair in zip(runs, pairs, strict=True)])


def _compared_frequencies(runs: Sequence[KeyedRun]) -> list[int]:
    """Frequencies that all runs know: the first, others ever farther apart, and where half of the keys are told."""
    known = min(run.reporting.last or _FARTHEST for run in runs)
    asked = set(range(1, _FIRST + 1))
    for band in {run.band for run in runs}:
        far = min(2 * band, _FARTHEST)
        asked |= {round(far ** (place / _APART)) for place in range(_APART + 1)}
        asked |= set(range(band // 2 - _BESIDE, band // 2 + _BESIDE + 1))
    return sorted(i for i in asked if 1 <= i <= min(known, _FARTHEST))


def _loss(run: KeyedRun, pair: FinitePair) -> Fraction:
    """How much a pair tells where e^ε is halfway to 1, the worse direction."""
    factor = _factor(run, Fraction(1, 2))
    return max(pair.hockey_stick(factor, direction) for direction in Direction)


def _factor(run: KeyedRun, share: Fraction) -> Fraction:
    """So much of the way from 1 to e^ε."""
    budget = run.reporting.budget
    return 1 + share * (Fraction(budget.growth, budget.certain) - 1)


def _ranges(runs: Sequence[KeyedRun], last: int, most: int) -> Iterable[tuple[int, int | None]]:
    """Places of comparisons that share a pair: the worst place, those beside it, four times as many, and so on."""
    if not last:
        return [(0, None)]
    losses = [sum(_difference(run, place) for run in runs) for place in range(last)]
    worst = max(range(last), key=losses.__getitem__)
    steps = [sum(_TIMES**power for power in range(count)) for count in range((most - 1) // 2)]
    edges = {min(max(worst + side, 0), last) for step in steps for side in (-step, step + 1)}
    return pairwise(sorted(edges | {0, last}))


def _declared_pair(reporting: Reporting) -> FinitePair:
    """The pair that dominates everything with (ε, δ) as it is in whole units (Kairouz, Oh, Viswanath 2015)."""
    budget = reporting.budget
    delta = budget.probability(budget.allowance)
    kept, told = 1 - delta, Fraction(budget.growth, budget.growth + budget.certain)
    present = (delta, kept * told, kept * (1 - told), Fraction(0))
    return FinitePair(present, present[::-1])


def _difference(run: KeyedRun, place: int) -> Fraction:
    """About what a run loses there: the divergence where e^ε is halfway to 1, the worse direction."""
    budget = run.reporting.budget
    once, factor = 2 * budget.certain, budget.growth + budget.certain
    found = run.comparisons[place] if place < len(run.comparisons) else ()
    upward = sum(number * max(0, once * after - factor * before) for number, before, after in found)
    downward = sum(number * max(0, once * before - factor * after) for number, before, after in found)
    return Fraction(max(upward, downward), once * budget.certain)
