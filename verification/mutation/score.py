"""What a mutation run found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Any, final

from attrs import frozen

from .exemptions import Exemption
from .mutants import Mutant


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    EXEMPTED = "exempted"
    SURVIVED = "survived"
    KILLED_THOUGH_EXEMPTED = "killed though exempted"


@final
@frozen
class Verdict:
    """What became of one mutant.

    Attributes:
        mutant: the mutant.
        fate: what became of it.
        by: the claim or test that killed it; or the argument that exempts it; or empty.
        seconds: processor time that its guards took.
    """

    mutant: Mutant
    fate: Fate
    by: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as a plain dictionary for JSON."""
        mutant = self.mutant
        return {
            "module": mutant.module,
            "line": mutant.line,
            "place": mutant.place,
            "operator": mutant.operator,
            "before": mutant.before,
            "after": mutant.after,
            "occurrence": mutant.occurrence,
            "fate": self.fate.value,
            "by": self.by,
            "seconds": self.seconds,
        }


@final
@frozen(kw_only=True)
class Score:
    """What became of the mutants of a run.

    Attributes:
        population: how many there are in the modules asked for; a sample is smaller.
        verdicts: one for each that was run, in the order of modules and lines.
        strays: exemptions of these modules that fit no mutant.
        unfit: files of tests that take too long to be guards.
        seed: of the sample; None where all were run.
    """

    population: int
    verdicts: tuple[Verdict, ...]
    strays: tuple[Exemption, ...]
    unfit: tuple[str, ...]
    seed: int | None

    def count(self, fate: Fate, module: str | None = None) -> int:
        """How many mutants had this fate, in all modules or in one."""
        return sum(v.fate is fate and module in (None, v.mutant.module) for v in self.verdicts)

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules whose mutants were run."""
        return tuple(Counter(verdict.mutant.module for verdict in self.verdicts))

    @property
    def killed_share(self) -> float | None:
        """The share of mutants killed or timed out among those not exempted; None where there is none."""
        noticed = self.count(Fate.KILLED) + self.count(Fate.TIMED_OUT)
        judged = noticed + self.count(Fate.SURVIVED)
        return noticed / judged if judged else None

    @property
    def survivors(self) -> tuple[Verdict, ...]:
        """The verdicts of mutants that nothing noticed."""
        return tuple(verdict for verdict in self.verdicts if verdict.fate is Fate.SURVIVED)

    @property
    def stale(self) -> tuple[Verdict, ...]:
        """The verdicts of mutants that are exempted and were killed after all."""
        return tuple(verdict for verdict in self.verdicts if verdict.fate is Fate.KILLED_THOUGH_EXEMPTED)

    @property
    def passed(self) -> bool:
        """Whether every mutant was killed or is rightly exempted."""
        return bool(self.verdicts) and not (self.survivors or self.stale or self.strays)

    def as_json(self) -> dict[str, Any]:
        """Return the score as a plain dictionary for JSON."""
        return {
            "passed": self.passed,
            "score": self.killed_share,
            "population": self.population,
            "run": len(self.verdicts),
            "seed": self.seed,
            "counts": {fate.value: self.count(fate) for fate in Fate},
            "modules": {m: {fate.value: self.count(fate, m) for fate in Fate} for m in self.modules},
            "unfit": list(self.unfit),
            "strays": [list(stray.key) for stray in self.strays],
            "mutants": [verdict.as_json() for verdict in self.verdicts],
        }


def together(scores: Sequence[Score]) -> Score:
    """Several scores of different modules as one."""
    return Score(
        population=sum(score.population for score in scores),
        verdicts=tuple(verdict for score in scores for verdict in score.verdicts),
        strays=tuple(stray for score in scores for stray in score.strays),
        unfit=tuple(dict.fromkeys(file for score in scores for file in score.unfit)),
        seed=next((score.seed for score in scores), None),
    )
