"""Claims of the built-in mechanisms and samplers: what each declares is what its release loses, and what it draws with.

Legend: a release is run twice, with one record more and without it, on coins that add the same numbers each time and
write down the law they were asked for. The difference Δ is then what the record moves, in whatever way the mechanism
computes it, and the law's scale β or σ what hides it: the loss follows from the density of the law alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from attrs import evolve, field, frozen

from ...accounting.enclosures import Enclosure
from ...accounting.expressions import Expression, W, enclose, norm
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.losses import DiscreteGaussianLoss, DiscreteGaussianVectorLoss
from ...mechanisms.count import Count
from ...mechanisms.discrete_gaussian import DiscreteGaussian
from ...mechanisms.discrete_laplace import DiscreteLaplace
from ...mechanisms.dpis_step import DpisStep
from ...mechanisms.gaussian_sum import GaussianSum
from ...mechanisms.laplace_sum import LaplaceSum
from ...mechanisms.lp_sum import LpSum
from ...mechanisms.quantile_choice import QuantileChoice
from ...mechanisms.randomised_response import RandomisedResponse
from ...plugins.contract import Case, Claim, Coins, Finding, Mechanism, WeightedSample
from ...samplers.coreset import Coreset
from ...samplers.dpis import Dpis
from ...samplers.importance import Importance
from ...samplers.poisson import Poisson
from ..oracles.choices import flipped
from .finite import greatest_ratio

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Vector: TypeAlias = tuple[Fraction, ...]

_PRECISION = 128
_NEAR = Fraction(1, 2**100)
_ROUNDED = Fraction(1, 2**36)
"""How far a release that is computed in binary64 may be from the exact one, relatively."""
_LOUDER = 2**30
"""By how much the noise of two releases differs: a cell of a fine grid alone would drown in the release's rounding."""
_CUT = Fraction(1, 2**28)
"""What the entries of a record may lose toward zero on the grid of the noise, in units of its scale, as a length."""
_ORDERS = ("1", "3/2", "2", "inf")
_CROWD = 400
"""Candidates that miss a quantile by the same; what one more value loses tends to the declared loss as they grow."""


# Releases on coins that write down their law


