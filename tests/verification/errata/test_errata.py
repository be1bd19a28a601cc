"""The table of errata: every row is witnessed or says why not, and the page shows what the controls find."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Claim, Expectation, Finding
from certdp.verification import claims as built_in
from certdp.verification.errata.errata import ERRATA, Erratum, entries
from certdp.verification.errata.page import Witness, page, stated_witness

PAGE = Path(__file__).parents[3] / "docs/errata.md"

MODULES = [importlib.import_module(f"{built_in.__name__}.{m.name}") for m in pkgutil.iter_modules(built_in.__path__)]
CLAIMS: list[Claim] = [claim for module in MODULES for claim in getattr(module, "CLAIMS", ())]
CONTROLS = [claim for claim in CLAIMS if claim.erratum is not None]

FOREIGN = Claim(
    id="test/elsewhere",
    statement="Another paper, Lemma 1",
    says="x is below 3",
    cases=lambda: st.fixed_dictionaries({"x": st.integers(0, 9)}),
    examine=lambda case: Finding(case["x"] < 3, f"x = {case['x']}", "3"),
    expectation=Expectation.REJECTED,
    erratum="OTHER-L1",
)


def test_rows_are_told_apart() -> None:
    names = [erratum.id for erratum in ERRATA]
    assert len(names) == len(set(names))
    assert [erratum.paper for erratum in ERRATA] == ["IS"] * 13 + ["PWS"] * 9 + ["DPIS"] * 10
    with pytest.raises(InvalidValue, match="IS, PWS or DPIS"):
        Erratum(id="XYZ-1", statement="", printed="", holds="")


@pytest.mark.parametrize("entry", entries(CLAIMS), ids=lambda entry: entry.id)
def test_a_row_has_witnesses_or_says_why_not(entry: object) -> None:
    (row,) = entries(CLAIMS, getattr(entry, "id", ""))
    assert row.erratum is not None, "a control of the library names an erratum that the table lacks"
    assert bool(row.controls) is (row.erratum.unwitnessed is None)


def test_rows_are_found_by_their_id_and_by_that_of_a_control() -> None:
    assert [row.id for row in entries(CLAIMS, "IS-Eq*")] == ["IS-Eq5", "IS-Eq4"]
    assert [row.id for row in entries(CLAIMS, "is/equation-4-printed")] == ["IS-Eq4"]
    with pytest.raises(InvalidValue, match="Did you mean IS-T6-proof"):
        entries(CLAIMS, "IS-T6-prof")


@pytest.mark.parametrize("claim", CONTROLS, ids=lambda claim: claim.id)
def test_stated_witnesses_contradict(claim: Claim) -> None:
    witness = stated_witness(claim)
    assert claim.expectation is Expectation.REJECTED
    assert witness is not None
    assert not witness[1].holds
    assert len(witness[1].closed_form) <= 200
    assert len(witness[1].independent) <= 200


@pytest.mark.parametrize("claim", CONTROLS, ids=lambda claim: claim.id)
def test_stated_witnesses_are_written_in_exact_numbers(claim: Claim) -> None:
    def exact(value: object) -> bool:
        return all(map(exact, value)) if isinstance(value, tuple | list) else not isinstance(value, float)

    assert claim.witness is not None
    assert all(map(exact, claim.witness.values()))


@pytest.mark.slow
def test_the_page_is_the_table_and_its_witnesses() -> None:
    witnesses: dict[str, Witness] = {c.id: found for c in CONTROLS if (found := stated_witness(c)) is not None}
    assert PAGE.read_text("utf-8") == page(entries(CLAIMS), witnesses), (
        "write it anew: certdp verify --errata --no-third-party --markdown docs/errata.md"
    )


def test_an_erratum_that_another_distribution_states_is_a_row_of_its_own() -> None:
    found = entries([*CLAIMS, FOREIGN])
    assert found[-1].id == "OTHER-L1"
    assert found[-1].erratum is None
    text = page(found[-1:], {FOREIGN.id: ({"x": 3}, FOREIGN.examine({"x": 3}))})
    assert "### OTHER-L1\n\n- Stated by: test/elsewhere, Another paper, Lemma 1\n- Printed: x is below 3\n" in text
    assert text.endswith("“x is below 3”:\n\n- case: x = 3\n- as printed: x = 3\n- recomputed: 3\n")
    assert page(found[-1:], {}).endswith("- none was found\n")


def test_a_control_of_another_distribution_goes_beside_those_of_the_row() -> None:
    (row,) = entries([*CLAIMS, evolve(FOREIGN, erratum="IS-Eq4")], "IS-Eq4")
    assert [claim.id for claim in row.controls] == ["is/equation-4-printed", "test/elsewhere"]
