"""The account of one training run: what each release may do, paid before it is drawn, never more than (ε₀, δ₀).

Legend: as in `budget`; α is the order of a Rényi account, fixed before the run, τ what releases cost there.

Ñ and K̃ are outputs, and σ_G is chosen from them, so costs cannot be added up and converted at the best order
afterwards (erratum DPIS-adaptive). Two theorems bound such a run:

* a Rényi filter (Feldman, Zrnic 2021) at an order α fixed before the run: Σ τ ≤ τ₀ on every path of outputs, where
  (α, τ₀) entails (ε₀, δ₀);
* domination (Zhu, Dong, Wang 2022, Theorem 10): each release is dominated by a pair declared before the run, and the
  loss distribution of the declared pairs is within (ε₀, δ₀).

The order of calls, for each epoch e = 0, 1, …:

    account.pay_size()                      once, where Ñ is released; then account.size_released(Ñ)
    account.pay_norm_sum() → NormSumRelease, then K̃ = release.bounded(K', …)
    account.begin_epoch(K̃, C) → EpochNoise
    account.pay_step()                      before each step's noise is drawn, at most T times
    account.pay_clip()                      where C adapts, before K̃* is drawn, after each epoch but the last

A release that was paid and then lost, as by a killed process, is not paid twice. A public constant stands in for it,
which needs no release: the guess of N, K̃ = ÑC, or the C of before. Steps paid and lost stay paid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.relations import AddRemove, Record
from .budget import AdaptiveClip, RunPlan


@final
@frozen(kw_only=True)
class NormSumRelease:
    """How K' = (1/p_K)·Σ min(n, C) + noise is to be released, once it is paid.

    Attributes:
        rate: p_K, the probability with which each record enters the sum; rounded down where it is drawn.
        scale: standard deviation of the noise, σ_K·C for the C of this epoch.
        least: the lower end of K̃.
        most: its upper end, ÑC.
    """

    rate: Fraction
    scale: Fraction
    least: Fraction
    most: Fraction

    def bounded(self, released: Fraction) -> Fraction:
        """K̃ = min(max(K', least), most); free, as post-processing."""
        return min(max(released, self.least), self.most)


@final
@frozen(kw_only=True)
class ClipRelease:
    """How K̃* = Σ min(n, C*) + noise over all records is to be released, once it is paid.

    Attributes:
        bound: C*.
        scale: standard deviation of the noise, σ_K·C*.
        size: Ñ.
        clip: the plan's rule for the next C.
    """

    bound: Fraction
    scale: Fraction
    size: Fraction
    clip: AdaptiveClip

    def following(self, released: Fraction) -> Fraction:
        """C of the next epoch, from K̃*; free, as post-processing."""
        return self.clip.following(released, self.size)


@final
@frozen(kw_only=True)
class EpochNoise:
    """What the steps of one epoch are to do.

    Attributes:
        number: of the epoch, from 0.
        noise_multiplier: σ_G, exactly.
        clip: C.
        norm_sum: K̃.
        batch: b.
        size: Ñ.
    """

    number: int
    noise_multiplier: Fraction
    clip: Fraction
    norm_sum: Fraction
    batch: Fraction
    size: Fraction

    @property
    def scale(self) -> Fraction:
        """Standard deviation of the noise in a step's sum: σ_G·C."""
        return self.noise_multiplier * self.clip

    @property
    def rate(self) -> Fraction:
        """The largest rate of any record, b·C/K̃: in DP-SGD, where K̃ = ÑC, the rate b/Ñ of every record."""
        return self.batch * self.clip / self.norm_sum

    @property
    def length(self) -> Fraction:
        """The largest length of what a record adds, K̃/Ñ: in DP-SGD C."""
        return self.norm_sum / self.size


class RunAccount(ABC):
    """The budget of one run; base class of the accounts, one per theorem. Made by `open_account`.

    Attributes:
        plan: fixed before the run.
    """

    plan: RunPlan

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record]:
        """(ε₀, δ₀)-DP for everything that is released after it was paid, however the run goes on."""

    @abstractmethod
    def spent(self) -> float:
        """An upper bound of the ε at δ₀ of what was paid so far; no guarantee where it depends on outputs."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What a resumed run needs, as JSON; written before noise is drawn, no paid budget is lost."""


def open_account(plan: RunPlan) -> RunAccount:
    """The account of a run that begins."""
    raise NotImplementedError


def restored_account(plan: RunPlan, state: dict[str, Any]) -> RunAccount:
    """The account of a run that goes on from a `state`."""
    raise NotImplementedError
