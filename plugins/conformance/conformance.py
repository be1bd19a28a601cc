"""What came of checking a plugin against its laws; prints as a table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, final

from attrs import field, frozen

from ...accounting.enclosures import Enclosure
from ...verification.audit import Power
from .constants import Options, in_words


class Verdict(Enum):
    """What was found about one law."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


_MARKS = {Verdict.PASSED: "✓", Verdict.FAILED: "✗", Verdict.NOT_APPLICABLE: "–"}


@final
@frozen
class Audited:
    """Neighbours that were audited.

    Attributes:
        inputs: the neighbours, and the ε that is declared of them.
        power: how far the runs can see.
    """

    inputs: str
    power: Power

    def as_json(self) -> dict[str, Any]:
        """Return the audit as a plain dictionary for JSON."""
        declared = Enclosure.of(self.power.claimed.value).upper_float
        return {"inputs": self.inputs, "epsilon_declared": declared, **self.power.as_json()}

    def __str__(self) -> str:
        return f"{self.inputs}; {self.power}"


@final
@frozen(kw_only=True)
class Outcome:
    """The verdict on one law, and why.

    Attributes:
        law: its name.
        says: the law in one line.
        verdict: passed, failed or not applicable.
        reason: why it is not applicable, or what contradicts it; empty where it passed.
        witness: the smallest case found that contradicts the law, or on which the plugin broke; empty where none is.
        cases_tried: how many cases were examined, while searching and shrinking.
        seconds: how long it took.
        constants: public constants to examine the plugin with; empty where it has none, or was not examined.
        audited: the neighbours that were audited, and how far that sees.
    """

    law: str
    says: str
    verdict: Verdict
    reason: str = ""
    witness: Mapping[str, Any] = field(factory=dict)
    cases_tried: int = 0
    seconds: float = 0.0
    constants: tuple[Options, ...] = ()
    audited: tuple[Audited, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as a plain dictionary for JSON."""
        return {
            "law": self.law,
            "says": self.says,
            "verdict": self.verdict.value,
            "reason": self.reason or None,
            "witness": dict(self.witness) or None,
            "cases_tried": self.cases_tried,
            "seconds": self.seconds,
            "audited": [audited.as_json() for audited in self.audited] or None,
        }

    @property
    def details(self) -> tuple[str, ...]:
        """What there is to say beside the law, in lines."""
        lines = [f"{self.verdict.value}: {self.reason}"] if self.reason else []
        if self.witness:
            lines.append("witness: " + "; ".join(f"{name} {value}" for name, value in self.witness.items()))
        lines.extend(f"audited: {audited}" for audited in self.audited)
        return tuple(lines)


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
    def constants(self) -> tuple[Options, ...]:
        """The public constants that the plugin was examined with: those that were given, or those that were chosen."""
        return next((outcome.constants for outcome in self.outcomes if outcome.constants), ())

    @property
    def passed(self) -> bool:
        """Whether no law fails for the plugin."""
        return not self.failures

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The outcomes of the laws that fail."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict is Verdict.FAILED)

    def as_json(self) -> dict[str, Any]:
        """Return all outcomes as a plain dictionary for JSON."""
        return {
            "plugin": self.plugin,
            "kind": self.kind,
            "passed": self.passed,
            "seed": self.seed,
            "examples": self.examples,
            "constants": [dict(options) for options in self.constants],
            "laws": [outcome.as_json() for outcome in self.outcomes],
        }

    def __str__(self) -> str:
        width = max(len(outcome.law) for outcome in self.outcomes)
        lines = [f"{self.kind} {self.plugin}"]
        if self.constants:
            lines.append(f"constants: {'; '.join(map(in_words, self.constants))}")
        for outcome in self.outcomes:
            lines.append(f"{_MARKS[outcome.verdict]} {outcome.law:{width}}  {outcome.says}")
            lines.extend(f"  {'':{width}}  {line}" for line in outcome.details)
        counted = (sum(outcome.verdict is verdict for outcome in self.outcomes) for verdict in Verdict)
        counts = ", ".join(f"{count} {verdict.value}" for count, verdict in zip(counted, Verdict, strict=True))
        return "\n".join([*lines, f"{counts}; seed {self.seed}"])
