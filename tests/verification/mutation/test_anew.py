"""Mutants of what importing the package computes, and of functions whose code cannot be exchanged."""

from __future__ import annotations

import subprocess
import sys

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.verification.mutation import fresh
from certdp.verification.mutation.anew import attempt_anew, executed_by_imports
from certdp.verification.mutation.exemptions import exemptions
from certdp.verification.mutation.killing import Ending, Guard, Outcome
from certdp.verification.mutation.mutants import mutants_of
from certdp.verification.mutation.scoring import _verdict

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


PLANTS_IN_ONE = """
import gc, importlib
from certdp.verification.checker import rationals as module
from certdp.verification.mutation.mutants import mutants_of
from certdp.verification.mutation.planting import CannotBePlanted, loaded_functions, plant
loaded_functions()
mutant = next(mutant for mutant in mutants_of("verification.checker.rationals") if mutant.in_function)
function = getattr(module, mutant.place)
{changed}
before = function.__code__
try:
    plant(mutant)
except CannotBePlanted:
    planted = False
else:
    planted = function.__code__ is not before
assert planted is {planted}
"""


@pytest.mark.parametrize(
    ("changed", "planted"),
    [
        ("", True),
        ("importlib.reload(module); function = getattr(module, mutant.place)", True),
        ("module.__file__ = '/elsewhere.py'", False),  # a copy of the module, of another file
        ("function.__code__ = (lambda: None).__code__", False),  # what runs is something else
    ],
    ids=["loaded before", "loaded anew", "another file", "other code"],
)
def test_a_mutant_that_nobody_would_run_is_not_planted(changed: str, planted: bool) -> None:
    subprocess.run([sys.executable, "-c", PLANTS_IN_ONE.format(changed=changed, planted=planted)], check=True)


IMPORTS_EARLIER = """
import marshal, sys
from certdp.verification.mutation import fresh
{before}
code = marshal.dumps(compile({source!r}, "/nowhere.py", "exec"))
job = fresh.Job(module="certdp.verification.mutation.warm", code=code, claims=[], tests=[], files=[], seconds=60)
sys.exit(fresh._run(job))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "source", "status"),
    [
        ("", "planted = True", fresh.HELD),
        ("", "raise ValueError", fresh.NOTICED),
        ("import certdp.verification.mutation.warm", "planted = True", fresh.UNPLANTED),
        ("import certdp.verification.mutation.warm", "raise ValueError", fresh.UNPLANTED),
    ],
    ids=["planted", "refused", "imported before", "imported before what would be refused"],
)
def test_a_module_that_was_imported_before_has_no_mutant(before: str, source: str, status: int) -> None:
    script = IMPORTS_EARLIER.format(before=before, source=source)
    assert subprocess.run([sys.executable, "-c", script], stderr=subprocess.DEVNULL, check=False).returncode == status


def test_what_could_not_be_planted_has_no_fate() -> None:
    mutant = mutants_of("verification.checker.rationals")[0]
    for exemption in (None, exemptions()[0]):
        with pytest.raises(InvalidValue, match="a mutant that can be planted"):
            _verdict(mutant, exemption, Ending(Outcome.UNPLANTED, "", 0, 0.0))


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
