"""Runs of very many different steps, as arrays: normal or Laplace noise, each on a fresh sample at its own rate."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.accountants.grouped_steps import Groups, grouped
from ..accounting.bulk.exact_floats import exact_floats
from ..accounting.derivation import REAL_VALUED_NOISE, Assumption, Derivation, Theorem
from ..accounting.enclosures import DEFAULT_PRECISION, Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats, python_int
from ..accounting.norms import Norm
from ..accounting.pairs import GaussianPair, LaplacePair, ManyGaussianSteps, Pair, compose_pairs
from ..accounting.provenance import Payment, Public
from ..accounting.relations import ADD_REMOVE, RECORD, Change
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import ResampleEach
from ..mechanisms.gaussian_sum import GaussianSum
from ..mechanisms.laplace_sum import LaplaceSum
from ..samplers.full import Full
from ..samplers.poisson import Poisson
from .run import Run
from .sampled import SampledRun

_LEAST_NOISE, _MOST_NOISE = 1e-300, 1e300
_NOTHING, _MOST_SHIFT = 1e-150, 1e3
_MOST_NODES = 2048
_MOST_COMPARED = 1 << 14
_ALIKE = 2.0**-17
"""Of logarithms of rates or shifts, over groups: below, these hide less than interpolation does."""
_UNIT_BALL = NormBall(norm=Norm.L1, radius=Public(1))
_MARGIN = 2.0**-50  # squares and their sum are each off by at most 2^-53, relatively


@frozen(kw_only=True, eq=False, repr=False)
class ManySteps(Run):
    """A run of steps with rates and noise of their own, all fixed beforehand; base class.

    Args:
        rates: with which probability each record enters the sample of each step; in [0, 1]. One for all, or one each.
        noise_multipliers: noise over the bound on what one record contributes, 1e-300 to 1e300. One for all, or one
            each.
        groups: into how many kinds of steps the run is put together, where it has more different ones; at least 1.
            More bring the two ends closer and take longer, in proportion. Where the moments of Gaussian steps tell
            more, they are asked for instead.
        precision: working precision of proofs, in bits.

    Guarantees: the upper end of an answer holds for the steps as they are, under add/remove: each group counts with its
    largest rate and its least noise, and what interpolated moments hide is part of their ends. The lower end is one of
    the steps as they are, too.

    Raises:
        InvalidValue: for no steps, numbers out of range or not finite, and other numbers of rates than of noise
            multipliers. InvalidType: for anything but public numbers.
    """

    unit = RECORD
    kind: ClassVar[str]
    noise: ClassVar[str]

    rates: Public[ArrayLike]
    noise_multipliers: Public[ArrayLike]
    groups: int = field(default=256, converter=python_int)
    precision: int = DEFAULT_PRECISION
    _columns: tuple[Floats, Floats] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        whole("groups", self.groups, 1)
        rates = _numbers("rates", self.rates, 0.0, 1.0)
        noise = _numbers("noise_multipliers", self.noise_multipliers, _LEAST_NOISE, _MOST_NOISE)
        if 1 not in (rates.size, noise.size) and rates.size != noise.size:
            raise InvalidValue("noise_multipliers", f"{noise.size} numbers", f"1 or {rates.size}, as many as rates")
        object.__setattr__(self, "_columns", tuple(map(np.ascontiguousarray, np.broadcast_arrays(rates, noise))))

    @abstractmethod
    def _base(self, shift: Enclosure) -> Pair:
        """The pair of a step without sampling."""

    @staticmethod
    @abstractmethod
    def _one(noise_multiplier: float) -> SampledRun[Any]:
        """A step on all records, as a built-in mechanism releases it."""

    @staticmethod
    @abstractmethod
    def _sizes(rates: Floats, shifts: Floats) -> Floats:
        """About log(e^τ − 1) at order 2."""

    def __len__(self) -> int:
        return self._columns[0].size

    @cached_property
    def relation(self) -> Change:  # type: ignore[override]
        """Add/remove: sampling amplifies under that."""
        return ADD_REMOVE

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pair that dominates the run, and one that it dominates."""
        rates, noise = self._columns
        drawn = rates > 0  # other steps see nobody
        shifts = 1 / noise[drawn]
        exactly = np.frexp(noise[drawn])[0] == 0.5  # powers of two have exact inverses
        lower, upper = (np.where(exactly, shifts, np.nextafter(shifts, end)) for end in (0.0, math.inf))
        high, low = self._together(rates[drawn], lower, upper)
        return WorstPairs((high,), (low,))

    def _together(self, rates: Floats, lower: Floats, upper: Floats) -> tuple[Pair, Pair]:
        """The pairs above and below the steps with these rates and bounds of shifts."""
        found: list[list[Pair]] = [[self._base(Enclosure.of(0, precision=self.precision))] for _ in range(2)]
        if rates.size:
            groups = grouped(rates, lower, upper, self._sizes, most=self.groups)
            found = [self._parts(groups, above=above) for above in (True, False)]
        high, low = map(compose_pairs, found)
        return high, low

    def _parts(self, groups: Groups, *, above: bool) -> list[Pair]:
        rates, shifts = (groups.high_rate, groups.high_shift) if above else (groups.low_rate, groups.low_shift)
        return [
            self._base(self._exactly(shift)).sampled(self._exactly(rate)).repeated(int(times))
            for rate, shift, times in zip(rates, shifts, groups.times, strict=True)
        ]

    def _exactly(self, value: float) -> Enclosure:
        return Enclosure.of(float(value), precision=self.precision)

    @cached_property
    def alike(self) -> Mapping[tuple[float, float], int]:
        """How many steps have a rate and a noise multiplier, of those that see somebody, as they come first."""
        return Counter(
            (rate, noise) for rate, noise in zip(*(each.tolist() for each in self._columns), strict=True) if rate
        )

    def parts(self) -> list[SampledRun[Any]]:
        """The run as runs of equal releases of built-in mechanisms, as many as there are different steps.

        A record contributes a vector of ℓ1 norm at most 1 where noise is Laplace. A run that sees nobody is one release
        of rate 0.
        """
        found = self.alike or {(0.0, float(self._columns[1][0])): 1}
        return [
            evolve(
                self._one(noise),
                sampler=Full() if rate == 1 else Poisson(rate=Public(rate)),
                releases=ResampleEach(times),
                precision=self.precision,
            )
            for (rate, noise), times in found.items()
        ]

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on; long lists of numbers are named by range and digest."""
        assumptions = [
            Assumption("steps fixed beforehand, each on a fresh sample", str(len(self))),
            Assumption("each record enters each sample independently with its rate", _described(self._columns[0])),
            Assumption(self.noise, _described(self._columns[1])),
            REAL_VALUED_NOISE,
        ]
        return Theorem("declaration", f"{self.kind} steps").conclude((), assumptions)

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What was paid for released parameters: nothing, because rates and noise are public."""
        return ()

    @property
    def named(self) -> tuple[str, str]:
        """What a refusal calls the run: the steps."""
        return "run", f"{self.kind} steps"

    def __str__(self) -> str:
        rates, noise = map(_range, self._columns)
        return f"{len(self):,} {self.kind} steps · rates {rates} · noise multipliers {noise}"


