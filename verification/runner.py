"""Runs claims: a search for a case that contradicts each, shrunk to the smallest one found.

A claim that should hold passes where no case contradicts it; a negative control passes where one does. A claim
whose examination breaks is a failure that says why, and the others run on.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from fnmatch import fnmatchcase
from fractions import Fraction
from importlib import import_module, metadata
from typing import Any, TypeAlias, final

from attrs import field, frozen

from ..accounting.errors import InvalidType, InvalidValue
from ..plugins.contract import Case, Claim, Expectation, Finding
from ..plugins.contract.claims import Proof

EXAMPLES = 300
"""Cases per claim where nothing else is asked for."""


@final
@frozen(kw_only=True)
class Result:
    """What came of one claim.

    Attributes:
        claim: the claim.
        passed: whether it is as expected.
        cases_tried: how often it was examined, while searching and shrinking.
        witness: the case that the claim states, else the smallest contradicting one found, or the one on which the
            examination broke.
        finding: both sides of the comparison at the witness.
        proof: what interval subdivision came to, where the claim has a proof.
        seconds: how long it took.
        error: what broke, if anything did.
    """

    claim: Claim
    passed: bool
    cases_tried: int
    witness: Case | None
    finding: Finding | None
    proof: Proof | None
    seconds: float
    error: str | None

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary, exact numbers as "p/q"."""
        claim, finding = self.claim, self.finding
        return {
            "id": claim.id,
            "statement": claim.statement,
            "says": claim.says,
            "expectation": claim.expectation.value,
            "erratum": claim.erratum,
            "passed": self.passed,
            "cases_tried": self.cases_tried,
            "witness": _plain(self.witness),
            "closed_form": finding.closed_form if finding else None,
            "independent": finding.independent if finding else None,
            "proof": _proof(self.proof),
            "seconds": self.seconds,
            "error": self.error,
        }


@final
@frozen(kw_only=True)
class Report:
    """What came of a run; the same seed, examples and versions give the same cases.

    Attributes:
        results: one per claim, in the order asked for.
        seed: of the search.
        examples: most cases generated per claim.
        versions: of what took part.
    """

    results: tuple[Result, ...]
    seed: int
    examples: int
    versions: Mapping[str, str] = field(factory=lambda: _versions())

    @property
    def passed(self) -> bool:
        """Whether every claim is as expected."""
        return all(result.passed for result in self.results)

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary, exact numbers as "p/q"."""
        return {
            "passed": self.passed,
            "seed": self.seed,
            "examples": self.examples,
            "versions": dict(self.versions),
            "results": [result.as_json() for result in self.results],
        }


Progress: TypeAlias = Callable[[Result], None]
"""Called with each result as soon as it is there."""


def select(claims: Iterable[Claim], pattern: str) -> tuple[Claim, ...]:
    """The claims whose id matches a glob, such as "is/*".

    Raises:
        InvalidValue: where none does; it lists the known ids.
    """
    everything = tuple(claims)
    chosen = tuple(claim for claim in everything if fnmatchcase(claim.id, pattern))
    if not chosen:
        known = ", ".join(claim.id for claim in everything) or "none"
        raise InvalidValue("only", pattern, "a glob that matches a claim", f"Known claims: {known}")
    return chosen


def run(
    claims: Iterable[Claim], *, examples: int = EXAMPLES, seed: int = 0, progress: Progress | None = None
) -> Report:
    """Check claims one after the other.

    Args:
        claims: what to check.
        examples: most cases to generate per claim; shrinking a witness examines some more.
        seed: of the search; nothing of one run is kept for the next.
        progress: told each result.

    Guarantees:
        A claim passes only if at least one case was examined.

    Raises:
        InvalidValue: for examples below 1 or a seed below 0. InvalidType: for no whole numbers.
    """
    for name, value, least in (("examples", examples, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidType(name, value, f"a whole number ≥ {least}")
        if value < least:
            raise InvalidValue(name, value, f"a whole number ≥ {least}")
    results = []
    for claim in claims:
        result = _check(claim, examples, seed)
        results.append(result)
        if progress is not None:
            progress(result)
    return Report(results=tuple(results), seed=seed, examples=examples)


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


def _check(claim: Claim, examples: int, seed: int) -> Result:
    started = time.perf_counter()
    tried = 0
    witness: Case | None = None
    finding: Finding | None = None
    error: str | None = None
    proof: Proof | None = None

    def attempt(case: Case) -> None:
        nonlocal tried
        tried += 1
        try:
            outcome = claim.examine(case)
            holds = outcome.holds
        except Exception as problem:
            raise _Broken(case) from problem
        if not holds:
            raise _Contradicted(case, outcome)

    try:
        _search(claim, attempt, examples, seed)
    except _Contradicted as contradiction:
        witness, finding = contradiction.case, contradiction.finding
    except _Broken as broken:
        witness, error = broken.case, _shown(broken.__cause__)
    except Exception as problem:  # the strategy itself, or a health check of the search
        error = _shown(problem)
    if error is None and not tried:
        error = "no case was examined"
    if error is None and claim.witness is not None:
        try:
            stated = claim.examine(claim.witness)
        except Exception as problem:
            witness, error = claim.witness, _shown(problem)
        else:
            if stated.holds:
                witness, finding, error = claim.witness, stated, "the witness that it states does not contradict it"
            elif witness is not None:  # the search must find one of its own as well
                witness, finding = claim.witness, stated
    if error is None and claim.prove is not None:
        try:
            proof = claim.prove()
        except Exception as problem:
            error = f"its proof broke: {_shown(problem)}"
    return Result(
        claim=claim,
        passed=error is None
        and (witness is not None) is (claim.expectation is Expectation.REJECTED)
        and (proof is None or proof.holds),
        cases_tried=tried,
        witness=witness,
        finding=finding,
        proof=proof,
        seconds=time.perf_counter() - started,
        error=error,
    )


def _search(claim: Claim, attempt: Callable[[Case], None], examples: int, seed: int) -> None:
    """Raise what `attempt` raises on the smallest case found, if it raises on any."""
    import hypothesis

    configured = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,  # the seed decides
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
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


def _proof(proof: Proof | None) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {
        "says": proof.says,
        "box": _plain(proof.box),
        "cells": proof.cells,
        "holds": proof.holds,
        "unproven": _plain(proof.unproven),
    }


def _shown(problem: BaseException | None) -> str:
    return f"{type(problem).__name__}: {problem}"


def _versions() -> dict[str, str]:
    packages = {name: metadata.version(name) for name in ("certdp", "hypothesis", "mpmath", "numpy")}
    return {**packages, "python": platform.python_version()}


def _plain(value: object) -> Any:
    """`value` in JSON's types: exact numbers as "p/q", what JSON cannot say as text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return str(value)
        case Enum():
            return _plain(value.value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item) for item in value]
        case _:
            return str(value)
