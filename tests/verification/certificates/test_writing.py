"""Certificates as they are written: their form, what they bind, and that the independent checker proves them again."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import field, frozen
from hypothesis import given, reject
from hypothesis import strategies as st

import certdp
from certdp import (
    CertdpError,
    Count,
    Full,
    Importance,
    InvalidValue,
    LaplaceSum,
    Lloyd,
    Mechanism,
    Norm,
    NormBall,
    Outside,
    Poisson,
    Public,
    SampledRun,
    Sampler,
    check,
)
from certdp.accounting.expressions import Constant, evaluate, exp, expm1, log1p, maximum, minimum, sqrt, variables
from certdp.accounting.expressions import Symbol as Kind
from certdp.guarantees import Evidence
from certdp.pairs import PureLoss
from certdp.plugins.contract import (
    CONTRACT_VERSION,
    About,
    Expression,
    SamplingRate,
    W,
    norm,
)
from certdp.sampling import NoFiniteSupremum
from certdp.verification.certificates.writing import commit, sealed
from tests.support.cases import examples, in_full
from tests.support.forgeries import Body, body_of
from tests.support.stated import AnyMechanism, Rows

Matrix = np.ndarray[Any, np.dtype[np.float64]]


def ball(order: Norm, radius: Any, dimension: int | None = 3) -> NormBall:
    return NormBall(norm=order, radius=Public(radius), dimension=dimension)


def records(seed: int = 1, rows: int = 25, columns: int = 3) -> Matrix:
    return np.random.default_rng(seed).normal(size=(rows, columns)) * np.geomspace(0.01, 9, rows)[:, None]


RUN = SampledRun(
    mechanism=LaplaceSum(scale=Public("1.5")),
    sampler=Importance(rate=Public("0.3"), norm=Public(2), floor=Public("0.01")),
)
DOMAIN = ball(Norm.L1, 2)


class TestForm:
    @pytest.mark.parametrize(
        "content",
        [
            certdp.profile_certificate(RUN.on(DOMAIN)),
            certdp.profile_certificate(RUN),
            certdp.owner_certificate(RUN, records()),
        ],
        ids=["within a domain", "of every record", "of given records"],
    )
    def test_it_is_canonical_json_that_ends_in_its_digest(self, content: bytes) -> None:
        text = content.decode("ascii")
        whole = json.loads(text)
        assert list(whole)[-1] == "digest"
        body = {key: value for key, value in whole.items() if key != "digest"}
        canonical = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, separators=(",", ": "))
        assert whole["digest"] == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
        head = canonical.removesuffix("\n}")
        assert text == f'{head},\n "digest": "{whole["digest"]}"\n}}\n'
        assert sealed(body) == content

    def test_numbers_that_json_does_not_know_are_refused(self) -> None:
        for value in (math.nan, math.inf, -math.inf):
            with pytest.raises(ValueError, match="JSON"):
                sealed({"value": value})

    def test_the_same_claim_gives_the_same_bytes(self) -> None:
        again = SampledRun(
            mechanism=LaplaceSum(scale=Public(1.5)),
            sampler=Importance(rate=Public("3/10"), norm=Public("2"), floor=Public("1e-2")),
        )
        assert certdp.profile_certificate(again.on(ball(Norm.L1, "4/2"))) == certdp.profile_certificate(RUN.on(DOMAIN))

    def test_letters_beyond_ascii_are_escaped(self) -> None:
        assert b"\\u03c8" in sealed({"name": "ψ"})


class TestCommitment:
    @staticmethod
    def by_hand(matrix: Matrix, nonce: bytes) -> str:
        digest = hashlib.sha256(nonce + f"{matrix.shape[0]},{matrix.shape[1]};".encode())
        for row in matrix.tolist():
            digest.update(struct.pack(f">{len(row)}d", *row))
        return digest.hexdigest()

    @given(st.integers(1, 40), st.integers(1, 5), st.binary(min_size=32, max_size=32), st.integers(1, 50))
    def test_it_is_the_one_described(self, rows: int, columns: int, nonce: bytes, chunk: int) -> None:
        matrix = np.random.default_rng(rows).normal(size=(rows, columns))
        expected = self.by_hand(matrix, nonce)
        assert commit(matrix, nonce) == expected
        assert commit(np.asfortranarray(matrix), nonce, chunk=chunk) == expected

    def test_everything_counts(self) -> None:
        matrix, nonce = records(), bytes(32)
        changed = matrix.copy()
        changed[3, 1] = np.nextafter(changed[3, 1], 9.0)
        negative, zero = np.full((1, 1), -0.0), np.zeros((1, 1))
        seen = {
            commit(matrix, nonce),
            commit(matrix, bytes(31) + b"\1"),
            commit(changed, nonce),
            commit(matrix[::-1], nonce),
            commit(matrix.reshape(-1, 5), nonce),
            commit(matrix[:-1], nonce),
            commit(negative, nonce),
            commit(zero, nonce),
        }
        assert len(seen) == 8

    @pytest.mark.parametrize("outside", Outside)
    @pytest.mark.parametrize("domain", [None, DOMAIN])
    def test_the_checker_finds_the_same(self, domain: NormBall | None, outside: Outside) -> None:
        matrix = records()
        content = certdp.owner_certificate(RUN.on(domain), matrix, outside)
        verdict = check(content, Rows(matrix.tolist()))
        assert verdict.accepted, verdict
        assert verdict.data_compared
        changed = matrix.copy()
        changed[7, 2] = -changed[7, 2]
        assert "not those of the commitment" in check(content, Rows(changed.tolist())).reason


ASSUMING = "holds assuming the profile"


def proven(content: bytes, data: Matrix | None = None, outcome: str = "holds") -> None:
    verdict = check(content, None if data is None else Rows(data.tolist()))
    assert verdict.outcome.value == outcome, verdict
    assert verdict.data_compared is (data is not None)


COMBINATIONS = [
    f"{first} {then}" for first in ("laplace-sum", "count") for then in ("full", "poisson", "weighted", "importance")
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_what_built_ins_certify_is_proven_again(combination: str, seed: int) -> None:
    draw = random.Random(f"{combination} {seed}")
    mechanism, sampler = combination.split()
    scales: list[int | float | str | Fraction] = ["1", "0.1", "2/3", 1e-3, 40, Fraction(10**20 + 1, 10**19), "1e6"]
    scale = Public(draw.choice(scales))
    radius = draw.choice(["1", "1/3", 5, 0.1, "1e-6", 250])
    rates: list[int | float | str] = [0.1, "0.3", "1/7", 1, 0.999, "1e-5", 0.5]
    floors: list[int | float | str] = ["1e-4", "0.01", 0.5, "1/3", 1]
    orders: list[int | str] = [1, 2, "inf", "3/2"]
    rate, floor, order = Public(draw.choice(rates)), Public(draw.choice(floors)), Public(draw.choice(orders))
    mechanisms: dict[str, Mechanism] = {"laplace-sum": LaplaceSum(scale=scale), "count": Count(scale=scale)}
    samplers: dict[str, Sampler] = {
        "full": Full(),
        "poisson": Poisson(rate=rate),
        "weighted": Poisson(rate=rate, weighted=Public(True)),
        "importance": Importance(rate=rate, norm=order, floor=floor),
    }
    run = SampledRun(mechanism=mechanisms[mechanism], sampler=samplers[sampler])
    domain = ball(run.norm, radius)
    proven(certdp.profile_certificate(run.on(domain)))
    proven(certdp.profile_certificate(run))
    data = records(seed)
    for outside in Outside:
        measured = certdp.record_losses(run.on(domain), data, outside)
        proven(certdp.owner_certificate(run.on(domain), data, outside, losses=measured), data)


def test_importance_sampling_of_a_sum_needs_no_floor() -> None:
    for of in (1, 2, "inf", "3/2", 3, "1.001"):
        run = SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Importance(rate=Public("0.2"), norm=Public(of)))
        proven(certdp.profile_certificate(run.on(ball(Norm.L1, 4))))


@pytest.mark.parametrize(("own", "other"), [("3/2", 1), ("3/2", 3), (3, "3/2"), ("1.001", "1.002"), (2, "inf")])
def test_a_domain_in_one_norm_for_a_loss_in_another(own: Any, other: Any) -> None:
    run = SampledRun(
        mechanism=AnyMechanism(declared=Public(PureLoss(W * norm(other) / 4))),
        sampler=Importance(rate=Public("0.3"), norm=Public(own), floor=Public("0.01")),
    )
    domain = ball(Norm.of(own), "3/2")
    body = body_of(certdp.profile_certificate(run.on(domain)))
    assert body["claim"]["supremum"]["lower"] > body["claim"]["supremum"]["upper"] * (1 - 1e-12)
    proven(certdp.profile_certificate(run.on(domain)), outcome=ASSUMING)
    data = records(4)
    for outside in Outside:
        proven(certdp.owner_certificate(run.on(domain), data, outside), data, ASSUMING)
    alone = SampledRun(mechanism=run.mechanism, sampler=Full())
    proven(certdp.profile_certificate(alone.on(domain)), outcome=ASSUMING)


def test_a_domain_that_contradicts_an_option_is_refused_before_it_is_certified() -> None:
    mechanism = Lloyd(clusters=Public(3), scale_sum=Public(20), scale_count=Public(5), radius=Public(2))
    run = SampledRun(mechanism=mechanism, sampler=Full())
    proven(certdp.profile_certificate(run.on(ball(Norm.L2, 2))))
    with pytest.raises(InvalidValue, match="certificate: got mechanism lloyd") as refused:
        certdp.profile_certificate(run.on(ball(Norm.L2, "2.001")))
    assert "the option radius is smaller than the norm of some record" in refused.value.remedy


def at(*path: Any) -> Callable[[Body], tuple[Any, Any]]:
    def place(body: Body) -> tuple[Any, Any]:
        here: Any = body
        for step in path[:-1]:
            here = here[step]
        return here, path[-1]

    return place


def put(value: Any, *path: Any) -> Callable[[Body], None]:
    """Replace what lies at a path; a function is applied to it."""

    def forge(body: Body) -> None:
        here, key = at(*path)(body)
        new = value(here[key]) if callable(value) else value
        assert here[key] != new
        here[key] = new

    return forge


def without(name: str) -> Callable[[Body], None]:
    def forge(body: Body) -> None:
        kept = [item for item in body["assumptions"] if item["name"] != name]
        assert len(kept) == len(body["assumptions"]) - 1
        body["assumptions"] = kept

    return forge


SUPREMUM = ("claim", "supremum")
FORGERIES: dict[str, Callable[[Body], None]] = {
    "a smaller epsilon": put(lambda x: x * (1 - 1e-9), *SUPREMUM, "upper"),
    "a larger lower end": put(lambda x: x * (1 + 1e-9), *SUPREMUM, "lower"),
    "no epsilon at all": put(0.0, *SUPREMUM, "upper"),
    "a wider domain": put("200001/100000", *SUPREMUM, "domain", "radius"),
    "a domain in another norm": put("2", *SUPREMUM, "domain", "norm"),
    "fewer dimensions": put(2, *SUPREMUM, "domain", "dimension"),
    "a maximiser outside": put(lambda m: {**m, "norm(1)": "3"}, *SUPREMUM, "maximiser"),
    "half the loss": put(lambda x: ["multiply", ["constant", "1/2"], x], "inputs", "loss"),
    "half the profile": put(lambda x: ["multiply", ["constant", "1/2"], x], "claim", "profile", "remove"),
    "another add direction": put(lambda x: ["multiply", ["constant", "1/2"], x], "claim", "profile", "add"),
    "another rate": put(lambda x: ["multiply", ["constant", "1/2"], x], "inputs", "rate"),
    "no weights": put(False, "inputs", "weighted"),
    "no rounding": put("0", "inputs", "rounding"),
    "a cost that is not in the profile": put("1/10", "inputs", "released_cost"),
    "another theorem": put("IS Theorem 7", "theorem"),
    "another notion": put("approximate", "claim", "notion"),
    "another unit": put("user", "claim", "unit"),
    "another relation": put("replace", "claim", "relation"),
    "heuristic evidence": put("heuristic", "mechanism", "evidence"),
    "evidence that is not assumed": put("cited", "sampler", "evidence"),
    "another scale": put("2", "mechanism", "options", "scale"),
    "another floor": put("1/50", "sampler", "options", "floor"),
    "an audience without data": put("owner", "audience"),
    "another format": put("certdp-certificate/2", "format"),
    "another kind": put("sampled-renyi-profile", "kind"),
    "no scale among the assumptions": without("mechanism.scale"),
    "no radius among the assumptions": without("radius"),
    "no dimension among the assumptions": without("dimension"),
    "no evidence among the assumptions": without("evidence of mechanism laplace-sum"),
    "an extra key": lambda body: body.update(extra=1),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_field_is_refused(name: str) -> None:
    body = body_of(certdp.profile_certificate(RUN.on(DOMAIN)))
    assert check(sealed(copy.deepcopy(body))).accepted
    FORGERIES[name](body)
    verdict = check(sealed(body))
    assert not verdict.accepted, verdict
    assert verdict.reason


OWNERS_FORGERIES: dict[str, Callable[[Body], None]] = {
    "a smaller largest psi": put(lambda x: x * (1 - 1e-6), "data", "psi_max"),
    "a smaller sample": put(lambda ends: [0.5 * end for end in ends], "data", "expected_sample_size"),
    "a larger sample": put(lambda ends: [1.5 * end for end in ends], "data", "expected_sample_size"),
    "fewer records": put(lambda count: count - 1, "data", "records"),
    "more records": put(lambda count: count + 1, "data", "records"),
    "more columns": put(lambda count: count + 1, "data", "columns"),
    "another nonce": put("00" * 32, "data", "nonce"),
    "another commitment": put("00" * 32, "data", "commitment"),
    "dropped instead of clipped": put("drop", "data", "outside"),
    "nothing outside": put("none", "data", "outside"),
}


@pytest.mark.parametrize("name", OWNERS_FORGERIES)
def test_a_forged_figure_is_refused_beside_the_data(name: str) -> None:
    data = records()
    body = body_of(certdp.owner_certificate(RUN.on(DOMAIN), data))
    assert check(sealed(copy.deepcopy(body)), Rows(data.tolist())).accepted
    OWNERS_FORGERIES[name](body)
    verdict = check(sealed(body), Rows(data.tolist()))
    assert not verdict.accepted, verdict


def about(name: str) -> About:
    return About(name=name, version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="a test")


@frozen(kw_only=True)
class AnySampler:
    about: ClassVar[About] = about("any-sampler")
    declared: Public[SamplingRate] = field()

    @property
    def rate(self) -> SamplingRate:
        return self.declared.value


CONSTANTS = st.fractions(Fraction(1, 20), 3, max_denominator=20).map(Constant)


def _grown(parts: Any) -> Any:
    return st.one_of(
        st.builds(lambda a, b: a + b, parts, parts),
        st.builds(lambda a, b: a * b, parts, parts),
        st.builds(minimum, parts, parts),
        st.builds(maximum, parts, parts),
        st.builds(lambda a, b: a / (b + 1), parts, parts),
        st.builds(sqrt, parts),
        st.builds(log1p, parts),
        st.builds(lambda a: expm1(minimum(a, 2)), parts),
        st.builds(lambda a: exp(minimum(a, 2)), parts),
    )


@st.composite
def compositions(draw: Any) -> tuple[Expression, Expression]:
    """A loss and a rate, in one norm: two may take minutes to search."""
    length = st.just(norm(draw(st.sampled_from([1, 2, "inf", "3/2"]))))
    losses = st.recursive(st.one_of(CONSTANTS, length, st.just(W)), _grown, max_leaves=5 if in_full() else 3)
    rates = st.recursive(st.one_of(CONSTANTS, length), _grown, max_leaves=4 if in_full() else 3)
    return draw(losses), draw(rates)


FLOORS = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 3)])


@pytest.mark.slow
@given(compositions(), FLOORS, st.booleans(), st.sampled_from(["1/2", "1", "3"]))
@examples(30)
def test_producer_and_checker_agree(
    composition: tuple[Expression, Expression], floor: Fraction, weighted: bool, radius: str
) -> None:
    """Whatever can be certified is proven again, and no record of the domain loses more than is certified."""
    loss, rate = composition
    run = SampledRun(
        mechanism=AnyMechanism(declared=Public(PureLoss(loss))),
        sampler=AnySampler(declared=Public(SamplingRate(minimum(1, maximum(floor, rate)), weighted=weighted))),
    )
    domain = ball(run.norm, radius)
    try:
        content = certdp.profile_certificate(run.on(domain))
    except NoFiniteSupremum:
        assert weighted
        assert floor == 0
        return
    verdict = check(content)
    if verdict.reason == "the check could not be finished within the work budget":
        reject()  # a plateau with many cells: no disagreement
    assert verdict.accepted, (verdict, content.decode())
    assert verdict.claim is not None
    assert verdict.claim.epsilon is not None
    upper = verdict.claim.epsilon[1]
    for size in np.linspace(0.001, 1, 25) * float(Fraction(radius)):
        known = {v: float(size) if v.symbol is Kind.NORM else 0.0 for v in variables(run.profile.remove)}
        assert float(evaluate(run.profile.remove, known)) <= upper * (1 + 1e-9)


def test_a_certificate_states_nothing_of_the_data() -> None:
    data = records()
    owned = body_of(certdp.owner_certificate(RUN.on(DOMAIN), data))
    public = body_of(certdp.profile_certificate(RUN.on(DOMAIN)))
    assert public["data"] is None
    assert {**owned, "audience": "public", "data": None} == public


def test_what_cannot_be_certified_says_so() -> None:
    with pytest.raises(CertdpError):
        certdp.profile_certificate(
            SampledRun(mechanism=Count(scale=Public(1)), sampler=Importance(rate=Public(1), norm=Public(2))).on(
                ball(Norm.L2, 1)
            )
        )
