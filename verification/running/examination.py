"""One claim: a search for a case that contradicts it, shrunk to the smallest found, and its own proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from ...plugins.contract import Case, Claim, Expectation, Finding
from ...plugins.contract.claims import Proof
from .results import Example, Outcome, Result


class _Contradicted(Exception):
    """Carries a case that contradicts its claim."""

    def __init__(self, case: Case, finding: Finding) -> None:
        super().__init__(case)
        self.case = case
        self.finding = finding


class _Broken(Exception):
    """Carries the case on which an examination broke; the cause is what it raised."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.case = case


Note: TypeAlias = Callable[[int, Case | None], None]
"""Told how many cases were tried, and the one that is being examined, if any."""


def check(claim: Claim, examples: int, seed: int, note: Note = lambda *_: None, *, shrink: bool = True) -> Result:
    """Look for a case that contradicts the claim, then examine the witness that it states and prove what it proves.

    Args:
        claim: what to check.
        examples: most cases to generate; shrinking a witness examines some more.
        seed: of the search.
        note: told before and after each examination.
        shrink: whether to look for the smallest witness once one is found.

    Guarantees:
        Nothing that the claim raises passes through, but an interruption.
    """
    started = time.perf_counter()
    tried = 0
    witness: Case | None = None
    finding: Finding | None = None
    error: str | None = None
    proof: Proof | None = None
    example: Example | None = None

    def examined(case: Case) -> Finding:
        note(tried, case)
        try:
            return claim.examine(case)
        finally:
            note(tried, None)

    def attempt(case: Case) -> None:
        nonlocal tried, example
        tried += 1
        try:
            outcome = examined(case)
            holds = outcome.holds
        except (Exception, SystemExit) as problem:
            raise _Broken(case) from problem
        if not holds:
            raise _Contradicted(case, outcome)
        example = Example(case=case, finding=outcome)

    try:
        _search(claim, attempt, examples, seed, shrink)
    except _Contradicted as contradiction:
        witness, finding = contradiction.case, contradiction.finding
    except _Broken as broken:
        witness, error = broken.case, _formatted(broken.__cause__)
    except Exception as problem:  # the strategy itself, or a health check of the search
        error = _undrawn(problem, tried)
    if error is None and not tried:
        error = "no case was examined"
    if error is None and claim.witness is not None:
        try:
            stated = examined(claim.witness)
        except Exception as problem:
            witness, error = claim.witness, _formatted(problem)
        else:
            if witness is not None:  # the search must find one of its own as well
                witness, finding = claim.witness, stated
                error = "the witness that it states does not contradict it" if stated.holds else None
    if error is None and claim.prove is not None:
        try:
            proof = claim.prove()
        except Exception as problem:
            error = f"its proof broke: {_formatted(problem)}"
    return Result(
        claim=claim,
        outcome=_outcome(claim, witness, proof, error),
        cases_tried=tried,
        witness=witness,
        finding=finding,
        proof=proof,
        seconds=time.perf_counter() - started,
        error=error,
        example=example if witness is None and error is None else None,
    )


def _outcome(claim: Claim, witness: Case | None, proof: Proof | None, error: str | None) -> Outcome:
    if error is not None:
        return Outcome.ERROR
    if claim.expectation is Expectation.REJECTED:
        return Outcome.NOT_REJECTED if witness is None else Outcome.REJECTED
    return Outcome.HOLDS if witness is None and (proof is None or proof.holds) else Outcome.FAILS


def _search(claim: Claim, attempt: Callable[[Case], None], examples: int, seed: int, shrink: bool) -> None:
    """Raise what `attempt` raises on the smallest case found, or on the first, if it raises on any."""
    import hypothesis

    phases = (hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrink else []))
    configured = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,  # the seed decides
        phases=phases,
        print_blob=False,
        report_multiple_bugs=False,
        # Slow cases cost time, which the result states; they say nothing about the claim. The checks that bear on
        # how many cases are really examined stay: a strategy that filters too much is reported as an error.
        suppress_health_check=(hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.nested_given),
        verbosity=hypothesis.Verbosity.quiet,
    )
    with _nothing_from_elsewhere():
        hypothesis.seed(seed)(configured(hypothesis.given(claim.cases())(attempt)))()


@contextmanager
def _nothing_from_elsewhere() -> Iterator[None]:
    """Keep hypothesis from seeding cases with the literals of whatever modules happen to be loaded.

    Newer versions read the source of every module outside site-packages, offer its constants as inputs and store
    them in the working directory: then a seed would not determine the cases, and a check would write files. Where
    a version has no such feature there is nothing to switch off.
    """
    try:
        providers: Any = import_module("hypothesis.internal.conjecture.providers")
        constants = import_module("hypothesis.internal.constants_ast").Constants
        original = providers._get_local_constants
    except (ImportError, AttributeError):
        yield
        return
    providers.CONSTANTS_CACHE.cache.clear()
    providers._get_local_constants = lambda: constants()
    try:
        yield
    finally:
        providers._get_local_constants = original
        providers.CONSTANTS_CACHE.cache.clear()


def _undrawn(problem: Exception, tried: int) -> str:
    """Why the search ended without a verdict, in words about the claim."""
    from hypothesis import errors

    match problem:
        case errors.Unsatisfiable():
            return "no case was examined: its cases exclude one another, or its filters let none through"
        case errors.FailedHealthCheck():
            return (
                f"the search gave up after {tried} cases: its filters let too few through, or its cases are too large; "
                "draw smaller ones that need no filter"
            )
        case errors.Flaky():
            return "one case came to different outcomes: they must follow from the case alone, not from coins or time"
    return f"its cases cannot be drawn: {_formatted(problem)}"


def _formatted(problem: BaseException | None) -> str:
    return f"{type(problem).__name__}: {problem}"
