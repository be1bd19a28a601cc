"""docs/paper_map.md and source_map.md tell the truth: no statement is missing, and what they name exists."""

from __future__ import annotations

import importlib
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest

from certdp.experiments.catalogue import EXPERIMENTS
from certdp.plugins.contract import Claim

ROOT = Path(__file__).parents[1]
MAP = ROOT / "docs/paper_map.md"
OTHERS = ROOT / "docs/source_map.md"

HEADINGS = ["Statement", "What it says", "Where", "Claim id"]
PLACE = re.compile(r"`(?P<path>[\w/]+\.py)` → `(?P<name>\w+(\.\w+)*)`")
CLAIM = re.compile(r"`(?P<id>[^`\s]+/[^`\s]+)`(?P<proven> ◻)?")
REASON = re.compile(r"none: \S.*")
EXPERIMENT = re.compile(r"`certdp reproduce ([^`\s]+)`")
MISPRINT = re.compile(r"\[((?:IS|PWS|DPIS)-[^:\]]+): ")


def numbered(kind: str, *numbers: float | str) -> set[str]:
    return {f"{kind} {number}" for number in numbers}


STATEMENTS = {
    "IS": numbered("Definition", 1, 2, 4, 5, 14, 18)
    | numbered("Proposition", 3, 12, 13, 16, 17)
    | numbered("Theorem", 6, 10, 15)
    | numbered("Assumption", 8, 9, 11)
    | numbered("Algorithm", 1, 2)
    | numbered("Equation", 1, "2a", "2b", "2c", *range(3, 12))
    | numbered("Figure", *range(1, 8))
    | numbered("Table", 1, 2, 3)
    | {"Problem 7", "Sec. 3.3, Laplace sum", "Sec. 3.3, variance", "Sec. 4, DP-Lloyd"}
    | {"Sec. 3.3, variance-optimal sampling", "Sec. 4, coreset sampling", "Sec. 5, noise scales"}
    | {"Sec. 5, starting centres"},
    "PWS": numbered("Lemma", 4.1, 4.2, 4.3, 4.4, 5.2)
    | numbered("Algorithm", *range(1, 7))
    | numbered("Equation", *range(1, 10))
    | numbered("Theorem 5.1, Property", 1, 2, 3)
    | numbered("Figure", *range(1, 7))
    | {"Informal Problem 1.1", "Definition 3.1", "Theorem 5.1", "Corollary 6.1"}
    | {"Sec. 3.2, neighbours", "Sec. 7.1, moments", "Sec. 8, gain over histograms"},
    "DPIS": numbered("Definition", 2.1, 2.2, 2.3, 2.4, 2.6)
    | numbered("Lemma", 2.5, 2.7, 2.8, 2.9, 3.1)
    | numbered("Equation", *range(1, 22))
    | {"Algorithm 1", "Sec. 3.4, two-stage sampling", "Sec. 4.1, total cost", "Sec. 4.2, budget allocation"},
}

MISPRINTS = {
    "IS": {"Eq4", "A1-line6", "A1-line7", "T6-proof", "Eq5", "q_core", "noise", "β", "init", "m-limit"}
    | {"P12", "P17-proof", "bisection"},
    "PWS": {"L4.2", "L any L", "L4.3", "A6", "A5", "A4", "sec8", "T5.1", "C6.1"},
    "DPIS": {"line26", "Eq19", "proof", "saturation", "stale", "3.5", "adaptive", "Eq16", "private N", "α"},
}


class Row(NamedTuple):
    """One statement of a paper."""

    statement: str
    says: str
    where: str
    claim: str


