"""For each law of mechanisms a plugin that breaks it, and is rejected by that law with a witness."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import field, frozen

from certdp.accounting.bulk.pairs import LAPLACE, PurePairs
from certdp.accounting.derivation import Evidence
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import Expression, Variable, W, norm
from certdp.accounting.pairs import DensityPair, LaplacePair, Pair, RandomisedResponsePair
from certdp.accounting.pairs.laws import PureLaw
from certdp.accounting.provenance import Public
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.losses import BulkReading, FamilyLoss, LaplaceLoss, Loss, PureLoss, Reading
from certdp.plugins.conformance import Outcome, Verdict, check, mechanism_losses
from certdp.plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive

ABOUT = About(name="odd", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="nowhere")

Losses = Callable[[Fraction], Loss]
Releases = Callable[[WeightedSample, Fraction, Coins], Any]


def laplace(scale: Fraction) -> Loss:
    return LaplaceLoss(W * norm(1) / scale)


def noisy_sum(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    return sample.weighted_sum() + coins.laplace(scale, sample.records.shape[1])


def mechanism(loss: Losses = laplace, release: Releases = noisy_sum, converter: Any = positive) -> type:
    """A Laplace sum, wrong where it is told to be."""
    of, released = loss, release

    def read(value: Any) -> Real:
        found: Real = converter(value)
        return found

    @frozen(kw_only=True, field_transformer=named)
    class Odd:
        about: ClassVar[About] = ABOUT
        scale: Real = field(converter=read)

        @property
        def loss(self) -> Loss:
            return of(self.scale.value)

        def release(self, sample: WeightedSample, coins: Coins) -> Any:
            return released(sample, self.scale.value, coins)

    return Odd


def fast(loss: Losses = laplace) -> type:
    """The same, which makes many releases at once."""

    class Fast(mechanism(loss)):  # type: ignore[misc]
        def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
            size = sample.records.shape[1]
            return sample.weighted_sum() + coins.laplace(self.scale.value, count * size).reshape(count, size)

    return frozen(kw_only=True)(Fast)


def outcome(plugin: object, law: str, **terms: Any) -> Outcome:
    (found,) = check(plugin, only=law, **{"audit_trials": 4000, **terms}).outcomes
    return found


# Wrong losses


@frozen
class OnceForAll(Pair):
    """Forgets how many releases there are."""

    epsilon: Enclosure

    @property
    def pure(self) -> PureLaw:
        return lambda _: self.epsilon

    def repeated(self, times: int) -> Pair:
        return self


@frozen
class AmplifiedTooMuch(OnceForAll):
    """As if sampling made ε itself smaller by the rate."""

    @property
    def delta(self) -> Any:
        return RandomisedResponsePair(self.epsilon).delta

    def sampled(self, rate: Enclosure) -> Pair:
        return RandomisedResponsePair(self.epsilon * rate)


@frozen
class HalfInBulk(Loss):
    """Its bounds for many records are half of those for one."""

    shift: Expression

    @property
    def parameters(self) -> tuple[Expression, ...]:
        return (self.shift,)

    def pair(self, read: Reading) -> Pair:
        return LaplacePair(read(self.shift))

    def bulk_pairs(self, read: BulkReading) -> PurePairs:
        return PurePairs(LAPLACE, read(self.shift) / 2)


def rising(_: Enclosure) -> Pair:
    return DensityPair(delta_law=lambda epsilon, direction: (epsilon / 8).minimum(1))


def of_the_lower_end(parameter: Enclosure) -> Pair:
    return RandomisedResponsePair(Enclosure.of(parameter.lower, precision=parameter.precision))


def undefined_at_zero(parameter: Enclosure) -> Pair:
    return RandomisedResponsePair(Enclosure.of(1 / (1 / parameter.upper)))


def share(scale: Fraction) -> Expression:
    return W * norm(1) / scale


WRONG_LOSSES: dict[str, tuple[Losses, str]] = {
    "weight": (lambda scale: PureLoss(norm(1) / (W * scale)), "at weight"),
    "noise": (lambda scale: PureLoss(W * norm(1) * scale), "as at scale="),
    "releases": (lambda scale: FamilyLoss(share(scale), OnceForAll), "for 2 releases"),
    "rate": (lambda scale: FamilyLoss(share(scale), AmplifiedTooMuch), "at rate"),
    "curves": (lambda scale: FamilyLoss(share(scale), rising), "one that does not rise"),
    "notions": (
        lambda scale: FamilyLoss(share(scale), RandomisedResponsePair, PureLoss(share(scale) / 2)),
        "the pure loss says",
    ),
    "arithmetic": (lambda scale: HalfInBulk(share(scale)), "in bulk"),
    "enclosure": (lambda scale: FamilyLoss(share(scale), of_the_lower_end), "for weights"),
    "extreme-losses": (lambda scale: FamilyLoss(share(scale), undefined_at_zero), "ZeroDivisionError"),
    "audit": (lambda scale: PureLoss(W * norm(1) / (2 * scale)), "as declared"),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", WRONG_LOSSES)
def test_a_wrong_loss(law: str) -> None:
    loss, reason = WRONG_LOSSES[law]
    found = outcome(mechanism(loss), law)
    assert found.verdict is Verdict.FAILED
    assert reason in found.reason
    assert str(found.witness["constants" if law != "audit" else "neighbours"]).startswith("scale=")
    assert outcome(mechanism(), law, examples=8).verdict is Verdict.PASSED


@pytest.mark.slow
def test_a_loss_too_small_by_a_sixth() -> None:
    found = outcome(fast(lambda scale: LaplaceLoss(share(scale) / Fraction(12, 10))), "audit", audit_trials=60_000)
    assert found.verdict is Verdict.FAILED
    assert "declared ε = " in found.witness["neighbours"]


@pytest.mark.slow
def test_a_weight_that_is_forgotten() -> None:
    found = outcome(fast(lambda scale: LaplaceLoss(norm(1) / scale)), "audit", audit_trials=20_000)
    assert found.verdict is Verdict.FAILED
    assert outcome(fast(), "audit", audit_trials=60_000).verdict is Verdict.PASSED


def of_another_norm(scale: Fraction) -> Loss:
    return LaplaceLoss(W * norm(2) / scale)


@pytest.mark.slow
def test_a_loss_in_another_norm_than_the_noise() -> None:
    """ℓ2 for Laplace noise is right about records on an axis, and too small by √2 about those on the diagonal."""
    found = outcome(fast(of_another_norm), "audit", audit_trials=20_000)
    assert found.verdict is Verdict.FAILED
    assert re.search(r"\(0\.25, -?0\.25\)", found.witness["neighbours"])
    along_one_axis = outcome(fast(of_another_norm), "audit", audit_trials=20_000, records=[[1.0, 0.0]])
    assert along_one_axis.verdict is Verdict.PASSED
    assert outcome(fast(), "audit", audit_trials=20_000).verdict is Verdict.PASSED


WRONG_DIRECTIONS: dict[str, tuple[Losses, list[float], str]] = {
    "axis": (lambda scale: LaplaceLoss(W * norm(1) / (2 * scale)), [1, 0], r"\((.*), 0\.0\)"),
    "another axis": (lambda scale: LaplaceLoss(W * norm(1) / (2 * scale)), [0, 1], r"\(0\.0, (.*)\)"),
    "diagonal": (lambda scale: LaplaceLoss(W * norm("inf") / scale), [1, 1], r"\((.*), \1\)"),
    "alternating": (lambda scale: LaplaceLoss(W * norm("inf") / scale), [1, -1], r"\((.*), -\1\)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("direction", WRONG_DIRECTIONS)
def test_a_loss_that_is_wrong_in_one_direction(direction: str) -> None:
    loss, seen, record = WRONG_DIRECTIONS[direction]

    def one_number(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
        return np.atleast_1d(sample.weighted_sum() @ np.array(seen)) + coins.laplace(scale, 1)

    found = outcome(mechanism(loss, one_number), "audit")
    assert found.verdict is Verdict.FAILED
    assert re.search(f"first input {record}", found.witness["neighbours"])


@pytest.mark.slow
def test_how_far_an_audit_sees_is_told_where_it_finds_nothing() -> None:
    """Noise a tenth too small: past 20,000 runs by so little that the estimate says so, and caught by 60,000."""
    quiet = fast(lambda scale: LaplaceLoss(share(scale) * Fraction(9, 10)))
    blind, sharp = (outcome(quiet, "audit", audit_trials=runs) for runs in (20_000, 60_000))
    assert (blind.verdict, sharp.verdict) == (Verdict.PASSED, Verdict.FAILED)
    for found in (blind, sharp):
        for audited in found.audited:
            power = audited.power
            assert power.claimed.value < power.refutable < power.most
            assert "declared ε = " in audited.inputs
            assert f"refute the claim as a rule only where the true ε is {power.refutable:.4g} or more" in str(audited)
            assert any(str(audited) in line for line in found.details)
    assert len(blind.audited) == 3
    assert len(sharp.audited) >= 1  # what follows a refutation is not made
    assert blind.as_json()["audited"][0]["epsilon_refutable"] == blind.audited[0].power.refutable
    assert outcome(quiet, "weight").audited == ()


@pytest.mark.slow
def test_the_smallest_witness_is_told() -> None:
    found = outcome(mechanism(lambda scale: PureLoss(norm(1) / (W * scale))), "weight")
    assert found.witness == {"constants": "scale=1", "record": [0.125], "weights": [1.0, 1.125]}
    assert found.cases_tried >= 2
    assert any("scale=1" in line for line in found.details)


@pytest.mark.slow
def test_a_wrong_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Authors state none: the law guards the one that follows."""

    def doubled(root: Expression, variable: Variable) -> Expression:
        return 2 * (root / variable)

    monkeypatch.setattr(mechanism_losses, "derivative", doubled)
    found = outcome(mechanism(), "derivative")
    assert found.verdict is Verdict.FAILED
    assert "difference quotient" in found.reason


