"""For each law of samplers of records a sampler that breaks it, and is rejected by that law with a witness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import field, frozen

from certdp.accounting.derivation import Derivation, Evidence
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import ONE, Constant, Expression, minimum, norm
from certdp.accounting.sampling.drawing import Rate
from certdp.accounting.sampling.losses import Loss, PureLoss
from certdp.accounting.sampling.profiles import PureProfile
from certdp.accounting.sampling.rate import SamplingRate
from certdp.accounting.sampling.records import Features, Realisation, realise
from certdp.accounting.sampling.theorem_6 import theorem_6
from certdp.plugins.conformance import Outcome, Verdict, check, record_samplers
from certdp.plugins.contract import CONTRACT_VERSION, About, Real, named, positive

ABOUT = About(name="odd", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="nowhere")
STATED = SamplingRate(minimum(1, norm(1) / 8), weighted=True)
Realise = Callable[[Features], Realisation]


def right(features: Features) -> Realisation:
    return realise(STATED, features)


@frozen
class OddRate(Rate):
    """The stated rate, wrong where it is told to be."""

    realised: Realise
    proven: SamplingRate = STATED

    @property
    def features(self) -> tuple[Expression, ...]:
        return (STATED.probability,)

    @property
    def rounding(self) -> Fraction:
        return STATED.rounding

    def realise(self, features: Features) -> Realisation:
        return self.realised(features)

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> Any:
        found: PureProfile[Any, Any] = theorem_6(loss, self.proven, premises)
        return found


def sampler(rate: Rate) -> type:
    @frozen(kw_only=True, field_transformer=named)
    class Odd:
        about: ClassVar[About] = ABOUT
        scale: Real = field(converter=positive)

        def rate_for(self, loss: Loss) -> Rate:
            return rate

    return Odd


def stating(of: Callable[[Fraction], SamplingRate]) -> type:
    @frozen(kw_only=True, field_transformer=named)
    class Stating:
        about: ClassVar[About] = ABOUT
        slope: Real = field(alias="rate", converter=positive)

        @property
        def rate(self) -> SamplingRate:
            return of(self.slope.value)

    return Stating


def outcome(plugin: object, law: str, **terms: Any) -> Outcome:
    (found,) = check(plugin, only=law, **{"audit_trials": 4000, **terms}).outcomes
    return found


def changed(features: Features, factor: Any) -> Realisation:
    found = right(features)
    probability = np.minimum(found.probability * factor, 1.0)
    with np.errstate(divide="ignore"):
        return Realisation(probability, 1 / probability)


def above_one(features: Features) -> Realisation:
    found = right(features)
    return Realisation(found.probability + 1, np.ones(len(features)))


def weighing_twice(features: Features) -> Realisation:
    found = right(features)
    return Realisation(found.probability, 2 * found.weight)


def by_the_largest(features: Features) -> Realisation:
    """Probabilities that depend on other records."""
    return changed(features, 1 / max(1.0, float(np.abs(features.records).max(initial=0.0))))


class Calls:
    """Counts what it is asked for."""

    made = 0


def drifting(features: Features) -> Realisation:
    Calls.made += 1
    return changed(features, 1 / Calls.made)


def writing(features: Features) -> Realisation:
    found = right(features)
    features.records[...] = 0
    return found


def halved_in_bulk(features: Features) -> Realisation:
    return changed(features, 0.5 if len(features) > 4 else 1.0)


def lost_far_out(features: Features) -> Realisation:
    found = right(features)
    far = np.abs(features.records).max(axis=1, initial=0.0) > 1e100
    return Realisation(np.where(far, np.nan, found.probability), found.weight)


WRONG: list[tuple[str, Realise, str]] = [
    ("probabilities", above_one, "a number in [0, 1]"),
    ("probabilities", weighing_twice, "1, or 1/q"),
    ("independence", by_the_largest, "as alone"),
    ("repeats", drifting, "later"),
    ("inputs", writing, "afterwards"),
    ("frequencies", halved_in_bulk, "copies of"),
    ("extreme-records", lost_far_out, "a number in [0, 1]"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "realised", "reason"), WRONG)
def test_a_wrong_rate(law: str, realised: Realise, reason: str) -> None:
    found = outcome(sampler(OddRate(realised)), law)
    assert found.verdict is Verdict.FAILED
    assert reason in found.reason
    assert str(found.witness["constants"]).startswith("scale=")
    assert outcome(sampler(OddRate(right)), law).verdict is Verdict.PASSED


@pytest.mark.slow
def test_a_profile_of_another_rate() -> None:
    rarely = SamplingRate(minimum(1, norm(1) / 80), weighted=True)
    found = outcome(sampler(OddRate(right, rarely)), "amplification")
    assert found.verdict is Verdict.FAILED
    assert "ψ on" in found.reason
    assert outcome(sampler(OddRate(right)), "amplification").verdict is Verdict.PASSED


def test_a_larger_rate_that_draws_less() -> None:
    found = outcome(stating(lambda rate: SamplingRate(Constant(1 / (1 + rate)), weighted=True)), "size")
    assert found.verdict is Verdict.FAILED
    assert "rate=" in found.reason
    proportional = stating(lambda rate: SamplingRate(minimum(1, rate * norm(2)), weighted=True))
    assert outcome(proportional, "size").verdict is Verdict.PASSED


def test_floats_that_differ_from_enclosures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stated rate follows from one expression: the law guards its readings."""
    monkeypatch.setattr(record_samplers, "evaluate", lambda root, values: np.asarray(0.125))
    found = outcome(stating(lambda rate: SamplingRate(ONE, weighted=False)), "arithmetic")
    assert found.verdict is Verdict.FAILED
    assert "in floats" in found.reason


def test_what_is_no_rate() -> None:
    found = outcome(stating(lambda rate: 0.5), "probabilities")  # type: ignore[arg-type, return-value]
    assert found.verdict is Verdict.FAILED
    assert "rate is 0.5, which is no SamplingRate" in found.reason


def test_a_rate_that_may_exceed_1() -> None:
    found = outcome(stating(lambda rate: SamplingRate(rate * norm(1), weighted=True)), "probabilities")
    assert found.verdict is Verdict.FAILED
    assert "an expression in [0, 1] by its structure" in found.reason


def test_a_sampler_that_refuses_everything() -> None:
    class Refusing(OddRate):
        def realise(self, features: Features) -> Realisation:
            raise InvalidValue("records", "these", "others")

    found = check(sampler(Refusing(right)))
    assert [failure.law for failure in found.failures] == ["draws"]
    assert "records: got these" in found.failures[0].reason
