"""What came of checking a plugin against its laws; prints as a table."""

from __future__ import annotations

from enum import Enum
from typing import Any, final

from attrs import field, frozen

from ...verification.runner import Result


class Verdict(Enum):
    """What came of one law."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


@final
@frozen(kw_only=True)
class Outcome:
    """One law and what came of it.

    Attributes:
        law: its name.
        says: the law in one line.
        verdict: passed, failed or not applicable.
        reason: why it is not applicable, or what contradicts it; empty where it passed.
        result: the search behind it, with the smallest witness; None where there was none.
    """

    law: str
    says: str
    verdict: Verdict
    reason: str = ""
    result: Result | None = field(default=None, repr=False)

    @property
    def witness(self) -> str:
        """The smallest case that contradicts the law, or on which the plugin broke; empty where there is none."""
        witness = self.result.witness if self.result else None
        return ", ".join(f"{name}: {value}" for name, value in witness.items()) if witness else ""

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        told = self.result.as_json() if self.result else {}
        return {
            "law": self.law,
            "says": self.says,
            "verdict": self.verdict.value,
            "reason": self.reason or None,
            **{name: told.get(name) for name in ("witness", "cases_tried", "seconds", "error")},
            "found": told.get("closed_form"),
            "wanted": told.get("independent"),
        }


@final
@frozen(kw_only=True)
class Conformance:
    """What came of all laws; `str` is a table.

    Attributes:
        plugin: name of the plugin.
        kind: what it is.
        outcomes: one per law.
        seed: of the search; the same seed, examples and versions give the same cases.
        examples: most cases per law.
    """

    plugin: str
    kind: str
    outcomes: tuple[Outcome, ...]
    seed: int
    examples: int

    @property
    def passed(self) -> bool:
        """Whether no law fails."""
        return not self.failures

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The laws that fail."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict is Verdict.FAILED)

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "plugin": self.plugin,
            "kind": self.kind,
            "passed": self.passed,
            "seed": self.seed,
            "examples": self.examples,
            "laws": [outcome.as_json() for outcome in self.outcomes],
        }

    def __str__(self) -> str:
        width = max(len(outcome.law) for outcome in self.outcomes)
        lines = [f"{self.kind} {self.plugin}"]
        for outcome in self.outcomes:
            mark = {Verdict.PASSED: "✓", Verdict.FAILED: "✗", Verdict.NOT_APPLICABLE: "–"}[outcome.verdict]
            lines.append(f"{mark} {outcome.law:{width}}  {outcome.says}")
            if outcome.reason:
                lines.append(f"  {'':{width}}  {outcome.verdict.value}: {outcome.reason}")
            if outcome.verdict is Verdict.FAILED and outcome.witness:
                lines.append(f"  {'':{width}}  witness: {outcome.witness}")
        counted = [sum(outcome.verdict is verdict for outcome in self.outcomes) for verdict in Verdict]
        told = ", ".join(f"{count} {verdict.value}" for count, verdict in zip(counted, Verdict, strict=True))
        return "\n".join([*lines, f"{told}; seed {self.seed}"])
