"""The parameters of a training run, all public and fixed before it starts.

Legend: N records, Ñ their public or released number, b the expected batch size, E epochs of T steps, C the clipping
bound, K̃ the released sum of clipped gradient norms, σ_G the noise multiplier of a step; σ_N and σ_K those of the
releases of Ñ and of norm sums, p_K the rate at which norms are summed, ξ the margin of DPIS Equation 12, a_E the
divider of DPIS Section 4.2, C*, λ the external bound and the quantile of DPIS Section 3.5.

What a step costs depends on K̃ and C by K̃/C alone (`certdp.accounting.dpis.steps.Step`), so sums are bounded in units
of C.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import field, frozen

from ..accounting.display import rounded_down, rounded_up
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Number, exact, python_int
from ..accounting.guarantees import require
from ..accounting.provenance import Public
from ..accounting.units import Order
from ..plugins.contract import named
from ..runs.calibration import Budget

if TYPE_CHECKING:
    from attrs import Attribute


def _public(value: Public[Number], admits: Callable[[Fraction], bool], admissible: str) -> Public[Fraction]:
    """An exact number declared public, for which `admits` holds; `named` says which parameter an error is about."""
    if not isinstance(value, Public):
        remedy = "Fix it before the run: Public(value). What a run releases of the data it pays for itself"
        raise InvalidType("parameter", value, "a Public value", remedy)
    number = exact(value.value, parameter="parameter")
    if not admits(number):
        raise InvalidValue("parameter", value.value, admissible)
    return Public(number)


_LEAST, _MOST = Fraction(1, 10**60), Fraction(10**60)  # so that floats hold whatever is made of such numbers
_RANGE = "a number in [1e-60, 1e60]"
_MOST_STEPS = 10**9


def _within(number: Fraction) -> bool:
    return _LEAST <= number <= _MOST


def _positive(value: Public[Number]) -> Public[Fraction]:
    return _public(value, _within, _RANGE)


def _share(value: Public[Number]) -> Public[Fraction]:
    return _public(value, lambda number: 0 <= number <= 1, "a number in [0, 1]")


def _rate(value: Public[Number]) -> Public[Fraction]:
    return _public(value, lambda number: _LEAST <= number <= 1, "a number in [1e-60, 1]")


def _count(value: Public[Number]) -> Public[Fraction]:
    return _public(value, lambda number: 1 <= number <= _MOST, "a number in [1, 1e60]")


@final
@frozen(kw_only=True, field_transformer=named)
class PublicSize:
    """N is public: an assumption, because adding or removing a record changes it (erratum DPIS-private N).

    Args:
        size: N, 1 to 1e60.
    """

    size: Public[Fraction] = field(converter=_count)

    @property
    def expected(self) -> Fraction:
        """The number of records N, which is public."""
        return self.size.value


@final
@frozen(kw_only=True, field_transformer=named)
class NoisySize:
    """Ñ = N + N(0, σ_N²) is released once, at the beginning of the run (DPIS Equations 10 and 18).

    Args:
        noise: σ_N, in records; 1e-60 to 1e60. Not a share of the private N (erratum DPIS-private N).
        guess: a public guess of N, from which the order of the account is chosen; it costs accuracy where it is wrong,
            never privacy.
    """

    noise: Public[Fraction] = field(converter=_positive)
    guess: Public[Fraction] = field(converter=_count)

    @property
    def expected(self) -> Fraction:
        """The number of records that the plan guesses, before Ñ is released."""
        return self.guess.value


Size: TypeAlias = PublicSize | NoisySize
"""Where Ñ comes from."""


@final
@frozen(kw_only=True, field_transformer=named)
class NormSums:
    """How the norm sum K̃ of each epoch is released (DPIS Equations 11 and 12).

    Args:
        rate: p_K, at which records enter the sum; 1e-60 ≤ p_K ≤ 1, by default 1: the engine knows all norms anyway.
        noise_multiplier: σ_K, the standard deviation of the noise over C; 1e-60 to 1e60. Its privacy is that of σ_K·p_K
            (erratum DPIS-Eq19).
        margin: ξ/(b·C), 1e-60 to 1e60, by default 1/100: no rate exceeds 1/(1 + margin).
    """

    noise_multiplier: Public[Fraction] = field(converter=_positive)
    rate: Public[Fraction] = field(default=Public(Fraction(1)), converter=_rate)
    margin: Public[Fraction] = field(default=Public(Fraction(1, 100)), converter=_positive)


@final
@frozen(kw_only=True, field_transformer=named)
class FixedClip:
    """A clipping rule with one bound C for the whole run.

    Args:
        bound: C, 1e-60 to 1e60.
    """

    bound: Public[Fraction] = field(converter=_positive)

    @property
    def first(self) -> Fraction:
        """The clipping bound C of the first epoch, and of every other."""
        return self.bound.value


@final
@frozen(kw_only=True, field_transformer=named)
class AdaptiveClip:
    """C of the next epoch is λ·K̃*/Ñ, kept in a public interval (DPIS Section 3.5, Equations 16 and 17).

    K̃* = Σ min(‖g‖, C*) + N(0, σ_K²C*²) over all records, its noise added once (errata DPIS-3.5, DPIS-Eq16); it is
    released after each epoch but the last.

    Args:
        start: C of the first epoch; within the interval.
        external: C*, the bound on norms in K̃*; 1e-60 to 1e60.
        quantile: λ, 1e-60 to 1e60.
        noise_multiplier: the standard deviation of the noise of K̃* over C*; 1e-60 to 1e60.
        lowest: the least C admitted; 1e-60 to 1e60.
        highest: the largest.

    Raises:
        InvalidValue: for an empty interval, and a start outside it.
    """

    start: Public[Fraction] = field(converter=_positive)
    external: Public[Fraction] = field(converter=_positive)
    quantile: Public[Fraction] = field(converter=_positive)
    noise_multiplier: Public[Fraction] = field(converter=_positive)
    lowest: Public[Fraction] = field(converter=_positive)
    highest: Public[Fraction] = field(converter=_positive)

    def __attrs_post_init__(self) -> None:
        if not self.lowest.value <= self.start.value <= self.highest.value:
            interval = f"lowest ≤ start ≤ highest, here {self.lowest.value} and {self.highest.value}"
            raise InvalidValue("start", self.start.value, interval)

    @property
    def first(self) -> Fraction:
        """The clipping bound C of the first epoch."""
        return self.start.value

    def following(self, released: Fraction, size: Fraction) -> Fraction:
        """C of the next epoch: λ·K̃*/Ñ, moved into the interval; free, as post-processing.

        Args:
            released: K̃*, any number.
            size: Ñ > 0.
        """
        return min(max(self.quantile.value * released / size, self.lowest.value), self.highest.value)


Clip: TypeAlias = FixedClip | AdaptiveClip
"""Where C comes from."""


@final
@frozen
class ConstantNoise:
    """σ_G is not made to fall: how it moves is left to the budget's allocation."""

    def factor(self, epoch: int) -> Fraction:
        """The factor of σ_G in an epoch: 1 in every one."""
        return Fraction(1)


