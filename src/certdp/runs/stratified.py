"""Releases from samples of public strata, each drawn at a rate of its own: what they cost, and how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import EX_POST, STRATA_STAY, Derivation, Theorem
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.feasible_weights.rates import ONE_RELEASE
from ..accounting.pairs import Pair
from ..accounting.relations import RECORD, Change, Record
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.records import Features, Realisation
from ..accounting.sampling.releases import Releases, SampleOnce
from ..plugins.contract import Coins, Mechanism, Release, StratifyingSampler, released_parameters
from ..plugins.contract.strata import Places
from .declared import declared_rate, premises_of
from .prepared import Prepared, matrix_within, prepared
from .run import RunPart
from .sampled import SampledRun

_STRATA = Theorem("law", "public strata: each record is dominated by the pairs of its own stratum")


@final
@known_keywords
@frozen(kw_only=True, repr=False)
class StratifiedRun(RunPart[Record]):
    """Releases of a mechanism on Poisson samples, each public stratum of records drawn at a rate of its own.

    >>> from certdp import GaussianSum, Public, ResampleEach
    >>> from certdp.sampling import Strata, StratifiedRun
    >>> run = StratifiedRun(
    ...     mechanism=GaussianSum(noise_multiplier=Public(1)),
    ...     sampler=Strata(rates=Public({"common": "0.01", "rare": "0.1"})),
    ...     releases=ResampleEach(100),
    ... )
    >>> print(f"{run.epsilon('1e-5').epsilon.upper:.2f}, {run.of('common').epsilon('1e-5').epsilon.upper:.2f}")
    7.05, 0.72

    Args:
        mechanism: what is released.
        sampler: which strata there are, and the rate of each.
        releases: how many releases there are, on one sample or each on a fresh one; fixed before the data are seen.
        domain: the public domain of the records, as for a `SampledRun`.
        relation: ADD_REMOVE, REPLACE or ZERO_OUT; unless given, as for a `SampledRun`. Under the last two the record
            stays in its stratum.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for the records of all strata; `of(label)` is the run about those of one, which may lose less.
        A record keeps its stratum in all releases: they are composed for each stratum, and the maximum is taken last.

    Raises:
        InvalidValue: as `SampledRun` for each stratum, and for a noise multiplier where records of different strata
            enter with different weights or have different largest norms.
        InvalidType: for a sampler that states no strata.
    """

    unit = RECORD

    mechanism: Mechanism
    sampler: StratifyingSampler
    releases: Releases = ONE_RELEASE
    domain: NormBall | None = None
    relation: Change = None  # type: ignore[assignment]  # it is set below
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.sampler, StratifyingSampler):
            raise InvalidType("sampler", self.sampler, "a sampler that states strata, such as Strata")
        if released := released_parameters("sampler", self.sampler):
            raise InvalidValue("sampler", ", ".join(released), "public parameters", "Declare them before the data")
        self._require_one_contribution()
        if self.relation is None:
            object.__setattr__(self, "relation", next(iter(self._stratum_runs(None).values())).relation)
        self.sampler.about.require("sampler", RECORD, self.relation)
        _ = self.runs, self.derivation

    def _require_one_contribution(self) -> None:
        """Refuse a noise multiplier that is relative to more than the records of some stratum add."""
        if not getattr(self.mechanism, "needs_constant_rate", False):
            return
        strata = self.sampler.strata
        rates = [declared_rate(sampler) for sampler in strata.samplers.values()]
        weights = any(rate.weighted and rate != rates[0] for rate in rates)
        if weights or len({strata.largest(label) for label in strata.samplers}) > 1:
            remedy = f"The loss of {self.mechanism.about.name} is stated as one number: state its scale instead"
            admissible = "one weight in all strata" if weights else "one largest norm in all strata"
            raise InvalidValue("sampler", self.sampler.about.name, admissible, remedy)

    def _stratum_runs(self, relation: Change | None) -> Mapping[str, SampledRun[Record]]:
        strata = self.sampler.strata
        return {
            label: SampledRun(
                mechanism=self.mechanism,
                sampler=sampler,
                releases=self.releases,
                domain=strata.within(label, self.domain),
                relation=relation,  # type: ignore[arg-type]  # None has its default
                precision=self.precision,
            )
            for label, sampler in strata.samplers.items()
        }

    @cached_property
    def runs(self) -> Mapping[str, SampledRun[Record]]:
        """The run about the records of each stratum, by label."""
        return self._stratum_runs(self.relation)

    def of(self, label: str) -> SampledRun[Record]:
        """The run about the records of one stratum, which has losses of records and certificates.

        Raises:
            InvalidValue: for a label that no stratum has.
        """
        if label not in self.runs:
            raise InvalidValue("label", label, ", ".join(self.runs))
        return self.runs[label]

    @property
    def steps(self) -> int:
        """How many releases there are."""
        return self.releases.steps

    @property
    def on_one_sample(self) -> bool:
        """Whether all of them see the same sample."""
        return isinstance(self.releases, SampleOnce)

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""
        found = [run.pairs for run in self.runs.values()]
        return WorstPairs(
            tuple(chain.from_iterable(one.bounding for one in found)),
            tuple(chain.from_iterable(one.reached for one in found)),
        )

    def pair_of_one(self, size: Fraction) -> Pair | None:
        """Return None: of which stratum its record is in other parts of a plan is not known."""
        return None

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        _, sampler = premises_of(self.mechanism, self.sampler)
        paid = [cost.derivation for cost in self._costs]
        found = _STRATA.conclude([sampler, *(run.derivation for run in self.runs.values()), *paid], [STRATA_STAY])
        return EX_POST.conclude([found]) if self._is_ex_post else found

    def release(
        self,
        records: ArrayLike,
        labels: ArrayLike | None = None,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
    ) -> list[Release]:
        """Draw and release, as planned.

        Args:
            records: matrix (n, d) of finite numbers.
            labels: (n,) the public label of each record, where strata are told apart by labels.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            One release per step.
        """
        return self.prepared(records, labels, outside, coins=coins).draw()

    def prepared(
        self,
        records: ArrayLike,
        labels: ArrayLike | None = None,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
    ) -> Prepared:
        """The releases, looked at whole and not drawn yet; arguments as for `release`.

        Raises:
            InvalidType, InvalidValue: for whatever `release` would refuse. A refusal is a message to the curator of
                the data.
        """
        matrix = matrix_within(records, self.domain)
        places = self.sampler.strata.places(matrix, labels)
        held = hold(matrix, self.domain, outside)
        if held.inside is not None:
            places = places[held.inside]

        realise = partial(self.realised, places=places)
        return prepared(self.mechanism, realise, self.releases, held.features.records, self.domain, outside, coins)

    def realised(self, features: Features, places: Places) -> Realisation:
        """The probabilities that are drawn and the weights that are applied, each record at the rate of its stratum."""
        probability, weight = np.empty(len(features)), np.empty(len(features))
        for number, run in enumerate(self.runs.values()):
            chosen = np.flatnonzero(places == number)
            part = run.drawing.realise(Features(features.records[chosen]))
            probability[chosen], weight[chosen] = part.probability, part.weight
        return Realisation(probability, weight)
