"""Mutants of what importing the package computes, and of functions whose code cannot be exchanged."""

from __future__ import annotations

import subprocess
import sys

import pytest

from certdp.verification.mutation.anew import attempt_anew, executed_by_imports
from certdp.verification.mutation.killing import Guard, Outcome
from certdp.verification.mutation.mutants import mutants_of

TOO_LOW = "tests/verification/checker/test_checker_certificates.py::test_a_forgery_is_refused[precision too low]"

EXCHANGES_A_CLOSURE = """
import ast
from certdp.verification.checker import shapes
from certdp.verification.mutation.mutants import source_of
from certdp.verification.mutation.planting import CannotBePlanted, exchange
source = source_of("verification.checker.shapes")
without = source.replace("None if value is None else inner(value, where)", "None")
assert source != without
try:
    exchange("verification.checker.shapes", ast.parse(without))
except CannotBePlanted:
    pass
else:
    raise AssertionError("planted in none of the functions that are loaded")
"""


def test_a_function_that_would_capture_less_is_not_passed_over() -> None:
    subprocess.run([sys.executable, "-c", EXCHANGES_A_CLOSURE], check=True)


@pytest.mark.soundness
@pytest.mark.parametrize(("least", "noticed"), [(23, Outcome.KILLED), (25, Outcome.SURVIVED)])
def test_what_imports_compute_has_the_mutant(least: int, noticed: Outcome) -> None:
    """Kinds of certificates have their shapes when they are imported; a precision of 23 bits is a forgery."""
    (mutant,) = (
        mutant
        for mutant in mutants_of("verification.checker.statement")
        if mutant.place == "body_of" and f"integer({least}, 4096)" in mutant.after
    )
    ending = attempt_anew(mutant, [Guard(TOO_LOW, False, 1.0, {})])
    assert ending.outcome is noticed


@pytest.mark.soundness
def test_what_imports_execute_is_told() -> None:
    (imports,) = executed_by_imports()
    executed = {m.place for m in mutants_of("verification.checker.statement") if m.line in imports.touched[m.module]}
    assert "body_of" in executed
    assert len(executed) < len({mutant.place for mutant in mutants_of("verification.checker.statement")})
