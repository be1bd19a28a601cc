"""Claims of guarantees that rest on released parameters, against the exact laws of two-stage programs.

The first stage is a mechanism whose output r is released; the second one's parameter is a function of r. A guarantee of
both has to hold whatever r came out as: the negative controls state what r happened to cost.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.expressions import log1p
from ..accounting.guarantees import Guarantee
from ..accounting.norms import Norm
from ..accounting.notions import Pure
from ..accounting.provenance import Public, Released
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.losses import PureLoss
from ..accounting.sampling.releases import ResampleEach
from ..accounting.units import Delta, Epsilon
from ..mechanisms.gaussian_sum import GaussianSum
from ..mechanisms.laplace_sum import LaplaceSum
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Case,
    Claim,
    Coins,
    Expectation,
    Finding,
    Real,
    Release,
    WeightedSample,
    non_negative,
)
from ..samplers.full import Full
from ..samplers.poisson import Poisson
from ..verification.claims.finite import Law, indistinguishability, joint, law, mixture, randomised_response
from ..verification.oracles.divergences import NEGLIGIBLE, gaussian_delta, logarithm
from ..verification.oracles.two_stages import laplace_after_count
from .sampled import SampledRun

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PRECISION = 128
_FINITE = Theorem("declaration", "a finite mechanism, its loss computed exactly")
_ALL = Public(Fraction(1))
_CLOSE = Fraction(1, 10**12)


@final
@frozen(kw_only=True)
class _Response:
    """Randomised response of two outputs whose probabilities differ by 1 + odds, about each record by itself."""

    about: ClassVar[About] = About(
        name="odds",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Warner 1965",
    )

    odds: Real = field(converter=non_negative)

    @property
    def loss(self) -> PureLoss:
        """The loss of the response, log(1 + odds)."""
        return PureLoss(log1p(self.odds.value))

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """Not asked for: laws are exact."""
        return np.empty(0)


def _cost(here: Law, there: Law) -> Guarantee[Pure, AddRemove, Record]:
    factor = indistinguishability(here, there)
    bound = Pure(Enclosure.of(factor - 1, precision=_PRECISION).log1p())
    return Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=_FINITE.conclude())


def _first(case: Case) -> tuple[Law, Law]:
    here, there = case["first"]
    return law(here), law(there)


def _released(case: Case, values: tuple[Fraction, ...], ranged: bool = True) -> Released[Any]:
    """The parameter that came out, of those that could have, with its range."""
    within = (min(values), max(values)) if ranged else None
    return Released(values[case["came"]], _cost(*_first(case)), within=within)


def _run(odds: Any, rate: Any = _ALL) -> SampledRun:
    sampler = Poisson(rate=rate)
    return SampledRun(mechanism=_Response(odds=odds), sampler=sampler, precision=_PRECISION)


def _both(case: Case, laws: list[tuple[Law, Law]]) -> Fraction:
    """e^ε of both stages together."""
    here, there = _first(case)
    return indistinguishability(joint(here, [p for p, _ in laws]), joint(there, [q for _, q in laws]))


def _bounded(run: SampledRun, direct: Fraction) -> Finding:
    bound = run.pure().bound.epsilon
    return Finding(holds=direct <= bound.exp().upper, closed_form=f"ε ≤ {bound}", independent=f"e^ε = {direct}")


def _examine_every_value(case: Case) -> Finding:
    """The supremum over the declared range bounds the program, whichever value came out."""
    laws = [randomised_response(1 + odds) for odds in case["odds"]]
    return _bounded(_run(_released(case, case["odds"])), _both(case, laws))


def _examine_rate(case: Case) -> Finding:
    """The same where the rate of a sample was released."""
    inside, outside = randomised_response(1 + case["odds"][0])
    laws = [(mixture([(q, inside), (1 - q, outside)]), outside) for q in case["rates"]]
    return _bounded(_run(Public(case["odds"][0]), _released(case, case["rates"])), _both(case, laws))


def _examine_noise_multiplier(case: Case) -> Finding:
    """A released radius beside a noise multiplier does not move the bound: it needs no range."""
    radius = _released(case, case["radii"], ranged=False)
    run = SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(1 / case["mu"])),
        sampler=Full(),
        releases=ResampleEach(1),
        domain=NormBall(norm=Norm.L2, radius=radius),
    )
    here, there = _first(case)
    epsilon = Fraction(run.payments[0].cost.bound.epsilon.upper) + case["beyond"]
    stated = run.delta(Epsilon(epsilon)).delta.upper
    direct = max(
        sum(
            (p * gaussian_delta(case["mu"], epsilon - logarithm(p / q)) for p, q in zip(one, other, strict=True)),
            Fraction(0),
        )
        for one, other in ((here, there), (there, here))
    )
    return Finding(
        holds=direct <= Fraction(stated) + NEGLIGIBLE,
        closed_form=f"δ ≤ {stated} at ε = {float(epsilon):.6g}",
        independent=f"δ = {float(direct):.6g}",
    )


def _examine_reading(case: Case) -> Finding:
    """What the value that came out costs, added to what releasing it cost, stated of both stages."""
    laws = [randomised_response(1 + odds) for odds in case["odds"]]
    return _bounded(_run(_released(case, case["odds"], ranged=False)).as_it_came_out, _both(case, laws))


def _two_stages(case: Case, *, ranged: bool) -> SampledRun:
    below, above = case["below"], case["above"]
    ball = NormBall(norm=Norm.L1, radius=_ALL)
    count = SampledRun(mechanism=LaplaceSum(scale=Public(case["count_scale"])), sampler=Full(), domain=ball)
    within = (min(below, above), max(below, above)) if ranged else None
    scale = Released(below if case["released"] < case["threshold"] else above, count.pure(), within=within)
    return SampledRun(mechanism=LaplaceSum(scale=scale), sampler=Full(), domain=ball)


def _examine_laplace(case: Case, *, ranged: bool) -> Finding:
    run, delta = _two_stages(case, ranged=ranged), case["delta"]
    stated = Fraction((run if ranged else run.as_it_came_out).epsilon(Delta(delta)).epsilon.upper)
    direct = laplace_after_count(
        stated,
        count_scale=case["count_scale"],
        records=case["records"],
        threshold=case["threshold"],
        below=case["below"],
        above=case["above"],
    )
    return Finding(
        holds=direct <= delta * (1 + _CLOSE),
        closed_form=f"({float(stated):.6g}, {float(delta):g})-DP",
        independent=f"δ = {float(direct):.6g} at that ε",
    )


def _two_stage_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def programs(outputs: int) -> SearchStrategy[Case]:
        scores = st.lists(st.integers(1, 12), min_size=outputs, max_size=outputs).map(tuple)

        def values(least: int, most: int, unit: int) -> SearchStrategy[tuple[Fraction, ...]]:
            number = st.integers(least, most).map(lambda n: Fraction(n, unit))
            return st.lists(number, min_size=outputs, max_size=outputs).map(tuple)

        return st.fixed_dictionaries(
            {
                "first": st.tuples(scores, scores),
                "odds": values(0, 40, 4),
                "rates": values(0, 16, 16),
                "radii": values(1, 40, 4),
                "came": st.integers(0, outputs - 1),
                "mu": st.integers(1, 24).map(lambda n: Fraction(n, 8)),
                "beyond": st.integers(0, 16).map(lambda n: Fraction(n, 8)),
            }
        )

    return st.integers(1, 4).flatmap(programs)


def _laplace_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    scale = st.integers(1, 400).map(lambda n: Fraction(n, 20))
    return st.fixed_dictionaries(
        {
            "count_scale": st.integers(2, 40).map(lambda n: Fraction(n, 2)),
            "records": st.integers(0, 6),
            "threshold": st.integers(-4, 16).map(lambda n: Fraction(n, 2)),
            "below": scale,
            "above": scale,
            "released": st.integers(-10, 20).map(Fraction),
            "delta": st.sampled_from([Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 20)]),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="released/every-value",
        statement="basic composition, with the supremum over what could have been released",
        says="cost + sup ε(r) over the declared range bounds a program whose second parameter is its first output",
        cases=_two_stage_cases,
        examine=_examine_every_value,
    ),
    Claim(
        id="released/rate",
        statement="IS Theorem 6, with the supremum over the rates that could have been released",
        says="cost + sup ψ(q) over the declared range of a sampling rate bounds the program",
        cases=_two_stage_cases,
        examine=_examine_rate,
    ),
    Claim(
        id="released/noise-multiplier",
        statement="basic composition, where the second loss does not move",
        says="beside a noise multiplier any released clipping radius costs what its release did, and no more",
        cases=_two_stage_cases,
        examine=_examine_noise_multiplier,
    ),
    Claim(
        id="released/two-stages",
        statement="basic composition of a noisy count and a noisy sum whose scale it chooses",
        says="(cost + ε at δ of the least scale, δ) bounds the count and the sum together",
        cases=_laplace_cases,
        examine=lambda case: _examine_laplace(case, ranged=True),
    ),
    Claim(
        id="released/reading",
        statement="a wrong composition: what releasing r cost, and what the r that came out costs",
        says="cost + ε(r), read at the r that came out, bounds the program",
        cases=_two_stage_cases,
        examine=_examine_reading,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="released/two-stages-reading",
        statement="a wrong composition: a count at ε = 1/10, and the sum at the scale that it chose",
        says="(cost + ε at δ of the scale that came out, δ) bounds the count and the sum together",
        cases=_laplace_cases,
        examine=lambda case: _examine_laplace(case, ranged=False),
        expectation=Expectation.REJECTED,
        witness={
            "count_scale": Fraction(10),
            "records": 4,
            "threshold": Fraction(5),
            "below": Fraction(100),
            "above": Fraction(1, 10),
            "released": Fraction(3),
            "delta": Fraction(1, 10**6),
        },
    ),
)
