"""Certificates of privacy-constrained runs as they are written: the independent checker proves them again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import frozen

import certdp
from certdp import (
    Count,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    LpSum,
    Mechanism,
    Norm,
    NormBall,
    Outside,
    PrivacyConstrained,
    Public,
    SampledRun,
    check,
)
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import maximum, minimum
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.provenance import Released
from certdp.accounting.sampling.drawing import Rate
from certdp.guarantees import Evidence
from certdp.pairs import PureLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, Expression, W, norm
from certdp.verification.certificates.writing import statement_of_rate
from tests.support.forgeries import body_of
from tests.support.stated import AnyMechanism, Rows, losing

Matrix = np.ndarray[Any, np.dtype[np.float64]]


def ball(order: Norm, radius: Any, dimension: int | None = 3) -> NormBall:
    return NormBall(norm=order, radius=Public(radius), dimension=dimension)


def records(rows: int = 25) -> Matrix:
    matrix = np.random.default_rng(1).normal(size=(rows, 3)) * np.geomspace(1e-4, 9, rows)[:, None]
    matrix[2], matrix[3] = 0.0, [5e-324, 0.0, 0.0]
    return matrix


def constrained(mechanism: Mechanism, target: Any, cap: Any = None) -> SampledRun:
    sampler = PrivacyConstrained(target=Public(target))
    if cap is not None:
        sampler = PrivacyConstrained(target=Public(target), largest_weight=Public(cap))
    return SampledRun(mechanism=mechanism, sampler=sampler)


@frozen(kw_only=True)
class CitedMechanism(AnyMechanism):
    about: ClassVar[About] = About(
        name="cited-mechanism", version="1", contract=CONTRACT_VERSION, evidence=Evidence.CITED, citation="a test"
    )


RUN = constrained(LaplaceSum(scale=Public("1.5")), "1.5")
DOMAIN = ball(Norm.L1, 2)


MECHANISMS: dict[str, tuple[Mechanism, Any]] = {
    "a sum": (LaplaceSum(scale=Public(4)), 2),
    "a sum that reaches the least target": (LaplaceSum(scale=Public(10)), 1),
    "a count": (Count(scale=Public(20)), 2),
    "a sum in another norm": (LpSum(scale=Public(9), norm=Public("3/2")), "1/2"),
    "two parts": (losing(W * (norm(1) / 30 + Fraction(1, 100))), 1),
    "two norms": (losing(W * maximum(norm(1) / 30, minimum(norm(2) / 20, Fraction(1, 40)))), 1),
}


@pytest.mark.parametrize("cap", [None, 1, "10.1"])
@pytest.mark.parametrize("target", ["1/10", "2.3", 300])
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_certified_is_proven_again(name: str, target: Any, cap: Any) -> None:
    mechanism, radius = MECHANISMS[name]
    run = constrained(mechanism, target, cap)
    domain = ball(run.norm, radius)
    if run.norm == Norm.L1 and name == "a sum" and target == "1/10":
        with pytest.raises(InvalidValue, match="target"):
            certdp.profile_certificate(run.on(domain))
        return
    verdict = check(certdp.profile_certificate(run.on(domain)))
    proven = "holds" if mechanism.about.name != AnyMechanism.about.name else "holds assuming the profile"
    assert verdict.outcome.value == proven, verdict
    assert verdict.claim is not None
    assert verdict.claim.epsilon is not None
    assert verdict.claim.epsilon[0] is None
    upper = Fraction(verdict.claim.epsilon[1])
    assert 0 <= upper - Fraction(target) <= Fraction(target) / 2**52
    data = records()
    for outside in Outside:
        owned = check(certdp.owner_certificate(run.on(domain), data, outside), Rows(data.tolist()))
        assert owned.outcome.value == proven, owned
        assert owned.data_compared


def test_a_whole_target_is_the_epsilon_stated() -> None:
    run = constrained(LaplaceSum(scale=Public(5)), 1)
    domain = ball(Norm.L1, 5)
    supremum = body_of(certdp.profile_certificate(run.on(domain)))["claim"]["supremum"]
    assert (supremum["lower"], supremum["upper"], supremum["maximiser"]) == (None, 1.0, None)
    epsilon = run.on(domain).pure().bound.epsilon
    assert epsilon.lower == epsilon.upper == 1


def test_without_a_domain_the_profile_alone_is_certified() -> None:
    verdict = check(certdp.profile_certificate(RUN))
    assert verdict.outcome.value == "holds", verdict
    assert verdict.claim is not None
    assert verdict.claim.epsilon is None
    small = records()[:10]
    assert check(certdp.owner_certificate(RUN, small), Rows(small.tolist())).data_compared


def test_the_largest_psi_stated_is_never_above_the_target() -> None:
    body = body_of(certdp.owner_certificate(RUN.on(DOMAIN), records()))
    assert body["data"]["psi_max"] == 1.5
    capped = body_of(certdp.owner_certificate(constrained(LaplaceSum(scale=Public(100)), 1, 2).on(DOMAIN), records()))
    assert 0 < capped["data"]["psi_max"] < 0.05


def test_a_certificate_states_nothing_of_the_data() -> None:
    owned = body_of(certdp.owner_certificate(RUN.on(DOMAIN), records()))
    public = body_of(certdp.profile_certificate(RUN.on(DOMAIN)))
    assert {**owned, "audience": "public", "data": None} == public
    again = constrained(LaplaceSum(scale=Public("3/2")), Fraction(3, 2))
    assert certdp.profile_certificate(again.on(ball(Norm.L1, "4/2"))) == certdp.profile_certificate(RUN.on(DOMAIN))


def test_other_data_are_refused() -> None:
    data = records()
    content = certdp.owner_certificate(RUN.on(DOMAIN), data)
    changed = data.copy()
    changed[7, 2] = -changed[7, 2]
    assert "not those of the commitment" in check(content, Rows(changed.tolist())).reason


def released(value: Any, cost: Any) -> Any:
    spent = Guarantee(
        bound=certdp.notions.Pure(Enclosure.of(cost)),
        relation=certdp.ADD_REMOVE,
        unit=certdp.RECORD,
        derivation=Theorem("test", "release of a constant").conclude(),
    )
    return Released(value, spent)


def test_what_constants_and_radius_cost_is_added() -> None:
    run = constrained(LaplaceSum(scale=released(Fraction(4), "1/4")), 1)
    domain = NormBall(norm=Norm.L1, radius=released(Fraction(2), "1/8"), dimension=3)
    content = certdp.profile_certificate(run.on(domain))
    assert body_of(content)["claim"]["supremum"]["upper"] == 1.375
    assert check(content).accepted, check(content)
    data = records()
    verdict = check(certdp.owner_certificate(run.on(domain), data), Rows(data.tolist()))
    assert verdict.data_compared, verdict


def test_cited_evidence_assumes_the_profile() -> None:
    run = constrained(CitedMechanism(declared=Public(PureLoss(W * norm(1) / 3))), 1)
    assert check(certdp.profile_certificate(run.on(DOMAIN))).outcome.value == "holds assuming the profile"


def test_what_cannot_be_certified_says_so() -> None:
    with pytest.raises(InvalidValue, match="proportional"):
        certdp.owner_certificate(constrained(losing(W * W * norm(1) / 9), 1).on(DOMAIN), records()[:3])
    with pytest.raises(InvalidValue, match="Raise the target"):
        certdp.profile_certificate(RUN.on(ball(Norm.L1, 3)))
    with pytest.raises(InvalidType, match="kind"):
        statement_of_rate(_Other())


class _Other(Rate):
    """A rate that no certificate knows."""

    @property
    def features(self) -> tuple[Expression, ...]:
        return ()

    @property
    def rounding(self) -> Fraction:
        return Fraction(0)

    def realise(self, features: Any) -> Any:
        raise NotImplementedError

    def profile(self, loss: Any, premises: Any = ()) -> Any:
        raise NotImplementedError