@final
@frozen(kw_only=True, field_transformer=named)
class ExponentialDecay:
    """σ_G of epoch e = 0, 1, … is in proportion to kᵉ (Yu, Liu, Pu, Gursoy, Truex 2019, exponential decay).

    Args:
        base: k; 1e-60 ≤ k ≤ 1.
    """

    base: Public[Fraction] = field(converter=_rate)

    def factor(self, epoch: int) -> Fraction:
        """The factor of σ_G in epoch e: kᵉ."""
        return self.base.value**epoch


Schedule: TypeAlias = ConstantNoise | ExponentialDecay
"""How the noise multipliers of the epochs relate, other things equal."""


@final
@frozen(kw_only=True)
class RenyiAccounting:
    """A Rényi filter at one order, fixed before the run (errata DPIS-adaptive, DPIS-α).

    Args:
        order: α; unless given, the one that needs the least noise in a run with K̃ = ÑC throughout.
    """

    order: Order | None = None


@final
@frozen(kw_only=True, field_transformer=named)
class DominatedAccounting:
    """Every step is dominated by a sampled Gaussian declared before the run, whose loss distribution is composed.

    The declared shift s is the largest that the budget allows at the declared rate. A step at K̃ then has the noise
    multiplier K̃/(Ñ·s·C), so that its shift is s, whatever K̃ is.

    Args:
        rate: the largest rate of any step; 1e-60 ≤ r ≤ 1. K̃ is kept at or above bC/r. In a run of DP-SGD with a
            public size the rate is b/N.
    """

    rate: Public[Fraction] = field(converter=_rate)


