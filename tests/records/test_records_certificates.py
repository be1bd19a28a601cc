"""What an owner's certificate binds: the records, their number, what they lose at most, and what lies outside."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from certdp import (
    Importance,
    LaplaceSum,
    Norm,
    NormBall,
    Outside,
    PrivacyConstrained,
    Public,
    SampledRun,
    owner_certificate,
    record_losses,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.private import InvalidData
from certdp.runs.certificates import pure_claim
from certdp.verification.checker import check
from tests.support.stated import Rows

RUN = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=Importance(rate=Public("0.1"), norm=Public(1)))
BALL = NormBall(norm=Norm.L1, radius=Public(2))
DATA = np.random.default_rng(3).normal(size=(41, 3))


def owned(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content)["data"]
    return found


@pytest.mark.parametrize("outside", list(Outside))
def test_it_says_what_was_found(outside: Outside) -> None:
    run = RUN.on(BALL)
    losses = record_losses(run, DATA, outside)
    found = owned(owner_certificate(run, DATA, outside))
    assert (found["records"], found["columns"], found["outside"]) == (41, 3, outside.value)
    assert tuple(found["expected_sample_size"]) == losses.reveal().expected_sample_size
    largest = losses.reveal().largest
    assert largest * (1 + 2**-28.1) < float(found["psi_max"]) < largest * (1 + 2**-27.9)


def test_no_more_than_the_target_that_weights_are_solved_for() -> None:
    run = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=PrivacyConstrained(target=Public("0.6")))
    content = owner_certificate(run, DATA)
    assert float(owned(content)["psi_max"]) == pure_claim(run).ceiling
    assert check(content, Rows(DATA.tolist())).accepted


def test_records_that_lose_nothing_lose_exactly_nothing() -> None:
    found = owned(owner_certificate(RUN, np.zeros((3, 2)), losses=record_losses(RUN, np.zeros((3, 2)))))
    assert float(found["psi_max"]) == 0


def test_without_a_domain_nothing_lies_outside() -> None:
    content = owner_certificate(RUN, DATA)
    assert owned(content)["outside"] == "none"
    assert check(content, Rows(DATA.tolist())).accepted


def test_each_certificate_has_a_nonce_of_its_own() -> None:
    first, second = (owned(owner_certificate(RUN.on(BALL), DATA)) for _ in range(2))
    assert len({first["nonce"], second["nonce"]}) == len({first["commitment"], second["commitment"]}) == 2
    assert {len(bytes.fromhex(each["nonce"])) for each in (first, second)} == {32}


def test_a_loss_beyond_the_floats_is_refused() -> None:
    with pytest.raises(InvalidData, match="records with a finite ψ") as refused:
        owner_certificate(
            SampledRun(mechanism=LaplaceSum(scale=Public("1e-300")), sampler=RUN.sampler), [[1e300, 0.0], [1.0, 2.0]]
        )
    assert "1e300" not in str(refused.value)


@pytest.mark.parametrize("records", [40, 42])
def test_losses_of_other_records_are_refused(records: int) -> None:
    others = record_losses(RUN, np.resize(DATA, (records, 3)))
    with pytest.raises(InvalidData, match="those of another number of records"):
        owner_certificate(RUN, DATA, losses=others)


def test_a_run_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidType, match="run"):
        owner_certificate(RUN.mechanism, DATA)  # type: ignore[arg-type]


def test_records_of_another_dimension_than_the_domain_are_refused() -> None:
    of_three = record_losses(RUN, DATA)
    run = RUN.on(NormBall(norm=Norm.L1, radius=Public(2), dimension=2))
    with pytest.raises(InvalidValue, match="3, the number of columns"):
        owner_certificate(run, DATA, losses=of_three, claim=pure_claim(RUN.on(BALL)))