def tables(text: str) -> dict[str, list[Row]]:
    """The rows of the table under each second-level heading."""
    found: dict[str, list[Row]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        paper, _, body = section.partition("\n")
        lines = [line for line in body.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert cells[0] == HEADINGS, f"{paper}: {cells[0]}"
        wrong = [row for row in cells if len(row) != len(HEADINGS) or not all(row)]
        assert not wrong, f"{paper}: {wrong}"
        found[paper.strip()] = [Row(*row) for row in cells[2:]]
    return found


def places(where: str) -> list[tuple[str, str]]:
    """Files and names of a cell, none for "not yet"."""
    if where == "not yet":
        return []
    matches = [PLACE.fullmatch(part) for part in where.split("; ")]
    assert all(matches), f"write `path.py` → `name`; … or: not yet. Found: {where}"
    return [(match["path"], match["name"]) for match in matches if match]


def unresolved(path: str, name: str) -> str | None:
    """What is wrong with a place, if anything."""
    if not (ROOT / path).is_file():
        return f"no file {path}"
    module = "certdp." + path.removeprefix("src/certdp/").removesuffix(".py").replace("/", ".")
    thing: object = importlib.import_module(module.removesuffix(".__init__"))
    for attribute in name.split("."):
        if not hasattr(thing, attribute):
            return f"no {name} in {path}"
        thing = getattr(thing, attribute)
    return None


def registered_claims() -> dict[str, Claim]:
    """What certdp registers itself, by id."""
    registered = entry_points(group="certdp.claims")
    own = [entry.load() for entry in registered if entry.dist is not None and entry.dist.name == "certdp"]
    return {claim.id: claim for claims in own for claim in claims}


def claims_of(row: Row) -> list[str]:
    """The claims of a row; none where it says why."""
    if REASON.fullmatch(row.claim):
        return []
    parts = [CLAIM.fullmatch(part) for part in row.claim.split(", ")]
    assert all(parts), f"{row.statement}: write `source/statement`, … or none: and a reason. Found: {row.claim}"
    return [match["id"] for match in parts if match]


PAPERS = tables(MAP.read_text("utf-8"))
ROWS = [row for rows in PAPERS.values() for row in rows]
OTHER_ROWS = [row for rows in tables(OTHERS.read_text("utf-8")).values() for row in rows]


@pytest.mark.parametrize("paper", STATEMENTS)
def test_no_statement_is_missing(paper: str) -> None:
    labels = [row.statement for row in PAPERS[paper]]
    assert STATEMENTS[paper] - set(labels) == set()
    assert len(labels) == len(set(labels))


BESIDE = {"pws-order": "Corollary 6.1"}
"""Experiments that are neither figure nor table, to what they are about."""


def test_the_claims_about_batches_and_selection_are_placed() -> None:
    placed = {claim for row in OTHER_ROWS for claim in claims_of(row)}
    about = {claim for claim in registered_claims() if claim.startswith(("batches/", "selection/"))}
    assert about - placed == set(), "give them a row in docs/source_map.md"


@pytest.mark.parametrize("paper", ["IS", "PWS"])
def test_every_experiment_is_named_where_its_figure_or_table_is(paper: str) -> None:
    named = {row.statement: EXPERIMENT.findall(row.says) for row in PAPERS[paper] if EXPERIMENT.search(row.says)}
    of_paper = [name for name in EXPERIMENTS if name.startswith(f"{paper.lower()}-")]
    assert named == {
        BESIDE.get(name) or f"{'Figure' if 'fig' in name else 'Table'} {name[-1]}": [name] for name in of_paper
    }


@pytest.mark.parametrize("paper", MISPRINTS)
def test_every_misprint_is_told(paper: str) -> None:
    told = {match for row in PAPERS[paper] for match in MISPRINT.findall(row.says)}
    assert told == {f"{paper}-{name}" for name in MISPRINTS[paper]}


def test_every_place_exists() -> None:
    rows = [*ROWS, *OTHER_ROWS]
    wrong = [problem for row in rows for place in places(row.where) if (problem := unresolved(*place))]
    assert any(places(row.where) for row in ROWS)
    assert not wrong, "\n".join(wrong)


def test_every_claim_is_registered() -> None:
    named = {claim for row in [*ROWS, *OTHER_ROWS] for claim in claims_of(row)}
    assert named
    assert named - registered_claims().keys() == set()


def test_what_is_proven_on_a_box_is_marked() -> None:
    marked = {match["id"] for row in ROWS for match in CLAIM.finditer(row.claim) if match["proven"]}
    unmarked = {match["id"] for row in ROWS for match in CLAIM.finditer(row.claim) if not match["proven"]}
    assert marked == {claim.id for claim in registered_claims().values() if claim.prove is not None}
    assert not marked & unmarked


def test_every_control_of_an_erratum_is_named() -> None:
    """Those of the rows beside the map; a row of the map names every misprint, so it names what rejects it."""
    named = {claim for row in ROWS for claim in claims_of(row)}
    controls = {claim.id for claim in registered_claims().values() if claim.erratum is not None}
    assert controls - named == set()


def test_a_row_without_a_claim_says_why() -> None:
    silent = [row for row in ROWS if not claims_of(row)]
    kinds = ("none: a definition", "none: a figure", "none: a table")
    others = {row.statement for row in silent if row.claim not in kinds}
    assert others == {"Equation 5"}, "a formula, an algorithm or a bound without a claim"
    assert all(row.statement.startswith(("Figure", "Table")) for row in silent if row.claim in kinds[1:])
    assert all(row.statement.startswith("Definition") for row in silent if row.claim == kinds[0])


def test_a_claim_has_a_place() -> None:
    assert [row.statement for row in [*ROWS, *OTHER_ROWS] if claims_of(row) and row.where == "not yet"] == []


@pytest.mark.parametrize("cell", ["–", "none", "none: ", "soon", "`is/one` and `is/two`"])
def test_a_cell_names_claims_or_a_reason(cell: str) -> None:
    with pytest.raises(AssertionError, match="none: and a reason"):
        claims_of(Row("Lemma 1", "", "", cell))


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("accounting/exact.py", "exact", None),
        ("accounting/errors.py", "InvalidValue.formatted_value", None),
        ("accounting/exact.py", "inexact", "no inexact in accounting/exact.py"),
        ("accounting/errors.py", "InvalidValue.colour", "no InvalidValue.colour in accounting/errors.py"),
        ("accounting/inexact.py", "exact", "no file accounting/inexact.py"),
    ],
)
def test_places_are_resolved(path: str, name: str, expected: str | None) -> None:
    assert unresolved(path, name) == expected


@pytest.mark.parametrize("where", ["soon", "`accounting/exact.py`", "`accounting/exact.py` → exact", ""])
def test_a_place_is_a_file_and_a_name(where: str) -> None:
    with pytest.raises(AssertionError):
        places(where)


@pytest.mark.parametrize("row", ["| a | b | c |", "| a | b | c | d | e |", "| a | | c | d |"])
def test_a_row_has_four_cells(row: str) -> None:
    head = "## IS\n\n| Statement | What it says | Where | Claim id |\n|---|---|---|---|\n"
    assert tables(f"{head}| a | b | c | d |") == {"IS": [Row("a", "b", "c", "d")]}
    with pytest.raises(AssertionError):
        tables(head + row)
