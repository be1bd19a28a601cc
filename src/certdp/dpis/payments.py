"""What pays for the releases of a run; one class per theorem that bounds adaptive runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..accounting.derivation import Assumption
from ..accounting.dpis.steps import Step
from ..accounting.filters.spending import SpendingState
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.provenance import Public
from ..accounting.relations import AddRemove, Record
from ..accounting.sampling.releases import ResampleEach
from ..mechanisms.gaussian_sum import GaussianSum
from ..runs.sampled import SampledRun
from ..samplers.poisson import Poisson

if TYPE_CHECKING:
    from ..runs.certificates import Certified


class Payments(SpendingState, ABC):
    """Pays for releases before they are drawn, and says how much noise the steps of an epoch need; base class."""

    @abstractmethod
    def size(self) -> None:
        """Pay for the noisy number of records, Ñ."""

    @abstractmethod
    def norm_sum(self, epoch: int) -> None:
        """Pay for the noisy norm sum K̃ of an epoch."""

    @abstractmethod
    def clip(self, epoch: int) -> None:
        """Pay for K̃*, after the steps of an epoch."""

    @abstractmethod
    def noise_multiplier(self, epoch: int, norm_sum: Fraction, size: Fraction) -> Fraction:
        """The σ_G of an epoch with which the run stays within its budget.

        Args:
            epoch: from 0.
            norm_sum: K̃/C, in [b, Ñ].
            size: Ñ.

        Raises:
            BudgetExceeded: where no noise is enough.
        """

    @abstractmethod
    def steps(self, epoch: int, step: Step, count: int) -> None:
        """Pay for steps of an epoch.

        Raises:
            BudgetExceeded: rather than overspend; nothing was paid.
        """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record]:
        """The (ε, δ) of everything that was and will be paid; within the plan's budget."""

    @abstractmethod
    def spent(self) -> float:
        """An upper bound of the ε, at the budget's δ, of what was paid so far."""

    @property
    @abstractmethod
    def choice(self) -> dict[str, Any]:
        """What was chosen before the run beside its plan, as JSON."""

    @abstractmethod
    def certificate(self, assumptions: Sequence[Assumption], parameters: Assumption) -> Certified:
        """A publishable certificate of the plan's budget, for what was paid or declared.

        Args:
            assumptions: what the run rests on beside the releases and the theorem.
            parameters: where those of the releases come from that were not declared before the run.

        Raises:
            InvalidValue: where the independent checker does not prove it.
        """


@lru_cache(maxsize=64)
def gaussian_releases(rate: Fraction, noise_multiplier: Fraction, count: int) -> SampledRun:
    """Sums with Gaussian noise, each over a fresh sample that every record enters with this probability.

    The parameters are public constants, or functions of what was released: the filter or the plan that was declared
    answers for these.
    """
    return SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(noise_multiplier)),
        sampler=Poisson(rate=Public(rate)),
        releases=ResampleEach(count),
    )
