"""What a claim may bring: a proof where it holds, a witness where it must be rejected."""

from __future__ import annotations

import pytest
from attrs import evolve

from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Expectation
from certdp.plugins.contract.claims import Proof
from certdp.verification.mutation.killing import holding_claims


def proof() -> Proof:
    raise NotImplementedError


def test_a_witness_is_of_a_control_and_a_proof_of_what_holds() -> None:
    holds = evolve(holding_claims()[0], witness=None, prove=None)
    rejected = evolve(holds, expectation=Expectation.REJECTED)
    assert evolve(rejected, witness={"a case": 1}).witness == {"a case": 1}
    with pytest.raises(InvalidValue, match=f"None, because {holds.id} should hold"):
        evolve(holds, witness={"a case": 1})
    assert evolve(holds, prove=proof).prove is proof
    with pytest.raises(InvalidValue, match=f"None, because {holds.id} must be rejected"):
        evolve(rejected, prove=proof)