Accounting: TypeAlias = RenyiAccounting | DominatedAccounting
"""By which theorem an adaptive run stays within its budget."""


def _whole(instance: object, attribute: Attribute[int], value: int) -> None:
    whole(attribute.name, value, 1)
    if value > _MOST_STEPS:
        raise InvalidValue(attribute.name, value, f"a whole number from 1 to {_MOST_STEPS}")


@final
@frozen(kw_only=True, field_transformer=named)
class RunPlan:
    """One training run of DPIS, or of DP-SGD where no norm sums are released.

    Args:
        budget: (ε₀, δ₀), which the run never exceeds; ε₀ in [1e-60, 1e60], δ₀ in (0, 1), also below
            the floats.
        batch: b, the expected batch size; 1e-60 or more, at most the expected number of records.
        epochs: E, 1 to 1e9.
        steps_per_epoch: T, 1 to 1e9, public; it does not follow from the private N (erratum DPIS-private N).
        size: where Ñ comes from.
        clip: where C comes from.
        norm_sums: how K̃ is released; None for DP-SGD, which draws every record with probability b/Ñ.
        divider: a_E in [0, 1]: up to this share of the epochs, later ones are taken to need the noise of K̃ = ÑC.
        schedule: how noise multipliers fall, other things equal.
        accounting: by which theorem the run stays within its budget.

    Raises:
        InvalidType, InvalidValue: outside these ranges.
    """

    budget: Budget
    batch: Public[Fraction] = field(converter=_positive)
    epochs: int = field(converter=python_int, validator=_whole)
    steps_per_epoch: int = field(converter=python_int, validator=_whole)
    size: Size
    clip: Clip
    norm_sums: NormSums | None
    divider: Public[Fraction] = field(default=Public(Fraction(4, 5)), converter=_share)
    schedule: Schedule = ConstantNoise()
    accounting: Accounting = RenyiAccounting()

    def __attrs_post_init__(self) -> None:
        require("budget", self.budget, Budget, "State Budget(epsilon=Epsilon(…), delta=Delta(…))")
        if not 0 < self.budget.delta.value < 1:
            raise InvalidValue("delta", str(self.budget.delta), "0 < δ < 1", "Gaussian noise has no pure loss")
        if not _within(self.budget.epsilon.value):
            raise InvalidValue("epsilon", str(self.budget.epsilon), _RANGE, "Choose a budget that noise can keep")
        if self.schedule.factor(self.epochs - 1) < _LEAST:
            falls = f"k for which k^{self.epochs - 1} ≥ 1e-60"
            raise InvalidValue(
                "schedule", str(self.schedule), falls, "Let noise fall more slowly, or take fewer epochs"
            )
        batch, expected = self.batch.value, self.size.expected
        if batch > expected:
            raise InvalidValue("batch", batch, f"0 < b ≤ {rounded_down(expected, 9)}, the expected number of records")
        if batch > self.largest_rate * expected:
            least = f"at least b over the expected number of records, {rounded_up(batch / expected, 9)}"
            raise InvalidValue("largest_rate", self.largest_rate, least, "Raise it, or draw smaller batches")
        if self.least_size > expected:
            remedy = "Draw smaller batches, or lower the margin"
            raise InvalidValue("batch", batch, f"(1 + margin)·b ≤ {rounded_down(expected, 9)}", remedy)

    @property
    def least_norm_sum(self) -> Fraction:
        """The lower end of K̃/C: (1 + margin)·b, or b/r where a larger one is declared for the rate r."""
        margin = 1 if self.norm_sums is None else 1 + self.norm_sums.margin.value
        return max(self.batch.value * margin, self.batch.value / self.largest_rate)

    @property
    def largest_rate(self) -> Fraction:
        """The sampling rate that no step of the run exceeds."""
        match self.accounting:
            case DominatedAccounting(rate=rate):
                return rate.value
            case RenyiAccounting():
                return Fraction(1)

    @property
    def least_size(self) -> Fraction:
        """The lower end of Ñ, at which K̃ can only be ÑC: the least that K̃/C can be."""
        return self.least_norm_sum

    def bounded_size(self, released: Fraction) -> Fraction:
        """Ñ: what was released, raised to `least_size` where it lies below; free, as post-processing."""
        return max(released, self.least_size)
