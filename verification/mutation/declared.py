"""The built-in mechanisms and samplers whose declared expressions are mutated, each with the claims that guard it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, final

from attrs import frozen

from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...mechanisms.above_threshold import AboveThreshold
from ...mechanisms.count import Count
from ...mechanisms.discrete_gaussian import DiscreteGaussian
from ...mechanisms.discrete_laplace import DiscreteLaplace
from ...mechanisms.dpis_step import DpisStep
from ...mechanisms.gaussian_sum import GaussianSum
from ...mechanisms.laplace_sum import LaplaceSum
from ...mechanisms.lloyd import Lloyd
from ...mechanisms.lp_sum import LpSum
from ...mechanisms.quantile_choice import QuantileChoice
from ...mechanisms.randomised_response import RandomisedResponse
from ...mechanisms.report_noisy_max import ReportNoisyMax
from ...samplers.coreset import Coreset
from ...samplers.dpis import Dpis
from ...samplers.importance import Importance
from ...samplers.poisson import Poisson
from .expressions import declared_mutants
from .mutants import Mutant


@final
@frozen(kw_only=True)
class DeclaredFormula:
    """A formula that a mechanism or sampler declares, and its guards.

    Attributes:
        example: an instance: its formula says which mutants there are. Each is planted in every instance of its class.
        attribute: under which the class declares it: loss or rate.
        claims: ids of the claims that must notice.
    """

    example: Any
    attribute: str
    claims: tuple[str, ...]

    @property
    def module(self) -> str:
        """The name under which its mutants are listed, such as "declared.laplace-sum"."""
        return f"declared.{self.example.about.name}"

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that guard the formula: none, because claims see every declared formula."""
        return ()

    def plantings(self) -> Iterator[tuple[Mutant, Callable[[], None]]]:
        """Each mutant, with what plants it in this process."""
        declared = getattr(self.example, self.attribute)
        place = f"{type(self.example).__name__}.{self.attribute}"
        for field, mutant, planted in declared_mutants(declared):
            before, after = f"{field} = {getattr(declared, field)}", f"{field} = {mutant.expression}"
            yield (
                Mutant(self.module, place, mutant.operator, before, after, 1, 0),
                partial(_plant, type(self.example), self.attribute, planted),
            )


def _plant(owner: type, attribute: str, planted: Callable[[Any], Any]) -> None:
    right = vars(owner)[attribute]
    setattr(owner, attribute, property(lambda self: planted(right.__get__(self))))


DECLARED = (
    DeclaredFormula(example=LaplaceSum(scale=Public(160)), attribute="loss", claims=("mechanisms/laplace-noise",)),
    DeclaredFormula(example=Count(scale=Public(3)), attribute="loss", claims=("mechanisms/laplace-noise",)),
    DeclaredFormula(example=GaussianSum(scale=Public(7)), attribute="loss", claims=("mechanisms/gaussian-noise",)),
    DeclaredFormula(
        example=LpSum(scale=Public(7), norm=Public(Norm.L2)), attribute="loss", claims=("mechanisms/lp-noise",)
    ),
    DeclaredFormula(
        example=DiscreteLaplace(scale=Public(7), granularity=Public(2)),
        attribute="loss",
        claims=("mechanisms/lattice-noise",),
    ),
    DeclaredFormula(example=DiscreteGaussian(scale=Public(7)), attribute="loss", claims=("mechanisms/lattice-noise",)),
    DeclaredFormula(
        example=RandomisedResponse(categories=Public(4), noise=Public("1/3")),
        attribute="loss",
        claims=("mechanisms/response",),
    ),
    DeclaredFormula(
        example=QuantileChoice(quantile=Public("1/3"), scale=Public(7)),
        attribute="loss",
        claims=("mechanisms/choice",),
    ),
    DeclaredFormula(example=ReportNoisyMax(scale=Public(7)), attribute="loss", claims=("selection/noisy-max",)),
    DeclaredFormula(
        example=AboveThreshold(threshold=Public(20), threshold_scale=Public(5), scale=Public(7)),
        attribute="loss",
        claims=("selection/above-threshold",),
    ),
    DeclaredFormula(
        example=DpisStep(noise_multiplier=Public(2), clip=Public(3), size=Public(100), batch=Public(10)),
        attribute="loss",
        claims=("mechanisms/noisy-gradient",),
    ),
    DeclaredFormula(
        example=Lloyd(clusters=Public(5), scale_sum=Public(7), scale_count=Public(3), radius=Public(2)),
        attribute="loss",
        claims=("is/proposition-13",),
    ),
    DeclaredFormula(
        example=Importance(rate=Public("0.3"), floor=Public("0.01")), attribute="rate", claims=("samplers/rates",)
    ),
    DeclaredFormula(example=Poisson(rate=Public("0.3")), attribute="rate", claims=("samplers/rates",)),
    DeclaredFormula(
        example=Dpis(batch=Public(2), norm_sum=Public(40), clip=Public(3)), attribute="rate", claims=("samplers/rates",)
    ),
    DeclaredFormula(
        example=Coreset(m=Public(5), n=Public(100), mean_squared_norm=Public(4), radius=Public(3)),
        attribute="rate",
        claims=("samplers/rates",),
    ),
)
