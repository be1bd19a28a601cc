"""What the steps of importance-sampled DP-SGD cost (DPIS Sections 2.1, 2.3, 3.3 and 4.1), at every real Rényi order.

Legend: g is a gradient, C the clipping bound, b the expected batch size, Ñ the noisy number of records, K̃ the noisy
sum of gradient norms, σ_G the noise multiplier; p_K is the rate at which norms are summed, σ_K the noise multiplier of
that sum.

Behind each cost stands the sampled Gaussian of rate r and shift s: (1 − r)·N(0, 1) + r·N(s, 1) against N(0, 1).
Removing a record is the worse direction at every order (Mironov, Talwar, Zhang 2019, Theorem 5).

In one step a record with gradient g is drawn with probability r = b·‖g‖/K̃ and adds (b/Ñ)·g/r = (K̃/Ñ)·g/‖g‖ to a sum
with noise of standard deviation σ_G·C: a length of K̃/Ñ, whatever ‖g‖ is, so s = K̃/(Ñ·σ_G·C).
"""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import field, frozen

from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..exact import Number, above_zero, exact, naming_rationals, rational
from ..pairs import GaussianPair, Pair
from ..pairs.sampled_gaussian_renyi import sampled_gaussian_renyi
from ..units import Order, Probability

_PRECISION = 128


@final
@frozen(kw_only=True, field_transformer=naming_rationals)
class Step:
    """One step of DPIS at released Ñ and K̃ (DPIS Lemma 3.1).

    The guarantee rests on Ñ, K̃, b, C and σ_G being public or released: a K̃ computed from the data is not (erratum
    DPIS-private N). A stale bound ĝ on a norm lowers the rate and keeps the shift, as long as it is capped at C (errata
    DPIS-saturation, DPIS-stale).

    Args:
        batch: b, the expected batch size; above 0.
        clip: C, the bound on the norm of a gradient; above 0.
        noise_multiplier: σ_G, the standard deviation of the noise over C; above 0.
        size: Ñ; above 0.
        norm_sum: K̃, at least b·C, so that no rate exceeds 1. DPIS Equation 12 keeps it above b·C and at most Ñ·C.

    Raises:
        InvalidValue, InvalidType: outside these ranges, and for anything that is no exact number.
    """

    batch: Fraction = field(converter=rational, validator=above_zero)
    clip: Fraction = field(converter=rational, validator=above_zero)
    noise_multiplier: Fraction = field(converter=rational, validator=above_zero)
    size: Fraction = field(converter=rational, validator=above_zero)
    norm_sum: Fraction = field(converter=rational, validator=above_zero)

    def __attrs_post_init__(self) -> None:
        least = self.batch * self.clip
        if self.norm_sum < least:
            raise InvalidValue(
                "norm_sum", self.norm_sum, f"at least batch·clip = {least}", "Raise it to b·C + ξ (DPIS Equation 12)"
            )

    @property
    def rate(self) -> Fraction:
        """r = b·C/K̃, the largest rate of any record."""
        return self.batch * self.clip / self.norm_sum

    @property
    def shift(self) -> Fraction:
        """s = K̃/(Ñ·σ_G·C), the same for every record."""
        return self.norm_sum / (self.size * self.noise_multiplier * self.clip)

    def record_rate(self, norm: Number) -> Fraction:
        """b·min(‖g‖, C)/K̃: the rate of a record whose gradient has that norm.

        Args:
            norm: ‖g‖ ≥ 0 before clipping. It is private: so is every cost computed from it.

        Raises:
            InvalidValue, InvalidType: for a norm below 0 and anything that is no exact number.
        """
        length = exact(norm, parameter="norm")
        if length < 0:
            raise InvalidValue("norm", norm, "a number ≥ 0")
        return self.batch * min(length, self.clip) / self.norm_sum

    def pair(self, *, precision: int = _PRECISION) -> Pair:
        """The dominating pair of the step for every record at once, from which every notion follows."""
        shift, rate = (Enclosure.of(number, precision=precision) for number in (self.shift, self.rate))
        return GaussianPair(shift).sampled(rate)

    def renyi(self, order: Order, *, precision: int = _PRECISION) -> Enclosure:
        """τ(α) of the step for every record at once (DPIS Lemma 3.1; Equation 13 at integer α).

        Guarantees:
            Encloses the Rényi divergence of the sampled Gaussian pair, which a gradient of norm C reaches. At fixed b,
            C, σ_G and Ñ it increases with K̃, so that K̃ = Ñ·C (uniform sampling, Lemma 2.9) is the worst.

        Proof of the increase: with z = e^{sx − s²/2} − 1 and x standard normal, e^{(α−1)τ} = E φ(z/s) for
        φ(y) = (1 + my)^α and m = r·s, which K̃ does not move; s grows with it. By parts, and with z + 1 as a change of
        measure, s·d/ds E φ(z/s) = E[w·(e^{sx − s²/2} − (1/s)∫₀ˢ e^{tx − t²/2} dt)], w = φ''(z/s)·(z + 1). For r ≤ 1
        and α > 1, w does not fall with x: (log w)' has the sign of 1 + (α − 2)r + (α − 1)rz ≥ 1 − r. For t < s the
        difference e^{sx − s²/2} − e^{tx − t²/2} has mean 0 and changes sign once, from − to +. So its product with w
        has a mean of at least 0.
        """
        return _sampled_gaussian(self.rate, self.shift, order, precision)

    def record_renyi(self, norm: Number, order: Order, *, precision: int = _PRECISION) -> Enclosure:
        """τ(α) of the step for a record whose gradient has that norm (DPIS Equation 21); private, as the norm is.

        Guarantees:
            Increases with the norm up to C: E(1 + rz)^α is convex in r, with derivative 0 at r = 0.
        """
        return _sampled_gaussian(self.record_rate(norm), self.shift, order, precision)


