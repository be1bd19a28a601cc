"""The best of several runs: a run is done a number of times that is drawn, and the best output alone is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, final

from attrs import evolve, frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import Assumption, Derivation, Theorem
from ..accounting.errors import InvalidType, known_keywords
from ..accounting.guarantees import require
from ..accounting.pairs import Pair
from ..accounting.relations import Change
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.selection import Repetitions, selected
from ..plugins.contract import Coins
from ..plugins.contract.coins import release_coins
from .allocated import AllocatedRun
from .run import RunPart, U
from .sampled import SampledRun

Score: TypeAlias = Callable[[Any], float]
"""How good the output of one run is: a function of that output alone."""

_SELECTED = Theorem("law", "the best output of repeated runs")
_UNTOLD = "how often the run is repeated is drawn apart from everything, and not told"
_SCORED = Assumption("the score of an output", "a function of that output alone")


@final
@known_keywords
@frozen(kw_only=True, repr=False)
class SelectedRun(RunPart[U]):
    """The best of several runs, such as of training: what is told of all of them is one output, and paid once.

    >>> from certdp import Full, GaussianSum, Public, SampledRun
    >>> from certdp.selection import NegativeBinomialRepetitions, SelectedRun
    >>> one = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(5)), sampler=Full())
    >>> best = SelectedRun(base=one, repetitions=NegativeBinomialRepetitions(mean=Public(10)))
    >>> print(f"{one.epsilon('1e-6').epsilon.upper:.3f} {best.epsilon('1e-6').epsilon.upper:.3f}")
    0.834 1.230

    Args:
        base: one run, whose whole output competes. What a score needs to know of the data is released by the run.
        repetitions: how often it is done; public, and fixed before the data are seen.

    Guarantees:
        Every bound holds for what `release` returns, and whatever else is computed from it, under the base's relation
        and for its unit (`docs/soundness_selection.md`). It does not where the number of runs is told, or what it can
        be told by: the other outputs, files of them, how long all runs took.

    Raises:
        InvalidType: for another base, and what is no law of repetitions.
    """

    base: SampledRun[U] | AllocatedRun
    repetitions: Repetitions

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.base, SampledRun | AllocatedRun):
            raise InvalidType("base", self.base, "a SampledRun or an AllocatedRun")
        require("repetitions", self.repetitions, Repetitions, "Take one of certdp.selection")

    @property
    def mechanism(self) -> Any:
        """What one run releases."""
        return self.base.mechanism

    @property
    def sampler(self) -> Any:
        """Which records enter the samples of one run."""
        return self.base.sampler

    @property
    def domain(self) -> NormBall | None:  # type: ignore[override]
        """The public domain of the records, where one matters."""
        return self.base.domain

    @property
    def precision(self) -> int:  # type: ignore[override]
        """Working precision of proofs, in bits."""
        return self.base.precision

    @property
    def unit(self) -> U:  # type: ignore[override]
        """Whom the guarantees protect."""
        unit: Any = self.base.unit
        found: U = unit
        return found

    @property
    def relation(self) -> Change:  # type: ignore[override]
        """The change of the data that the guarantees protect against."""
        return self.base.relation

    @property
    def steps(self) -> int:
        """How many releases one run has."""
        return self.base.steps

    @property
    def on_one_sample(self) -> bool:
        """Whether all releases of one run see the same sample."""
        return self.base.on_one_sample

    @property
    def described(self) -> tuple[str, str, str]:
        """Mechanism and sampler with their options, every digit of them, how often is released, and how repeated."""
        mechanism, sampler, releases = self.base.described
        return mechanism, sampler, f"{releases}; the best of {self.repetitions}"

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the best output; none is known to be reached."""
        return WorstPairs(tuple(selected(self.repetitions, pair) for pair in self.base.pairs.bounding), ())

    def pair_of_one(self, size: Fraction) -> Pair | None:
        """Return None: no pair is known to be reached."""
        return None

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        return _SELECTED.conclude([self.base.derivation], [Assumption(_UNTOLD, str(self.repetitions)), _SCORED])

    @cached_property
    def _at_released_values(self) -> SelectedRun[U]:
        return self if not self.open_parameters else evolve(self, base=self.base.as_it_came_out)

    def release(
        self, records: ArrayLike, score: Score, outside: Outside = Outside.CLIP, *, coins: Coins | None = None
    ) -> Any:
        """Draw the number of runs, do them, and return the best output.

        Args:
            records: matrix (n, d) of finite numbers.
            score: of an output, larger ones for better outputs; NaN is the worst. Of equal scores the first wins.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            What the best run released, as the base releases it; None where no run was drawn. It takes a time that grows
            with the number of runs, which must not be told.

        Raises:
            InvalidType, InvalidValue: before anything is drawn, as the base's release.
        """
        used = release_coins(coins)
        ready = self.base.prepared(records, outside, coins=used)
        best, most = None, (False, -math.inf)
        for number in range(self.repetitions.drawn(used.source)):
            output = ready.draw()
            value = float(score(output))
            rank = (False, -math.inf) if math.isnan(value) else (True, value)
            if number == 0 or rank > most:
                best, most = output, rank
        return best
