"""Statements of certificates: what the checker proved and no more, in words, in Markdown and as a registry's record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from attrs import evolve, fields

import certdp
from certdp import (
    Delta,
    Full,
    GaussianSum,
    Importance,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    PrivateWeightedSampling,
    Public,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import RELATIONS, Change
from certdp.durable.files import digest_of
from certdp.interoperation import read_peer_file
from certdp.interoperation.proven_claims import proven
from certdp.verification.checker import check
from certdp.verification.reports.registry import (
    CuratorType,
    Deployment,
    ProductType,
    TrustModel,
    as_registry,
    record_of,
)
from certdp.verification.reports.statement import (
    NOT_SAID,
    Statement,
    Variant,
    as_markdown,
    as_text,
    sections,
    statement_of,
)
from tests.support.forgeries import body_of, seal
from tests.support.registry import faults

DEPLOYMENT = Deployment(
    name="Noisy Sums, 2nd edition",
    curator="An office",
    curator_type=CuratorType.GOVERNMENT,
    description="sums: of what was counted # with noise",
    intended_use="planning",
    product_type=ProductType.SUMMARY_STATISTICS,
    region="nowhere",
    published=date(2026, 1, 31),
    author="ann",
)
PURE = SampledRun(
    mechanism=LaplaceSum(scale=Public(1)),
    sampler=Importance(rate=Public("0.3"), norm=Public(1)),
    domain=NormBall(norm=Norm.L1, radius=Public(5)),
)
BALL = NormBall(norm=Norm.L2, radius=Public(1))
TRAINING = SampledRun(
    mechanism=GaussianSum(noise_multiplier=Public(2)),
    sampler=Poisson(rate=Public("0.01")),
    releases=ResampleEach(100),
)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return {
        "pure": certdp.profile_certificate(PURE),
        "approximate": certdp.certificate(TRAINING, TRAINING.epsilon(Delta("1e-6"))).content,
        "keys": PrivateWeightedSampling.within(epsilon=1, delta="1e-3").certificate(),
        "described": described(tmp_path_factory.mktemp("described") / "state.json"),
    }


def described(place: Path) -> bytes:
    """Of what a file of another tool says was released: who a record is stands beside the proof."""
    rounds = {"event": {"noise_multiplier": 5.0, "sample_size": 10, "population_size": 1000}, "count": 10}
    state = {
        "schema_version": 1,
        "backend": "any",
        "config": {
            "target_delta": 1e-5,
            "population_size": 1000,
            "neighboring_relation": "add-or-remove-one",
            "sampling_method": "no-amplification",
        },
        "orders": [2],
        "compositions": [rounds],
    }
    place.write_text(json.dumps(state), "utf-8")
    certificate = proven(read_peer_file(place), "2.6", "1e-5").certificate
    assert certificate is not None
    return certificate


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("relation", RELATIONS.values(), ids=RELATIONS)
def test_every_change_of_the_data_is_told_of_whom_it_is(relation: Change, group: int) -> None:
    run = SampledRun(mechanism=GaussianSum(scale=Public(5)), sampler=Full(), domain=BALL, relation=relation)
    stated = statement_of(certdp.certificate(run, run.epsilon(Delta("1e-5")), group=group).content)
    whom = "record" if group == 1 else "group of at most 3 records"
    assert stated.change.startswith(f"they differ in one {whom}, which ")
    assert f"unit of privacy: {whom}\n" in as_text(stated)
    assert record_of(stated, DEPLOYMENT)["deployment"]["privacy_loss"]["privacy_unit"] == whom
    assert faults(as_registry(stated, DEPLOYMENT)) == []


@pytest.mark.parametrize("name", ["pure", "approximate", "keys"])
def test_a_statement_says_what_the_checker_proved(name: str, certificates: dict[str, bytes]) -> None:
    certificate = certificates[name]
    stated, claim = statement_of(certificate), check(certificate).claim
    assert claim is not None
    assert claim.bound is not None
    assert stated.claim == claim
    assert stated.digest == digest_of(certificate)
    assert stated.epsilon is not None
    assert stated.delta is not None
    assert Fraction(stated.epsilon) >= claim.bound[0]
    assert Fraction(stated.delta) >= claim.bound[1]
    assert stated.variant is (Variant.PURE if name == "pure" else Variant.APPROXIMATE)
    for written in (as_text(stated), as_markdown(stated)):
        plain = written.replace("\\", "")
        for value in (claim.guarantee, claim.theorem, stated.digest, *(row[0] for row in NOT_SAID)):
            assert value in plain


@pytest.mark.parametrize("name", ["pure", "approximate", "keys", "described"])
def test_nothing_that_a_certificate_supposes_is_left_out(name: str, certificates: dict[str, bytes]) -> None:
    """A statement for people said "per record", and not that a record was a client with all of its data."""
    stated = statement_of(certificates[name])
    implementation: str = record_of(stated, DEPLOYMENT)["deployment"]["implementation"]["mechanisms"]
    pages = [as_text(stated), as_markdown(stated).replace("\\", ""), implementation]
    rows = [row for section in sections(stated) for row in section.rows]
    for assumption in (*stated.claim.assumptions, *stated.claim.beside):
        assert assumption in rows
        assert all(part in page for page in pages for part in assumption)
    assert any("clients" in value for _, value in stated.claim.beside) is (name == "described")
    assert ("unchecked" in implementation) is bool(stated.claim.beside)


IN_OTHER_NOTIONS: dict[str, tuple[Callable[[], Any], Variant, dict[str, float]]] = {
    "renyi": (lambda: TRAINING.renyi(4), Variant.RENYI, {}),
    "rho": (TRAINING.zero_concentrated, Variant.ZERO_CONCENTRATED, {"rho": 12.5}),
    "mu": (TRAINING.gaussian, Variant.CUSTOM, {}),
    "risk": (lambda: certdp.risk(TRAINING), Variant.CUSTOM, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_OTHER_NOTIONS)
def test_other_notions_are_stated_as_the_registry_names_them(name: str) -> None:
    ask, variant, parameters = IN_OTHER_NOTIONS[name]
    stated = statement_of(certdp.certificate(TRAINING, ask()).content)
    assert stated.variant is variant
    assert (stated.epsilon, stated.delta) == (None, None)
    loss = record_of(stated, DEPLOYMENT)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == pytest.approx(parameters, rel=1e-9)
    assert stated.claim.guarantee in loss["privacy_parameters_details"]
    assert faults(as_registry(stated, DEPLOYMENT)) == []
    for number, end in stated.claim.parameters:
        (told,) = {row for one in sections(stated) for row in one.rows if row[0] == number}
        shown = Fraction(told[1].rpartition(" ")[2])
        assert shown <= end if number == "bayes-risk" else shown >= end


def forged(certificates: dict[str, bytes]) -> Iterator[bytes]:
    yield b""
    yield certificates["pure"][:-9]
    body = body_of(certificates["approximate"])
    body["claim"]["epsilon"] = "1/1000"
    yield seal(body)


def test_what_the_checker_refuses_has_no_statement(certificates: dict[str, bytes]) -> None:
    for certificate in forged(certificates):
        with pytest.raises(InvalidValue, match="a certificate that the checker accepts"):
            statement_of(certificate)


def test_a_profile_without_an_epsilon_has_no_statement() -> None:
    with pytest.raises(InvalidValue, match="claims an ε"):
        statement_of(certdp.profile_certificate(evolve(PURE, domain=None)))


def test_an_owners_certificate_has_no_statement() -> None:
    with pytest.raises(InvalidValue, match="one for publication"):
        statement_of(certdp.owner_certificate(PURE, np.array([[1.0, 2.0], [0.5, 0.0]])))


def test_what_is_taken_from_an_author_is_in_the_title(certificates: dict[str, bytes]) -> None:
    body = body_of(certificates["approximate"])
    assumptions = body["assumptions"]
    body["parts"][0]["mechanism"].update(name="theirs\x1b[2J|`<b>", distribution="acme")
    for one in assumptions:
        one["name"] = one["name"].replace("gaussian-sum", "theirs\x1b[2J|`<b>")
    verdict = check(seal(body))
    if not verdict.accepted:  # then no name that does something to a terminal comes this far
        body["parts"][0]["mechanism"]["name"] = "theirs"
        for one in assumptions:
            one["name"] = one["name"].replace("theirs\x1b[2J|`<b>", "theirs")
    stated = statement_of(seal(body))
    assert "assuming what its author states" in stated.title
    loss = record_of(stated, DEPLOYMENT)["deployment"]["privacy_loss"]
    assert "assuming what its author states" in loss["privacy_parameters_details"]
    assert (
        "holds assuming the profile"
        in record_of(stated, DEPLOYMENT)["deployment"]["administrative"]["evidence_sources"]["certificate"]["misc"][
            "note"
        ]
    )
    assert "\x1b" not in as_text(stated) + as_markdown(stated)


def hostile(stated: Statement) -> Statement:
    claim = stated.claim
    ours = {"assumptions": (("a | b", "x\n# y"), ("\x1b[31m", "<script>*`"))}
    return evolve(stated, claim=type(claim)(**{**vars(claim), **ours}))


def test_words_of_an_author_are_shown_and_do_nothing(certificates: dict[str, bytes]) -> None:
    stated = hostile(statement_of(certificates["pure"]))
    text, markdown = as_text(stated), as_markdown(stated)
    assert "\x1b" not in text + markdown
    assert text.isascii()
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    assert "<script>" not in markdown.replace("\\<", "")
    assert not [line for line in markdown.splitlines() if line.startswith("# y")]
    assert [one.title for one in sections(stated)] == [
        one.title for one in sections(statement_of(certificates["pure"]))
    ]


@pytest.mark.parametrize("model", [None, TrustModel.CENTRAL])
@pytest.mark.parametrize("name", ["pure", "approximate", "keys", "described"])
def test_a_record_has_the_fields_of_the_registry(
    name: str, model: TrustModel | None, certificates: dict[str, bytes]
) -> None:
    stated = statement_of(certificates[name])
    written = as_registry(stated, evolve(DEPLOYMENT, trust_model=model))
    record: Any = yaml.safe_load(written)
    assert record == record_of(stated, evolve(DEPLOYMENT, trust_model=model))
    assert faults(written) == []
    assert record["url_slug"] == "noisy-sums-2nd-edition-an-office-2026"
    deployment = record["deployment"]
    assert list(deployment["basic"]) == [
        "name",
        "data_curators",
        "description",
        "intended_use",
        "data_product_type",
        "data_product_region",
        "publication_date",
    ]
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == stated.epsilon
    assert parameters.get("delta", 0) == stated.delta
    assert deployment["basic"]["publication_date"] == "2026-01-31"
    assert ("deployment_model" in deployment) is (model is not None)
    assert deployment["administrative"]["tier"] == (1 if model is None else 2)
    assert stated.digest in str(deployment["administrative"]["evidence_sources"])


BROKEN: dict[str, Callable[[str], str]] = {
    "no curator": lambda text: re.sub(r"data_curators:\n.*\n.*\n", "data_curators: []\n", text),
    "a product of no known type": lambda text: text.replace("Summary statistics", "Sums"),
    "a date that is no text": lambda text: text.replace("'2026-01-31'", "2026-01-31"),
    "no such day": lambda text: text.replace("2026-01-31", "2026-02-31"),
    "another field": lambda text: text.replace("  basic:\n", "  basic:\n    epsilon: 1\n"),
    "no tier": lambda text: re.sub(r" +tier: \d\n", "", text),
    "a source without a kind": lambda text: text.replace("Other public source", "a certificate"),
    "folded text": lambda text: text.replace("intended_use: planning", "intended_use: >\n      planning"),
    "an escape": lambda text: text.replace("intended_use: planning", "intended_use: a \\\\b"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_registry_would_refuse_what_is_wrong(name: str, certificates: dict[str, bytes]) -> None:
    written = as_registry(statement_of(certificates["pure"]), DEPLOYMENT)
    broken = BROKEN[name](written)
    assert broken != written
    assert faults(broken)


def test_what_describes_a_deployment_is_a_line_of_text() -> None:
    texts = [one.name for one in fields(Deployment) if isinstance(getattr(DEPLOYMENT, one.name), str)]
    assert len(texts) == 6
    for name in texts:
        for wrong in ("", "  ", "a\nb", "\x1b", 3):
            changed: dict[str, Any] = {name: wrong}
            with pytest.raises(InvalidValue if isinstance(wrong, str) else InvalidType, match=name):
                evolve(DEPLOYMENT, **changed)
