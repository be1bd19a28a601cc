"""Runs with correlated noise: what they cost, by the sensitivity of a strategy matrix."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import Assumption, Derivation, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import Floats
from ..accounting.pairs import GaussianPair, Pair, changed
from ..accounting.relations import ADD_REMOVE, RECORD, REPLACE, Change, Record
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.strategies import (
    PARTICIPATION,
    STRATEGY,
    CyclicPoisson,
    Participation,
    Schema,
    Strategy,
)
from ..mechanisms.gaussian_sum import GaussianSum
from ..plugins.contract import Coins, released_parameters
from ..plugins.contract.coins import release_coins
from ..samplers.full import Full
from .correlated_steps import CorrelatedSteps
from .declared import premises_of
from .prepared import matrix_within
from .run import RunPart
from .sampled import SampledRun

Members = NDArray[np.intp]

_DOMINATION = Theorem("law", "pairs that dominate every record of the domain")
_CORRELATED = "correlated noise: the sensitivity of the strategy, as Gaussian noise"
_OPPOSITE = ", and two records that move it in opposite directions"
_AMPLIFIED = "correlated noise: the turns of a record meet in no released row, so each is a Poisson sample"


@final
@known_keywords
@frozen(kw_only=True, repr=False, eq=False)
class CorrelatedRun(RunPart[Record]):
    """Sums over the records of each of many steps, with Gaussian noise that is correlated over the steps.

    For a strategy matrix C and the sums x of the steps, C·x + z is released, z being independent noise of the
    mechanism's scale; from that follow the noisy sums x + C⁻¹·z (matrix mechanism, DP-FTRL).

    >>> from certdp import GaussianSum, Public
    >>> from certdp.correlated_noise import CorrelatedRun, Participation, ToeplitzStrategy
    >>> run = CorrelatedRun(
    ...     mechanism=GaussianSum(noise_multiplier=Public(8)),
    ...     strategy=ToeplitzStrategy([1, 0.5, 0.375, 0.3125], steps=100),
    ...     participation=Participation(times=4, apart=25),
    ... )
    >>> print(f"{run.epsilon('1e-6').epsilon.upper:.3f}")
    1.315

    Args:
        mechanism: the sum with Gaussian noise whose scale is that of each entry of z; relative to what one record adds
            to one step, where it is a noise multiplier.
        strategy: C, fixed before the data are seen.
        participation: in which steps a record may take part: in few of them, that lie apart, chosen in any way that
            does not depend on other records; or in the turns of its group, drawn in each by itself, where a row of C
            holds no two turns of one group.
        domain: the public domain of the records, as for a `SampledRun`; with a noise multiplier only releases need it.
        relation: the change of the data to protect against: ADD_REMOVE, ZERO_OUT or REPLACE; a record takes part in the
            steps of the one that it replaces. Noise multipliers stay relative to what one record adds.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for all records of the domain, also where what is added to a step follows
        from earlier outputs, as gradients do (`docs/soundness_correlated_noise.md`).

    Raises:
        InvalidValue: for released parameters, more times than fit into the steps, and groups whose turns meet in a row.
        InvalidType: for anything but these.
    """

    unit = RECORD

    mechanism: GaussianSum
    strategy: Strategy
    participation: Schema
    domain: NormBall | None = None
    relation: Change = ADD_REMOVE
    precision: int = field(default=128)

    def __attrs_post_init__(self) -> None:
        for name, value, kind, admissible in (
            ("mechanism", self.mechanism, GaussianSum, "a GaussianSum"),
            ("strategy", self.strategy, Strategy, "a strategy, such as ToeplitzStrategy(coefficients)"),
            ("participation", self.participation, Schema, "Participation(times=…, apart=…) or CyclicPoisson(…)"),
            ("domain", self.domain, NormBall | None, "a NormBall, or None"),
            ("relation", self.relation, Change, "ADD_REMOVE, ZERO_OUT or REPLACE"),
        ):
            if not isinstance(value, kind):
                raise InvalidType(name, value, admissible)
        open_ones = [*released_parameters("mechanism", self.mechanism)]
        if open_ones or (self.domain is not None and self.domain.released):
            named = ", ".join(open_ones) or "radius"
            raise InvalidValue("mechanism", named, "public parameters", "Declare them before the data")
        match self.participation:
            case CyclicPoisson(groups=groups) if self.strategy.bands > groups:
                raise InvalidValue(
                    "groups",
                    groups,
                    f"at least {self.strategy.bands}, as many as the strategy has bands",
                    "Where turns of a record meet in a row, no amplification is proven: state a Participation",
                )
            case Participation():
                self.participation.within(self.strategy.steps)
        _ = self.one

    @cached_property
    def one(self) -> SampledRun[Record]:
        """One release on everything, with noise of the mechanism's scale."""
        return SampledRun(mechanism=self.mechanism, sampler=Full(), domain=self.domain, precision=self.precision)

    @property
    def sampler(self) -> Full:
        """Who takes part is drawn, where it is, by the participation; from there on everything counts."""
        return Full()

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.strategy.steps

    @property
    def on_one_sample(self) -> bool:
        """Whether all of them see the same sample: no."""
        return False

    @property
    def described(self) -> tuple[str, str, str]:
        """The mechanism with its options, the strategy, and who takes part how often."""
        mechanism, _, _ = super().described
        match self.participation:
            case Participation(times=times, apart=apart):
                who = f"each record in at most {times:,} of them, at least {apart:,} apart"
            case CyclicPoisson(groups=groups, rate=rate):
                who = f"each record in the turns of one of {groups:,} groups, drawn at rate {float(rate)!r}"
        return mechanism, f"correlated noise by {self.strategy}", f"{self.steps:,} steps, {who}"

    @cached_property
    def sensitivity(self) -> Enclosure:
        """How far one record moves C·x at most, in units of what it adds to one step.

        Raises:
            InvalidValue: for groups whose records are drawn: what one of them costs is no distance.
        """
        match self.participation:
            case Participation():
                return self.strategy.sensitivity(self.participation)
        raise InvalidValue("participation", self.participation, "a Participation", "Ask for ε")

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""
        cases = self.one.worst_cases

        def run(pairs: Iterable[Pair], *, reached: bool) -> tuple[Pair, ...]:
            return tuple(self._whole(pair, reached=reached) for pair in pairs)

        bounding = run((case.pair for case in cases.bounding), reached=False)
        return WorstPairs(bounding, run((case.pair for case in cases.reached), reached=True))

    def pair_of_one(self, size: Fraction) -> Pair | None:
        """A pair that the record of this size on an axis reaches, where it is known."""
        found = self.one.pair_of_one(size)
        return None if found is None else self._whole(found, reached=True)

    def _whole(self, one: Pair, *, reached: bool) -> Pair:
        shift = one.normal_shift
        assert shift is not None  # the pairs of a Gaussian sum on everything are normal
        match self.participation:
            case Participation():
                least = Enclosure.of(self.sensitivity.lower, precision=self.precision)
                times = 2 if self.relation == REPLACE else 1
                return GaussianPair(shift * (least if reached else self.sensitivity) * times)
            case CyclicPoisson(groups=groups, rate=rate):
                turns = self.strategy.column_norms()[::groups]  # of the first group, which has most of them
                far = min(turns, key=lambda norm: norm.lower) if reached else self._longest
                drawn = Enclosure.of(rate, precision=self.precision)
                turn = changed(GaussianPair(shift * far), drawn, replaced=self.relation == REPLACE)
                assert turn is not None  # normal pairs have one
                return turn.repeated(len(turns))

    @cached_property
    def _longest(self) -> Enclosure:
        return max(self.strategy.column_norms(), key=lambda norm: norm.upper)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        domain = () if self.domain is None else self.domain.assumptions
        dominated = _DOMINATION.conclude(premises_of(self.mechanism, self.sampler), domain)
        way = _AMPLIFIED if isinstance(self.participation, CyclicPoisson) else _CORRELATED
        stated = Assumption(STRATEGY, str(self.strategy)), Assumption(PARTICIPATION, str(self.participation))
        return Theorem("law", way + _OPPOSITE * (self.relation == REPLACE)).conclude([dominated], stated)

    # Releases

    def begin(self, columns: int, outside: Outside = Outside.CLIP, *, coins: Coins | None = None) -> CorrelatedSteps:
        """Begin to release, step by step: what is added to a step may follow from what earlier ones released.

        Args:
            columns: of the records of every step.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Raises:
            InvalidValue: without a domain of ℓ1 or ℓ2 balls, and for a strategy with entries that are no multiples of
                2^-22, with which noise is not drawn: `strategy.rounded()`.
        """
        parts = self.mechanism, self.strategy, self.participation, self.domain
        return CorrelatedSteps(*parts, columns, outside, release_coins(coins))

    def schedule(self, count: int, *, coins: Coins | None = None) -> list[Members]:
        """Draw for each step which of so many records take part: each is in a group, drawn uniformly, and has turns.

        Args:
            count: how many records there are.
            coins: the operating system's unless given.

        Returns:
            The numbers of the records of each step, ascending. Private.
        """
        used = release_coins(coins)
        match self.participation:
            case Participation(times=times, apart=apart):
                groups, rate, most = apart, 1.0, times
            case CyclicPoisson(groups=groups, rate=drawn):
                rate, most = float(drawn), self.steps
        group = np.array(used.integers(groups, count), dtype=np.intp)
        found = []
        for step in range(self.steps):
            turn, whose = divmod(step, groups)
            members = np.flatnonzero(group == whose) if turn < most else np.empty(0, dtype=np.intp)
            found.append(members[used.bernoulli(np.full(len(members), rate))])
        return found

    def release(self, records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None) -> Floats:
        """Draw who takes part in each step, and release the noisy sums.

        Args:
            records: matrix (n, d) of finite numbers.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            x + C⁻¹·z, a row for each step; for tree aggregation differences of the noisy sums over all steps so far.

        Raises:
            InvalidType, InvalidValue: as `begin`, and for records that are none.
        """
        matrix, used = matrix_within(records, self.domain), release_coins(coins)
        steps = self.begin(matrix.shape[1], outside, coins=used)
        drawn = self.schedule(len(matrix), coins=used)
        return np.array([steps.add(matrix[members], members) for members in drawn])