# Wrong releases


class Forgetful:
    """Counts what it is asked for."""

    asked = 0


def drifting(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    Forgetful.asked += 1
    return noisy_sum(sample, scale, coins) + Forgetful.asked


def writing(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    sample.records[...] = 0
    return noisy_sum(sample, scale, coins)


def writing_anyway(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    sample.weights.flags.writeable = True
    sample.weights[...] = 1
    return noisy_sum(sample, scale, coins)


def by_place(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    places = np.arange(len(sample.records))
    return places @ sample.records * 8 + coins.laplace(scale, sample.records.shape[1])


def one_each(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    return sample.records[:, 0] + coins.laplace(scale, len(sample.records))


def overflowing(sample: WeightedSample, scale: Fraction, coins: Coins) -> Release:
    return sample.weights @ sample.records + coins.laplace(scale, sample.records.shape[1])


def in_text(sample: WeightedSample, scale: Fraction, coins: Coins) -> Any:
    return str(noisy_sum(sample, scale, coins))


def leaving(sample: WeightedSample, scale: Fraction, coins: Coins) -> Any:
    raise SystemExit(0)


WRONG_RELEASES: list[tuple[str, Releases, str]] = [
    ("repeats", drifting, "later, with the same coins"),
    ("repeats", in_text, "which is no array of numbers"),
    ("repeats", leaving, "it raises SystemExit: 0"),
    ("inputs", writing, "read-only"),
    ("inputs", writing_anyway, "after a release"),
    ("order", by_place, "in reverse order"),
    ("shape", one_each, "as of no records"),
    ("extreme-records", overflowing, "finite numbers"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "release", "reason"), WRONG_RELEASES)
def test_a_wrong_release(law: str, release: Releases, reason: str) -> None:
    found = outcome(mechanism(release=release), law)
    assert found.verdict is Verdict.FAILED
    assert reason in found.reason
    assert found.witness["constants"] == "scale=1"
    assert outcome(mechanism(), law, examples=8).verdict is Verdict.PASSED


@pytest.mark.slow
def test_many_releases_of_another_law() -> None:
    right = mechanism()

    class Hasty(right):  # type: ignore[misc, valid-type]
        def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Any:
            quiet = right(scale=Public(self.scale.value / 8))
            return np.stack([quiet.release(sample, coins) for _ in range(count)])

    found = outcome(frozen(kw_only=True)(Hasty), "many", audit_trials=20_000)
    assert found.verdict is Verdict.FAILED
    assert "at once" in found.reason
    assert outcome(right, "many").verdict is Verdict.NOT_APPLICABLE


# Wrong parameters


def test_constants_that_it_does_not_state() -> None:
    found = outcome(mechanism(converter=lambda value: positive(value).map(lambda scale: 2 * scale)), "options")
    assert found.verdict is Verdict.FAILED
    assert "scale" in found.reason


def test_a_parameter_without_provenance() -> None:
    def lax(value: Any) -> Real:
        return positive(Public(value) if isinstance(value, float) else value)

    found = outcome(mechanism(converter=lax), "provenance")
    assert found.verdict is Verdict.FAILED
    assert "a bare float" in found.reason


def test_a_class_that_keeps_no_contract_is_looked_at_no_further() -> None:
    class Loose:
        about = ABOUT
        loss = None

        def release(self, sample: WeightedSample, coins: Coins) -> Release:
            raise AssertionError("released")

    found = check(Loose)
    assert [failure.law for failure in found.failures] == ["contract"]
    assert "no frozen attrs class" in found.failures[0].reason
    others = {outcome.reason for outcome in found.outcomes if outcome.law != "contract"}
    assert others == {"it does not keep the contract"}


def test_directions_are_both_looked_at() -> None:
    """A law that is wrong for adding a record alone."""

    def one_sided(parameter: Enclosure) -> Pair:
        right = RandomisedResponsePair(parameter)

        def delta(epsilon: Enclosure, direction: Direction) -> Enclosure:
            law = right.delta(epsilon, direction)
            return law if direction is Direction.REMOVE else (epsilon / 8).minimum(1)

        return DensityPair(delta_law=delta)

    found = outcome(mechanism(lambda scale: FamilyLoss(share(scale), one_sided)), "curves")
    assert found.verdict is Verdict.FAILED
    assert "add" in found.reason