def sampled_sum_renyi(
    rate: Probability, noise_multiplier: Number, order: Order, *, precision: int = _PRECISION
) -> Enclosure:
    """τ(α) of a sum of vectors, each drawn with probability p and of norm at most S, with noise σ·S (DPIS Lemma 2.7).

    One step of DP-SGD is the case p = b/N, for a public N (Lemma 2.9, Equation 6 at integer α); p = 1 is the Gaussian
    mechanism, whose τ(α) = α/(2σ²) is the cost of Ñ with σ = σ_N (Equation 18).

    Args:
        rate: p.
        noise_multiplier: σ, the standard deviation of the noise over S; above 0.
        order: α.
        precision: bits of the ends.

    Raises:
        InvalidValue, InvalidType: for a noise multiplier that is no exact number above 0.
    """
    return _sampled_gaussian(rate.value, 1 / _multiplier(noise_multiplier), order, precision)


def norm_sum_renyi(
    rate: Probability, noise_multiplier: Number, order: Order, *, precision: int = _PRECISION
) -> Enclosure:
    """τ(α) of the noisy norm sum K' = (1/p_K)·Σ ‖ḡ‖ + N(0, σ_K²C²) over a sample at rate p_K (DPIS Equations 11, 19).

    One record moves the sum by C/p_K, so the noise multiplier is σ_K·p_K; Equation 19 costs it as σ_K (erratum
    DPIS-Eq19). K̃* of Equation 16 is not subsampled: p_K = 1.

    Args:
        rate: p_K, above 0.
        noise_multiplier: σ_K, the standard deviation of the noise over C; above 0.
        order: α.
        precision: bits of the ends.

    Raises:
        InvalidValue, InvalidType: at p_K = 0, and for a noise multiplier that is no exact number above 0.
    """
    if not rate.value:
        raise InvalidValue("rate", 0, "0 < p_K ≤ 1", "A sum over no records cannot be scaled up")
    return _sampled_gaussian(rate.value, 1 / (_multiplier(noise_multiplier) * rate.value), order, precision)


def _multiplier(noise_multiplier: Number) -> Fraction:
    value = exact(noise_multiplier, parameter="noise_multiplier")
    if value <= 0:
        raise InvalidValue("noise_multiplier", noise_multiplier, "a number above 0")
    return value


def _sampled_gaussian(rate: Fraction, shift: Fraction, order: Order, precision: int) -> Enclosure:
    r, s = Enclosure.of(rate, precision=precision), Enclosure.of(shift, precision=precision)
    return sampled_gaussian_renyi(r, s, order.value, precision=precision)
