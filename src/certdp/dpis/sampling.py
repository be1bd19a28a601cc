"""How records enter a step: two-stage rejection (DPIS Section 3.4) and the uniform sampling of DP-SGD.

Legend: b is the expected batch size, C the clipping bound, K̃ the released norm sum, Ñ the number of records; ĝ is a
stale bound on the norm n = ‖g‖ of a record's gradient, k and g_L are the multiplier and the floor of ĝ.

Stage one draws a record with probability b·ĝ/K̃, for ĝ = min(C, k·max(stale norm, g_L)): the cap at C keeps the rate
below 1 (erratum DPIS-saturation). Stage two computes n and accepts with probability m/ĝ, for m = min(n, ĝ): together
b·m/K̃. An accepted record adds the vector (K̃/Ñ)·g/‖g‖ whatever the rate was (erratum DPIS-stale), nothing where g is 0;
a record whose norm, as it is computed, is NaN or infinite is dropped. Squares overflow: norms from about 10^154 on may
be infinite where gradients are not.

Guarantees:
    Both coins are binary64 probabilities rounded down and drawn exactly, so a record enters with probability at most
    b·min(‖g‖, ĝ, C)/K̃, hence at most b·C/K̃. The vector added has a length of at most K̃/Ñ. Both hold in real
    arithmetic for norms within the relative error η of those of the vectors that the model adds: norms are lowered,
    and lengths scaled down, by η. Sums are rounded to binary64, as is their noise: the assumption of real-valued noise.

Proof of the rounding: a real number x ≥ 0 rounded to the nearest binary64 number x̂ is at least as near to x̂ as to the
number below x̂, so that number is at most x. Each product or quotient is followed by one such step down, and numbers
that are exact ratios are rounded down at once. Sums of d squares in any order, their root and the scaling of d entries
err relatively by less than (d + 8)·u, u = 2^-53 (Higham 2002, Section 3.1), where no square loses digits to underflow.
That is a quarter of η = 4·(d + 8)·u. A computed norm below 2^-500 may have lost digits: in two-stage sampling it counts
as 0, and `Uniform` clips as if it were 2^-500, which it is at most, but for η.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import float_at_most, naming_rationals, rational
from ..accounting.provenance import Private
from ..plugins.contract import Coins

if TYPE_CHECKING:
    from attrs import Attribute

IntArray: TypeAlias = NDArray[np.intp]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

DOUBLE = Fraction(1, 2**53)
"""The unit roundoff of binary64."""


def norm_error(dimension: int, unit: Fraction = DOUBLE) -> Fraction:
    """η = 4·(d + 8)·u: a bound on the relative errors of a norm and of scaling by it, with room for summing in parts.

    Args:
        dimension: d ≥ 1, the number of entries of a gradient.
        unit: u, the unit roundoff of the arithmetic in which gradients are computed.

    Raises:
        InvalidValue: where η would exceed 1/2, so that norms say nothing.
    """
    whole("dimension", dimension, 1)
    error = 4 * (dimension + 8) * unit
    if error > Fraction(1, 2):
        raise InvalidValue(
            "dimension", dimension, f"at most {int(Fraction(1, 8) / unit) - 8} entries in this arithmetic"
        )
    return error


LEAST_NORM = 2.0**-500
"""Below, a computed norm says only that the norm is at most this, but for η."""


@final
@frozen
class Drawn:
    """What one stage drew.

    Attributes:
        indices: positions of the records drawn, ascending: in the data for stage one, among those of stage one for
            stage two. Private, as everything here.
        rates: the probability with which each record that was asked about was drawn, exactly.
        expected: the expected number of records drawn, for the data's owner.
    """

    indices: IntArray
    rates: FloatArray
    expected: Private[float]


def _drawn(rates: FloatArray, coins: Coins) -> Drawn:
    return Drawn(np.flatnonzero(coins.bernoulli(rates)), rates, Private(float(rates.sum())))


def _at_least_one(_: object, attribute: Attribute[Fraction], value: Fraction) -> None:
    if value < 1:
        raise InvalidValue(attribute.name, value, "a number ≥ 1")


def _admissible_share(_: object, attribute: Attribute[Fraction], value: Fraction) -> None:
    if not 0 < value <= 1:
        raise InvalidValue(attribute.name, value, "0 < share ≤ 1", "With 0 a record whose gradient was 0 never returns")


def _admissible_error(_: object, attribute: Attribute[Fraction], value: Fraction) -> None:
    if not 0 <= value <= Fraction(1, 2):
        raise InvalidValue(attribute.name, value, "0 ≤ η ≤ 1/2", "Take norm_error(dimension)")


@final
@frozen(kw_only=True, field_transformer=naming_rationals)
class TwoStage:
    """Importance sampling by two-stage rejection; see the head of this module.

    Args:
        multiplier: k ≥ 1: how far a norm may grow within an epoch before it is clipped to ĝ; by default 5.
        floor: g_L/C, the least share of C from which ĝ starts; above 0, at most 1.
        error: η, a bound on the relative error of norms: `norm_error`.

    Raises:
        InvalidValue: outside these ranges.
    """

    multiplier: Fraction = field(default=Fraction(5), converter=rational, validator=_at_least_one)
    floor: Fraction = field(default=Fraction(1, 100), converter=rational, validator=_admissible_share)
    error: Fraction = field(converter=rational, validator=_admissible_error)

    def bounds(self, norms: FloatArray, clip: Fraction) -> FloatArray:
        """ĝ = min(C, k·max(n, g_L)), C rounded down; the floor's where a norm is NaN.

        Args:
            norms: stale norms n of gradients; NaN and infinities are admitted.
            clip: C > 0.
        """
        floor = float_at_most(self.floor * clip)
        known = np.where(np.isnan(norms), 0.0, norms)
        with np.errstate(over="ignore"):  # what is beyond the floats is beyond C
            return np.minimum(float(self.multiplier) * np.maximum(known, floor), float_at_most(clip))

    def propose(self, bounds: FloatArray, *, norm_sum: Fraction, batch: Fraction, coins: Coins) -> Drawn:
        """Stage one: record i is drawn with probability b·ĝ_i/K̃, rounded down.

        Args:
            bounds: ĝ of every record, from `bounds`.
            norm_sum: K̃, at least b·C.
            batch: b > 0.
            coins: the operating system's, unless a run is to be repeated.

        Raises:
            InvalidValue: where a rate would exceed 1.
        """
        rates = _step_down(bounds * float_at_most(batch / norm_sum))
        if rates.size and not rates.max() <= 1:
            raise InvalidValue("norm_sum", norm_sum, "K̃ ≥ b·C", "Raise it to b·C + ξ (DPIS Equation 12)")
        return _drawn(rates, coins)

    def accept(self, norms: FloatArray, bounds: FloatArray, *, coins: Coins) -> Drawn:
        """Stage two: a record drawn in stage one stays with probability m/ĝ, rounded down, for m = min(n, ĝ).

        Args:
            norms: current norms n of the gradients of these records; those that are NaN, infinite or below 2^-500 are
                never accepted.
            bounds: ĝ of the same records, from `bounds`.
            coins: as for `propose`.
        """
        usable = np.isfinite(norms) & (norms >= LEAST_NORM)
        lowered = _step_down(np.where(usable, norms, 0.0) * float_at_most(1 - self.error))
        rates = np.where(usable, _step_down(np.minimum(lowered, bounds) / bounds), 0.0)
        return _drawn(rates, coins)

    def weights(self, norms: FloatArray, length: Fraction) -> FloatArray:
        """The factors by which accepted gradients are multiplied: (K̃/Ñ)·(1 − η)/n, rounded down.

        Args:
            norms: current norms n of accepted records.
            length: K̃/Ñ.
        """
        return _step_down(float_at_most(length * (1 - self.error)) / norms)


@final
@frozen(kw_only=True, field_transformer=naming_rationals)
class Uniform:
    """The sampling of DP-SGD: every record with the same probability, its gradient clipped to C.

    Args:
        error: η, a bound on the relative error of norms: `norm_error`.

    Raises:
        InvalidValue: for η outside [0, 1/2].
    """

    error: Fraction = field(converter=rational, validator=_admissible_error)

    def draw(self, count: int, *, rate: Fraction, coins: Coins) -> Drawn:
        """Each of `count` records with probability `rate`, rounded down.

        Raises:
            InvalidValue: for a rate outside [0, 1].
        """
        return _drawn(np.full(count, float_at_most(rate)), coins)

    def weights(self, norms: FloatArray, clip: Fraction) -> FloatArray:
        """The factors that clip gradients: min(1, C·(1 − η)/n), rounded down; 0 where a norm is NaN or infinite.

        A norm below 2^-500 counts as 2^-500: such a gradient is added as it is unless C is as small.
        """
        usable = np.isfinite(norms)
        bounded = np.maximum(np.where(usable, norms, 1.0), LEAST_NORM)
        return np.where(usable, np.minimum(1.0, _step_down(float_at_most(clip * (1 - self.error)) / bounded)), 0.0)


def _step_down(values: FloatArray) -> FloatArray:
    """The next binary64 numbers towards 0: at most what `values` were rounded from."""
    return np.nextafter(values, 0.0)
