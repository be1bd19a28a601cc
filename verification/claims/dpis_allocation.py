"""Claims of DPIS on its budget allocation (Section 4.2): runs along drawn paths of K̃, planned and paid anew.

The closed form says σ_G of each epoch. The independent side knows the rule in words alone: it adds up, by Equation 13
term by term, what the epoch and those after it cost as foreseen, pays for the epoch, and goes on with what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from attrs import frozen

from ...accounting.dpis.allocation import Allocation
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles.renyi import AGREEMENT, binomial_sum

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_LESS = 1 - Fraction(1, 2**18)  # σ_G is the least within 2^-20
_MORE = 1 + Fraction(1, 2**18)


@frozen(kw_only=True)
class _Epoch:
    """One epoch of a run: what is left before it, its σ_G, and whether later epochs are taken to have K̃ = ÑC."""

    case: Case
    number: int
    left: Fraction
    noise: Fraction

    @property
    def worst_to_come(self) -> bool:
        first_phase: Fraction = self.case["divider"] * len(self.case["shares"])
        return self.number < first_phase

    @property
    def epochs_left(self) -> int:
        return len(self.case["shares"]) - self.number

    def paid(self, noise: Fraction) -> Fraction:
        """Return what the steps of the epoch cost at this noise."""
        return self._steps(self._norm_sum, noise)

    def planned(self, noise: Fraction) -> Fraction:
        """Return the cost of this epoch at the noise and of later ones as planned, their noise by the schedule."""
        later = self.case["size"] if self.worst_to_come else self._norm_sum
        decays = (self.case["decay"] ** ahead for ahead in range(1, self.epochs_left))
        return self.paid(noise) + sum((self._steps(later, noise * decay) for decay in decays), Fraction())

    @property
    def _norm_sum(self) -> Fraction:
        """Return K̃/C of the epoch, between b and Ñ."""
        return norm_sum(self.case, self.number)

    def _steps(self, norm_sum: Fraction, noise: Fraction) -> Fraction:
        exponent = (norm_sum / (self.case["size"] * noise)) ** 2 / 2
        steps: int = self.case["steps"]
        return steps * binomial_sum(self.case["batch"] / norm_sum, exponent, self.case["order"])


def norm_sum(case: Case, epoch: int) -> Fraction:
    """Return K̃/C of an epoch."""
    least, most, share = case["batch"], case["size"], case["shares"][epoch]
    return Fraction(least + share * (most - least))


def allocated(case: Case, epoch: int, left: Fraction) -> Fraction:
    """Return σ_G of an epoch by the closed form."""
    rule = Allocation(
        batch=case["batch"],
        epochs=len(case["shares"]),
        steps_per_epoch=case["steps"],
        divider=case["divider"],
        factor=lambda number: case["decay"] ** number,
    )
    return rule.remaining_steps(epoch, norm_sum(case, epoch), case["size"]).least_noise(Fraction(case["order"]), left)


def _run(case: Case) -> Iterator[_Epoch]:
    left = case["budget"]
    for number in range(len(case["shares"])):
        epoch = _Epoch(case=case, number=number, left=left, noise=allocated(case, number, left))
        yield epoch
        left -= epoch.paid(epoch.noise)


def _noises(epochs: list[_Epoch]) -> str:
    return "σ_G = " + ", ".join(f"{float(epoch.noise):.9g}" for epoch in epochs)


def _examine_budget(case: Case) -> Finding:
    """What is planned is all that is left, in every epoch; so at the end all is paid, and never more."""
    epochs = list(_run(case))
    fits = all(epoch.planned(epoch.noise) <= epoch.left * (1 + AGREEMENT) for epoch in epochs)
    full = all(epoch.planned(epoch.noise * _LESS) > epoch.left for epoch in epochs)
    paid = sum((epoch.paid(epoch.noise) for epoch in epochs), Fraction())
    return Finding(
        holds=fits and full,
        closed_form=_noises(epochs),
        independent=f"τ paid: {float(paid):.12g} of {float(case['budget']):.12g}",
    )


def _examine_first_phase(case: Case) -> Finding:
    """σ_G does not rise from an epoch of the first phase to the next, whatever K̃ does."""
    epochs = list(_run({**case, "decay": Fraction(1)}))
    pairs = [(one, other) for one, other in pairwise(epochs) if one.worst_to_come]
    kept = all(other.left * (1 + AGREEMENT) >= other.case["steps"] * _worst(one, other) for one, other in pairs)
    return Finding(
        holds=kept and all(other.noise <= one.noise * _MORE for one, other in pairs),
        closed_form=_noises(epochs),
        independent=f"what is left for later epochs at K̃ = ÑC and the same σ_G: {'enough' if kept else 'too little'}",
    )


def _worst(one: _Epoch, other: _Epoch) -> Fraction:
    """τ, for each step, of all epochs from the second on at K̃ = ÑC and the noise of the first."""
    exponent = 1 / (2 * one.noise**2)
    rate = one.case["batch"] / one.case["size"]
    return other.epochs_left * binomial_sum(rate, exponent, one.case["order"])


def _examine_second_phase(case: Case) -> Finding:
    """Every epoch pays one share of what is left among the epochs left, whatever K̃ does."""
    epochs = list(_run({**case, "decay": Fraction(1)}))
    second = [epoch for epoch in epochs if not epoch.worst_to_come]
    shares = [epoch.left / epoch.epochs_left for epoch in second]
    paid = [epoch.paid(epoch.noise) for epoch in second]
    return Finding(
        holds=all(
            cost <= share * (1 + AGREEMENT) and epoch.paid(epoch.noise * _LESS) > share
            for epoch, cost, share in zip(second, paid, shares, strict=True)
        ),
        closed_form=_noises(epochs),
        independent="τ paid by epoch: " + ", ".join(f"{float(cost):.9g}" for cost in paid),
    )


def _examine_never_rising(case: Case) -> Finding:
    """σ_G does not rise from any epoch to the next."""
    epochs = list(_run({**case, "decay": Fraction(1)}))
    sums = ", ".join(f"{float(norm_sum(case, epoch.number)):.9g}" for epoch in epochs)
    return Finding(
        holds=all(other.noise <= one.noise * _MORE for one, other in pairwise(epochs)),
        closed_form=_noises(epochs),
        independent=f"K̃/C = {sums}, of at most {case['size']}",
    )


def _cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    shares = st.fractions(0, 1, max_denominator=20)
    drawn = st.fixed_dictionaries(
        {
            "sizes": st.tuples(st.integers(1, 500), st.integers(0, 10**4)),
            "first": st.lists(shares, min_size=1, max_size=3) | st.just([]),
            "second": st.lists(shares, min_size=1, max_size=3) | st.just([]),
            "part": st.sampled_from([Fraction(0), Fraction(1, 2)]),
            "steps": st.integers(1, 40),
            "decay": st.just(Fraction(1)) | st.fractions(Fraction(1, 2), 1, max_denominator=20),
            "order": st.integers(2, 12),
            "budget": st.fractions(Fraction(1, 20), 8, max_denominator=20),
        }
    ).filter(lambda case: case["first"] or case["second"])

    def named(case: Case) -> Case:
        batch, further = case["sizes"]
        first, second = case["first"], case["second"]
        ends = max(Fraction(0), len(first) - case["part"])  # within the last epoch of the first phase, or after it
        rest = {name: case[name] for name in ("steps", "decay", "order", "budget")}
        return {
            "batch": Fraction(batch),
            "size": Fraction(batch + further),
            "shares": [*first, *second],
            "divider": ends / (len(first) + len(second)),
            **rest,
        }

    return drawn.map(named)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="dpis/allocation",
        statement="DPIS Section 4.2",
        says="what an epoch and the later ones cost as foreseen is what is left, so that a run pays all and no more",
        cases=_cases,
        examine=_examine_budget,
    ),
    Claim(
        id="dpis/allocation-first-phase",
        statement="DPIS Section 4.2",
        says="up to epoch a_E·E enough is kept for K̃ = ÑC, so that σ_G does not rise",
        cases=_cases,
        examine=_examine_first_phase,
    ),
    Claim(
        id="dpis/allocation-second-phase",
        statement="DPIS Section 4.2",
        says="after epoch a_E·E all epochs pay the same",
        cases=_cases,
        examine=_examine_second_phase,
    ),
    Claim(
        id="dpis/allocation-never-rising",
        statement="DPIS Section 4.2, read for both phases",
        says="σ_G never rises, also where K̃ grows after epoch a_E·E",
        cases=_cases,
        examine=_examine_never_rising,
        expectation=Expectation.REJECTED,
    ),
)