@frozen
class _WrittenDown:
    """Coins that add `noise` to everything and keep the name and scale of each law."""

    noise: float
    laws: list[tuple[str, Fraction]] = field(factory=list)

    def laplace(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self._drawn("laplace", scale, size)

    def gaussian(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self._drawn("gaussian", scale, size)

    def laplace_cells(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self._drawn("laplace", scale, size).astype(np.int64)

    def gaussian_cells(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self._drawn("gaussian", scale, size).astype(np.int64)

    def lp_cells(
        self, order: Norm, scale: Fraction, count: int, size: int
    ) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        return self._drawn(f"{size} coordinates of {order}", scale, count * size).astype(np.int64).reshape(count, size)

    def discrete_laplace(self, scale: Fraction, size: int) -> list[int]:
        return [int(value) for value in self._drawn("discrete laplace", scale, size)]

    def discrete_gaussian(self, scale: Fraction, size: int) -> list[int]:
        return [int(value) for value in self._drawn("discrete gaussian", scale, size)]

    def _drawn(self, law: str, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        self.laws.append((law, scale))
        return np.full(size, self.noise)


@frozen
class _Observed:
    """What two releases showed: Δ, how much a unit of the noise adds to the release, and the laws of the noise."""

    moved: Vector
    gain: Fraction
    laws: Sequence[tuple[str, Fraction]]

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in the release."""
        return self.gain * self.laws[-1][1]

    def length(self, order: Norm) -> Enclosure:
        """Return the length of the difference, ‖Δ‖_p."""
        return _length(self.moved, order)


def _observed(mechanism: Mechanism, case: Case) -> _Observed:
    rows = [*((Fraction(1), other) for other in case["others"]), (case["weight"], case["record"])]
    width = len(case["record"])
    quiet, loud = _WrittenDown(1.0), _WrittenDown(1.0 + _LOUDER)
    every = _released(mechanism, rows, width, quiet)
    without = _released(mechanism, rows[:-1], width, _WrittenDown(1.0))
    louder = _released(mechanism, rows, width, loud)
    moved = tuple(here - there for here, there in zip(every, without, strict=True))
    return _Observed(moved, (louder[0] - every[0]) / _LOUDER, quiet.laws)


def _released(mechanism: Mechanism, rows: Sequence[tuple[Fraction, Vector]], width: int, coins: _WrittenDown) -> Vector:
    """A release on weighted records of so many columns, read exactly."""
    matrix = np.asarray([[float(entry) for entry in record] for _, record in rows], dtype=np.float64)
    sample = WeightedSample(matrix.reshape(len(rows), width), np.asarray([float(weight) for weight, _ in rows]))
    return tuple(Fraction(float(value)) for value in mechanism.release(sample, cast("Coins", coins)))


def _exactly(number: Fraction | int) -> Enclosure:
    return Enclosure.of(number, precision=_PRECISION)


def _length(vector: Vector, order: Norm) -> Enclosure:
    if order == Norm.LINF:
        return _exactly(max(map(abs, vector)))
    power = 1 / order.reciprocal
    terms = [_exactly(abs(entry)).power(power) for entry in vector if entry]
    total = sum(terms, _exactly(0))
    return total.power(order.reciprocal) if terms else total


def _declared(expression: Expression, case: Case) -> Enclosure:
    """An expression in W and norms, at the record."""
    lengths = {norm(order): _length(case["record"], Norm.of(order)) for order in _ORDERS}
    weight = _exactly(case["weight"])
    return enclose(expression, {W: weight, **lengths}, precision=_PRECISION)


def _compared(
    declared: Enclosure, found: Enclosure, tolerance: Fraction = _NEAR, *, cut: Fraction = Fraction(0)
) -> Finding:
    """Whether both agree, but for what is found less because records are cut toward zero."""
    apart = declared - found
    slack = tolerance * max(abs(found.upper), Fraction(1, 2**20))
    return Finding(
        holds=-slack <= apart.lower and apart.upper <= slack + cut,
        closed_form=f"declared {declared}",
        independent=f"released {found}",
    )


def _all_of(*findings: Finding) -> Finding:
    """The first that does not hold, or the last."""
    return next((finding for finding in findings if not finding.holds), findings[-1])


# Noise that is added


def _examine_laplace(case: Case) -> Finding:
    """Laplace noise of scale β loses Σ|Δ|/β at the worst output."""
    scale = Public(case["scale"])
    findings = []
    for mechanism, loss in ((m := LaplaceSum(scale=scale), m.loss), (c := Count(scale=scale), c.loss)):
        observed = _observed(mechanism, case)
        found = observed.length(Norm.L1) / observed.scale
        findings.append(_compared(_declared(loss.shift, case), found))
    return _all_of(*findings)


def _examine_gaussian(case: Case) -> Finding:
    """Normal noise of standard deviation σ is that of N(0, 1) and N(‖Δ‖₂/σ, 1) in the direction of Δ."""
    mechanism = GaussianSum(scale=Public(case["scale"]))
    observed = _observed(mechanism, case)
    stated = _compared(_declared(mechanism.loss.shift, case), observed.length(Norm.L2) / observed.scale)
    longest, weight = 5 * case["unit"], case["weight"]
    relative = GaussianSum(noise_multiplier=Public(case["scale"]))
    reaching = {**case, "record": (3 * case["unit"], 4 * case["unit"])}
    observed = _observed(relative.scaled(longest, weight), {**reaching, "others": ()})
    return _all_of(
        stated, _compared(_declared(relative.loss.shift, reaching), observed.length(Norm.L2) / observed.scale)
    )


def _examine_dpis_step(case: Case) -> Finding:
    """What a drawn gradient adds to the noisy mean, over the noise in that mean; clipped, or of a stated length."""
    constants = {name: Public(case[name]) for name in ("noise_multiplier", "clip", "size", "batch")}
    findings = []
    for norm_sum in (None, case["norm_sum"]):
        further = {} if norm_sum is None else {"norm_sum": Public(norm_sum)}
        mechanism = DpisStep(**constants, **further)
        observed = _observed(mechanism, case)
        found = observed.length(Norm.L2) / observed.scale
        findings.append(_compared(_declared(mechanism.loss.shift, case), found, _ROUNDED, cut=_CUT))
    return _all_of(*findings)


def _examine_lp(case: Case) -> Finding:
    """Noise of density ∝ exp(−‖ζ‖_p/β) loses ‖Δ‖_p/β."""
    order = Norm.of(case["order"])
    mechanism = LpSum(scale=Public(case["scale"]), norm=Public(case["order"]))
    observed = _observed(mechanism, case)
    drawn, right = observed.laws[-1][0], f"{len(case['record'])} coordinates of {order}"
    if drawn != right:
        return Finding(False, drawn, right)
    return _compared(_declared(mechanism.loss.epsilon, case), observed.length(order) / observed.scale, _ROUNDED)


def _examine_lattice(case: Case) -> Finding:
    """Records on the lattice move the sum by whole steps: Σ|Δ|/β of discrete Laplace noise, ‖Δ‖₂²/2σ² of Gaussian."""
    spacing, scale = case["spacing"], case["scale"]
    constants = {"scale": Public(scale), "granularity": Public(spacing)}
    placed = {**case, "record": tuple(spacing * k for k in case["steps"]), "others": (), "weight": case["whole"]}
    laplace = DiscreteLaplace(**constants)
    observed = _observed(laplace, placed)
    found = observed.length(Norm.L1) / observed.scale
    first = _compared(_declared(laplace.loss.pure.epsilon, placed), found)
    steps = _compared(_declared(laplace.loss.steps, placed), observed.length(Norm.L1) / spacing)
    gaussian = DiscreteGaussian(**constants)
    assert isinstance(gaussian.loss, DiscreteGaussianVectorLoss)
    observed = _observed(gaussian, placed)
    second = _compared(_declared(gaussian.loss.rho, placed), (observed.length(Norm.L2) / observed.scale).square() / 2)
    line = {**placed, "record": placed["record"][:1]}
    single = DiscreteGaussian(**constants, dimension=Public(1))
    assert isinstance(single.loss, DiscreteGaussianLoss)
    observed = _observed(single, line)
    variance = _exactly((observed.scale / spacing) ** 2)
    third = _compared(_exactly(single.loss.variance), variance)
    moved = _compared(_declared(single.loss.steps, line), observed.length(Norm.L1) / spacing)
    return next((finding for finding in (first, steps, second, third, moved) if not finding.holds), moved)


# Randomised response


@frozen
class _Enumerated:
    """Coins that take one of the uniform answers, and write down with what probability one is given."""

    answer: int
    uniform: bool
    chances: list[Fraction] = field(factory=list)

    def integers(self, bound: int, size: int) -> list[int]:
        self.chances.append(Fraction(1, bound))
        return [self.answer] * size

    def exactly(self, ratio: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        self.chances.append(ratio)
        return np.full(size, self.uniform)


def _answers(mechanism: RandomisedResponse, category: int, categories: int) -> Mapping[int, Fraction]:
    """The law of the answer about a category, from every outcome of the coins."""
    law = dict.fromkeys(range(categories), Fraction(0))
    sample = WeightedSample(np.asarray([[float(category)]]), np.ones(1))
    for answer in range(categories):
        for uniform in (True, False):
            coins = _Enumerated(answer, uniform)
            released = int(mechanism.release(sample, cast("Coins", coins))[0])
            each, ratio = coins.chances
            law[released] += each * (ratio if uniform else 1 - ratio)
    return law


def _examine_response(case: Case) -> Finding:
    """The answers about two categories, enumerated, differ by the declared factor; within ε where ε is given."""
    categories = case["categories"]
    stated = RandomisedResponse(categories=Public(categories), noise=Public(case["noise"]))
    within = RandomisedResponse(categories=Public(categories), epsilon=Public(case["epsilon"]))
    one, other = case["asked"] % categories, (case["asked"] + 1) % categories
    factors = []
    for mechanism in (stated, within):
        here, there = (tuple(_answers(mechanism, category, categories).values()) for category in (one, other))
        factors.append(greatest_ratio(here, there))
    declared = _declared(stated.loss.of, {"record": (Fraction(0),), "weight": Fraction(1)}).exp()
    first = _compared(declared, _exactly(factors[0]))
    aimed = _exactly(case["epsilon"]).exp()
    close = _exactly(factors[1])
    second = Finding(
        holds=factors[1] <= aimed.lower and (aimed - close).upper <= Fraction(1, 2**40) * aimed.upper**2,
        closed_form=f"e^ε = {aimed} asked for",
        independent=f"largest ratio {close}",
    )
    return _all_of(first, second)


# Choices of quantiles


@frozen
class _Exponents:
    """Coins that write down what permute-and-flip is asked for, and take the first candidate."""

    exponents: list[list[Fraction]] = field(factory=list)

    def permute_and_flip(self, exponents: Sequence[Fraction], which: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        self.exponents.append([exponents[place] for place in which.tolist()])
        return 0


def _chosen_loss(mechanism: QuantileChoice, case: Case) -> Enclosure:
    """The largest |log ratio| of the probabilities of a candidate with the record and without it."""
    laws, others = [], [(Fraction(1), other) for other in case["others"]]
    for rows in (others, [*others, (case["weight"], case["record"])]):
        coins = _Exponents()
        _released(mechanism, rows, len(case["record"]), cast("_WrittenDown", coins))
        laws.append(flipped(coins.exponents[0]))
    ratios: list[Enclosure] = [abs((p / r).log()) for p, r in set(zip(*laws, strict=True))]
    return max(ratios, key=lambda ratio: ratio.upper)


def _examine_choice(case: Case) -> Finding:
    """No data lose more than is declared; those with many candidates on one side of the quantile lose nearly that."""
    quantile, scale = case["quantile"], case["scale"]
    mechanism = QuantileChoice(quantile=Public(quantile), scale=Public(scale), shift=Public(case["shift"]))
    declared, found = _declared(mechanism.loss.epsilon, case), _chosen_loss(mechanism, case)
    told = Finding(found.lower <= declared.upper, f"declared {declared}", f"enumerated {found}")
    if not told.holds or quantile in (0, 1):  # where gaps only rise or only fall, half of it is lost
        return told
    share = max(quantile, 1 - quantile)
    added = case["weight"] * sum(map(abs, case["record"]))
    here = -(-added * share // (1 - share))
    record = [Fraction(0)] * (_CROWD + 1) + [abs(entry) for entry in case["record"]]
    others = [Fraction(0)] * _CROWD + [here] + [Fraction(0)] * len(case["record"])
    way = 1 if quantile == share else -1
    crowded = {"weight": case["weight"], "record": tuple(record[::way]), "others": (tuple(others[::way]),)}
    mechanism = QuantileChoice(quantile=Public(quantile), scale=Public(_CROWD * here))
    declared, found = _declared(mechanism.loss.epsilon, crowded), _chosen_loss(mechanism, crowded)
    holds = found.lower <= declared.upper and declared.upper <= found.lower * (1 + Fraction(1, 100))
    return Finding(holds, f"declared {declared}", f"enumerated {found}, of a crowd")


# Rates of samplers


def _examine_rates(case: Case) -> Finding:
    """q(x) as the papers state it: IS Definition 5 and Section 4, DPIS Section 3.2; 1/q as the weight, or 1."""
    slope, floor, m, bound = case["slope"], case["floor"], case["m"], case["bound"]
    one = sum(map(abs, case["record"]), Fraction(0))
    squared = sum((entry**2 for entry in case["record"]), Fraction(0))
    two = _exactly(squared).sqrt()
    wide = two.maximum(bound)  # ‖x‖₂ capped at C = bound, as C·‖x‖/max(‖x‖, C)
    mixing, mean, n = case["mixing"], bound**2, 4 * m / case["mixing"]
    share = (mixing + (1 - mixing) * squared / mean) * m / n
    pairs = (
        (Importance(rate=Public(slope), floor=Public(floor)), _exactly(min(Fraction(1), max(floor, slope * one)))),
        (Poisson(rate=Public(floor), weighted=Public(True)), _exactly(floor)),
        (
            Dpis(batch=Public(m), norm_sum=Public(m * bound * 2), clip=Public(bound)),
            two * bound / wide / (2 * bound),
        ),
        (
            Coreset(
                m=Public(m),
                n=Public(n),
                mean_squared_norm=Public(mean),
                radius=Public(bound),
                mixing=Public(mixing),
            ),
            _exactly(min(Fraction(1), share)),
        ),
    )
    told = Finding(True, "", "")
    for sampler, found in pairs:
        told = _compared(_declared(sampler.rate.probability, {**case, "weight": Fraction(1)}), found)
        if not (told.holds and sampler.rate.weighted):
            return evolve(told, holds=False, closed_form=f"{sampler.about.name}: {told.closed_form}")
    return told


# Cases


def _sums(**further: Callable[[], SearchStrategy[object]]) -> Callable[[], SearchStrategy[Case]]:
    """Records of whole numbers of quarters, so that sums of weighted ones are exact in binary64."""

    def cases() -> SearchStrategy[Case]:
        from hypothesis import strategies as st

        entry = st.integers(-40, 40).map(lambda k: Fraction(k, 4))
        weight = st.integers(4, 40).map(lambda k: Fraction(k, 4))
        scale = st.fractions("1/16", 16, max_denominator=16)
        made = {name: strategy() for name, strategy in further.items()}

        def of_dimension(dimension: int) -> SearchStrategy[Case]:
            record = st.tuples(*[entry] * dimension)
            return st.fixed_dictionaries(
                {
                    "record": record.filter(any),
                    "others": st.lists(record, max_size=3).map(tuple),
                    "weight": weight,
                    "scale": scale,
                    **made,
                }
            )

        return st.integers(1, 4).flatmap(of_dimension)

    return cases


def _numbers(lowest: int, highest: int, below: int) -> Callable[[], SearchStrategy[object]]:
    def cases() -> SearchStrategy[object]:
        from hypothesis import strategies as st

        return st.integers(lowest, highest).map(lambda k: Fraction(k, below))

    return cases


def _orders() -> SearchStrategy[object]:
    from hypothesis import strategies as st

    return st.sampled_from(_ORDERS)


def _lattice_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "steps": st.tuples(*[st.integers(-9, 9)] * 3).filter(lambda steps: bool(steps[0])),
            "whole": st.integers(1, 6).map(Fraction),
            "spacing": st.integers(-3, 3).map(lambda k: Fraction(2) ** k),
            "scale": st.fractions("1/4", 16, max_denominator=8),
        }
    )


def _response_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "categories": st.integers(2, 6),
            "noise": st.fractions("1/16", 1, max_denominator=16),
            "epsilon": st.fractions("1/16", 6, max_denominator=16),
            "asked": st.integers(0, 5),
        }
    )


def _choice_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of_candidates(number: int) -> SearchStrategy[Case]:
        counts = st.tuples(*[st.integers(0, 4).map(Fraction)] * number)
        return st.fixed_dictionaries(
            {
                "record": st.tuples(*[st.integers(-3, 3).map(Fraction)] * number).filter(any),
                "others": st.lists(counts, max_size=2).map(tuple),
                "weight": st.integers(1, 4).map(Fraction),
                "quantile": st.fractions(0, 1, max_denominator=16),
                "scale": st.fractions("1/4", 16, max_denominator=8),
                "shift": st.just(Fraction(0)) | st.fractions(-6, 6, max_denominator=4),
            }
        )

    return st.integers(2, 5).flatmap(of_candidates)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="mechanisms/laplace-noise",
        statement="IS Section 3.3 and Appendix D.4",
        says="laplace-sum and count lose ‖Δ‖₁/β for what a record moves in their release",
        cases=_sums(),
        examine=_examine_laplace,
    ),
    Claim(
        id="mechanisms/gaussian-noise",
        statement="Balle, Wang 2018, Theorem 8",
        says="gaussian-sum declares ‖Δ‖₂/σ for what a record moves in its release, stated either way",
        cases=_sums(unit=_numbers(1, 8, 4)),
        examine=_examine_gaussian,
    ),
    Claim(
        id="mechanisms/noisy-gradient",
        statement="DPIS Equation 7 and Lemma 3.1",
        says="dpis-step declares ‖Δ‖₂/σ for what a drawn gradient moves in the noisy mean, over the noise in it",
        cases=_sums(
            noise_multiplier=_numbers(1, 32, 8),
            clip=_numbers(1, 64, 8),
            size=_numbers(1, 400, 4),
            batch=_numbers(1, 40, 2),
            norm_sum=_numbers(1, 400, 2),
        ),
        examine=_examine_dpis_step,
    ),
    Claim(
        id="mechanisms/lp-noise",
        statement="IS Appendix D.4",
        says="lp-sum loses ‖Δ‖_p/β, and draws noise of its norm in the dimension of the records",
        cases=_sums(order=_orders),
        examine=_examine_lp,
    ),
    Claim(
        id="mechanisms/lattice-noise",
        statement="Ghosh, Roughgarden, Sundararajan 2012; Canonne, Kamath, Steinke 2020, Proposition 5",
        says="discrete-laplace and discrete-gaussian lose what their whole steps move over the scale of their noise",
        cases=_lattice_cases,
        examine=_examine_lattice,
    ),
    Claim(
        id="mechanisms/response",
        statement="Kairouz, Oh, Viswanath 2016, k-ary randomised response",
        says="enumerated answers differ by the declared factor; with ε stated by less than e^ε, and by next to no less",
        cases=_response_cases,
        examine=_examine_response,
    ),
    Claim(
        id="mechanisms/choice",
        statement="McKenna, Sheldon 2020, Theorem 1",
        says="enumerated choices of a quantile lose at most what is declared; among 400 candidates nearly that",
        cases=_choice_cases,
        examine=_examine_choice,
    ),
    Claim(
        id="samplers/rates",
        statement="IS Definition 5 and Section 4, DPIS Section 3.2",
        says="importance, poisson, dpis and coreset declare the probabilities of the papers",
        cases=_sums(
            slope=_numbers(1, 16, 32),
            floor=_numbers(1, 7, 8),
            m=_numbers(1, 40, 4),
            bound=_numbers(1, 40, 4),
            mixing=_numbers(1, 8, 8),
        ),
        examine=_examine_rates,
    ),
)