@final
@frozen(kw_only=True, eq=False, repr=False)
class GaussianSteps(ManySteps):
    """Steps of the sampled Gaussian mechanism, such as DP-SGD with schedules: `noise_multipliers` are standard
    deviations over the bound on a record's ℓ2 norm.

    >>> steps = GaussianSteps(rates=Public([0.01, 0.02, 0.03]), noise_multipliers=Public([1.0, 1.5, 2.0]))
    >>> print(steps)
    3 Gaussian steps · rates 0.01 to 0.03 · noise multipliers 1 to 2
    """

    kind = "Gaussian"
    noise = "normal noise over the ℓ2 bound of a record"

    @staticmethod
    def _one(noise_multiplier: float) -> SampledRun[Any]:
        return SampledRun(mechanism=GaussianSum(noise_multiplier=Public(noise_multiplier)), sampler=Full())

    def _base(self, shift: Enclosure) -> Pair:
        return GaussianPair(shift)

    def _together(self, rates: Floats, lower: Floats, upper: Floats) -> tuple[Pair, Pair]:
        """Steps that see everybody are one, with the root of the summed squares of their shifts."""
        always = rates == 1.0
        if not np.any(always):
            return self._interpolated(rates, lower, upper) or super()._together(rates, lower, upper)
        ones = [
            GaussianPair(_root_of_squares(ends[always], way, self.precision))
            for ends, way in ((upper, 1 + _MARGIN), (lower, 1 - _MARGIN))
        ]
        if np.all(always):
            return ones[0], ones[1]
        others = super()._together(rates[~always], lower[~always], upper[~always])
        high, low = (compose_pairs(both) for both in zip(others, ones, strict=True))
        return high, low

    def _interpolated(self, rates: Floats, lower: Floats, upper: Floats) -> tuple[Pair, Pair] | None:
        """The steps as they are; None where groups tell more, or their moments do not tell."""
        some = slice(None, None, -(-rates.size // _MOST_COMPARED)) if rates.size else slice(0)
        if np.unique(rates[some] + 1j * upper[some]).size <= self.groups:
            return None
        if max(np.ptp(np.log(rates)), np.ptp(np.log(upper))) <= self.groups * _ALIKE:
            return None
        nodes = min(_MOST_NODES, rates.size)
        above, below = (_Grouped(self, rates, lower, upper, above) for above in (True, False))
        return ManyGaussianSteps.between(rates, upper, nodes=nodes, above=above, below=below, low_shifts=lower)

    @staticmethod
    def _sizes(rates: Floats, shifts: Floats) -> Floats:
        square = np.clip(shifts, _NOTHING, _MOST_SHIFT) ** 2
        logarithms: Floats = 2 * np.log(rates) + square + np.log(-np.expm1(-square))
        return logarithms


@final
@frozen(eq=False)
class _Grouped:
    """Makes the pair of groups above some steps of a run, or below them; a value, so that answers can be pickled."""

    run: GaussianSteps
    rates: Floats
    lower: Floats
    upper: Floats
    above: bool

    def __call__(self) -> Pair:
        high, low = ManySteps._together(self.run, self.rates, self.lower, self.upper)
        return high if self.above else low


@final
@frozen(kw_only=True, eq=False, repr=False)
class LaplaceSteps(ManySteps):
    """Steps of the sampled Laplace mechanism: `noise_multipliers` are scales over the bound on a record's ℓ1 norm.

    Their losses are composed on a lattice, which takes about half a second per group, and finds no lower end of ε for
    very many steps that lose little each.
    """

    groups: int = field(default=16, converter=python_int)

    kind = "Laplace"
    noise = "Laplace noise over the ℓ1 bound of a record"

    @staticmethod
    def _one(noise_multiplier: float) -> SampledRun[Any]:
        return SampledRun(mechanism=LaplaceSum(scale=Public(noise_multiplier)), sampler=Full(), domain=_UNIT_BALL)

    def _base(self, shift: Enclosure) -> Pair:
        return LaplacePair(shift)

    @staticmethod
    def _sizes(rates: Floats, shifts: Floats) -> Floats:
        loss = np.clip(shifts, _NOTHING, _MOST_SHIFT)
        logarithms: Floats = 2 * np.log(rates) + loss + 2 * np.log(-np.expm1(-loss))
        return logarithms


def _numbers(parameter: str, given: Public[ArrayLike], least: float, most: float) -> Floats:
    """A list of at least one number, each in [least, most]."""
    match given:
        case Public(value=value):
            pass
        case _:
            raise InvalidType(parameter, given, "public numbers", f"Write {parameter}=Public([…])")
    admissible = f"numbers from {least:g} to {most:g}"
    numbers = np.atleast_1d(exact_floats(parameter, value))
    if numbers.ndim != 1 or not numbers.size:
        raise InvalidValue(parameter, f"an array with the shape {numbers.shape}", f"a list of {admissible}")
    wrong = np.flatnonzero(~((numbers >= least) & (numbers <= most)))
    if wrong.size:
        raise InvalidValue(f"{parameter}[{wrong[0]}]", float(numbers[wrong[0]]), admissible)
    return numbers


def _root_of_squares(values: Floats, factor: float, precision: int) -> Enclosure:
    """An enclosure of a bound of √Σ x², above for a factor above 1 and below for one below."""
    _, exponent = math.frexp(float(values.max()))
    # the largest is now at least 1/2: what underflows is hidden in the margin
    total = math.fsum(np.ldexp(values, -exponent) ** 2) * factor
    return Enclosure.of(total, precision=precision).sqrt() * Fraction(2) ** exponent


def _range(numbers: Floats) -> str:
    least, most = float(numbers.min()), float(numbers.max())
    return f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"


_FEW = 8


def _described(numbers: Floats) -> str:
    if numbers.size <= _FEW:
        return ", ".join(map(repr, numbers.tolist()))
    if np.all(numbers == numbers[0]):
        return f"{float(numbers[0])!r}, in each"
    digest = sha256(numbers.astype("<f8").tobytes()).hexdigest()
    least, most = float(numbers.min()), float(numbers.max())
    return f"{numbers.size} numbers from {least!r} to {most!r}, whose binary64 digits have the SHA-256 digest {digest}"
