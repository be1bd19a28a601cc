"""The estimator of DPIS: its second moment, the best probabilities, two-stage rates (DPIS Sections 3.2 and 3.4).

Legend: ḡ_i are clipped gradients of N records, b the expected batch size, record i is drawn with probability b·p_i,
Σ p_i = 1, and Z is the noise. The estimator is

    g̃ = (1/b)(Σ_{i drawn} ḡ_i/(N·p_i) + Z)                              (Equation 7),

without bias. ĝ is a stale bound on a norm, C the clipping bound, K̃ the released norm sum. Everything is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...accounting.errors import InvalidValue


def second_moment(
    gram: Sequence[Sequence[Fraction]], probabilities: Sequence[Fraction], *, batch: Fraction, noise: Fraction
) -> Fraction:
    """E‖g̃‖² = E‖Z‖²/b² + (1/(bN²))·Σ ‖ḡ_i‖²/p_i + (1/N²)·Σ_{i≠j} ḡ_iᵀḡ_j (DPIS Section 3.2, above Equation 9).

    Args:
        gram: ḡ_iᵀḡ_j for every two records.
        probabilities: p_i, above 0 where ḡ_i is not 0.
        batch: b > 0, with b·p_i ≤ 1.
        noise: E‖Z‖² = σ_G²·C²·d.
    """
    size = len(gram)
    own = sampling_term([gram[i][i] for i in range(size)], probabilities, batch=batch)
    mixed = sum((gram[i][j] for i in range(size) for j in range(size) if i != j), Fraction())
    return noise / batch**2 + own + mixed / size**2


def sampling_term(squares: Sequence[Fraction], probabilities: Sequence[Fraction], *, batch: Fraction) -> Fraction:
    """(1/(bN²))·Σ ‖ḡ_i‖²/p_i: the part of E‖g̃‖² that probabilities move at fixed noise (DPIS Equation 9).

    Args:
        squares: ‖ḡ_i‖².
        probabilities: p_i, above 0 where ‖ḡ_i‖ is not 0.
        batch: b > 0.
    """
    drawn = [(square, p) for square, p in zip(squares, probabilities, strict=True) if square]
    return sum((square / p for square, p in drawn), Fraction()) / (batch * len(squares) ** 2)


def best_probabilities(norms: Sequence[Fraction]) -> list[Fraction]:
    """p_i = ‖ḡ_i‖/K, K = Σ ‖ḡ_j‖: the sampling term is then K²/(bN²), and no other p has less (Cauchy-Schwarz).

    Raises:
        InvalidValue: where all norms are 0: every p is as good.
    """
    total = sum(norms, Fraction())
    if not total:
        raise InvalidValue("norms", "all 0", "a norm above 0")
    return [norm / total for norm in norms]


def stale_bound(stale: Fraction, *, multiplier: Fraction, floor: Fraction, clip: Fraction) -> Fraction:
    """ĝ = min(C, k·max(stale norm, g_L)): capped at C, because above K̃/b its rate would be cut (DPIS-saturation)."""
    return min(clip, multiplier * max(stale, floor))


def two_stage_rate(norm: Fraction, bound: Fraction, *, batch: Fraction, norm_sum: Fraction) -> Fraction:
    """b·min(‖g‖, ĝ)/K̃: the probability of being drawn and accepted (DPIS Equation 15, erratum DPIS-stale).

    Args:
        norm: ‖g‖ ≥ 0, now.
        bound: ĝ in (0, C].
        batch: b > 0.
        norm_sum: K̃ ≥ b·C.
    """
    return batch * min(norm, bound) / norm_sum
