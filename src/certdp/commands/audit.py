"""`certdp audit`: whether runs of a release on neighbouring inputs contradict a claimed (ε, δ)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen
from rich.text import Text

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.sampling.releases import Releases
from ..accounting.units import Delta, Epsilon
from ..audits.of_runs import RunAudit, audit_run, neighbours_among
from ..data import read_records
from ..plugins.contract import Coins
from ..plugins.registry import Role
from ..runs.allocated import AllocatedRun
from ..runs.selected import SelectedRun
from ..runs.stratified import StratifiedRun
from ..verification.audit import Count
from .advice import about_options, advising
from .answer import Answer
from .answering import application
from .composition import chosen
from .one_run import run_of
from .options import AnySampler, AnySeed, Mechanism, Options, Resample, Steps, Trials
from .output import FAILED, Terminal
from .page import Page
from .plan import plan_of
from .progress import counting, watched
from .requests import Admission

_SHARE_OF_AUDITS = "Give a share of all audits, such as --confidence 0.999"
_DEFAULT_SAMPLERS = {False: "full", True: "every-key"}
"""What draws every record, and every key."""


@frozen(kw_only=True)
class Audited(Answer):
    """What an audit found.

    Attributes:
        mechanism: its name.
        sampler: its name.
        releases: how often, and on which samples.
        resample: how that was stated.
        seed: of all coins, or None.
        runs: on each of the two inputs.
        audit: what they show.
    """

    mechanism: str
    sampler: str
    releases: Releases
    resample: str | None
    seed: int | None
    runs: int
    audit: RunAudit

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        audited, found = self.audit, self.audit.found
        return {
            "mechanism": self.mechanism,
            "sampler": self.sampler,
            "resample": self.resample,
            "steps": self.releases.steps,
            "claim": {
                "epsilon": Enclosure.of(audited.claimed.value).upper_float,
                "delta": float(found.delta.value),
                "source": "proven by certdp" if audited.proven else "given",
            },
            "trials": self.runs,
            "confidence": float(found.confidence),
            "inputs": audited.difference,
            "search": {"tried": audited.search.tried, "runs": self.runs - audited.search.left},
            "event": {
                "statistic": found.event.statistic.name,
                "threshold": found.event.threshold if isfinite(found.event.threshold) else None,
                "above": found.event.above,
            },
            "counts": {name: {"hits": count.hits, "trials": count.trials} for name, count in self._counts.items()},
            "epsilon_lower": found.lower,
            "refuted": audited.refuted,
            "power": audited.power.as_json(),
            "seed": self.seed,
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        audited, found, numbers = self.audit, self.audit.found, page.numbers
        page.run(self.mechanism, self.sampler, steps=self.releases.steps, resample=self.resample)
        source = "what certdp proves" if audited.proven else "as claimed"
        verdict = ("refuted", "bold red") if audited.refuted else ("not refuted", "bold")
        claimed = numbers.most_or_stated(Enclosure.of(audited.claimed.value).upper_float, audited.claimed.value)
        page.print(Text.assemble(f"ε = {claimed} at δ = {numbers.stated(found.delta.value)}, {source}: ", verdict), 2)
        page.print(f"ε ≥ {numbers.least(found.lower)} with confidence {numbers.stated(found.confidence)}", 2)
        among = f", of {audited.search.tried} tried on other runs" if audited.search.tried else ""
        page.print(f"inputs: {audited.difference}{among}", 2)
        page.print(f"event: {found.event}, chosen on other runs", 2)
        for name, count in self._counts.items():
            page.print(f"in {count} runs on the {name} input ({count.hits / count.trials:.4%})", 4)
        page.print(f"power: {audited.power}", 2)
        if not audited.refuted:
            page.print("that proves no ε: an audit can refute a claim, never confirm one", 2)

    @property
    def exit_code(self) -> int:
        """1 where the claim is refuted."""
        return FAILED if self.audit.refuted else 0

    @property
    def _counts(self) -> Mapping[str, Count]:
        """How often the event occurred, by input: the one on which it is the likelier first."""
        found = self.audit.found
        inputs = ("first", "second") if found.first_is_likelier else ("second", "first")
        return dict(zip(inputs, (found.likelier, found.rarer), strict=True))


def audit(
    mechanism: Mechanism,
    terminal: Terminal,
    sampler: AnySampler = None,
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="The ε that is doubted; else what certdp proves at δ.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="The δ that goes with it; else 0.")] = None,
    trials: Trials = 200_000,
    confidence: Annotated[
        str, typer.Option(metavar="P", help="With this probability a right claim is not refuted.")
    ] = "0.999",
    neighbours: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of your own; the other input lacks the last, or under replace has it for the one before.",
        ),
    ] = None,
    seed: AnySeed = None,
    one_by_one: Annotated[
        bool, typer.Option("--one-by-one", help="Call the mechanism once for each release, however slow.")
    ] = False,
    *,
    admission: Admission,
) -> Audited:
    """Whether runs on two neighbouring inputs refute a claimed (ε, δ): a lower bound on ε, with its confidence.

    The inputs are synthetic: the record, or the frequency of a key, about which most is declared to be lost. Half of
    the runs choose an event. Without a sampler every record or key is drawn.
    """
    options = option or []
    with advising({"epsilon": "Change --epsilon", "delta": "Change --delta"}):
        claimed = None if epsilon is None else Epsilon(epsilon)
        beside = None if delta is None else Delta(delta)
    plan, registry = plan_of(resample, steps), admission.registry
    if sampler is None:
        kind = registry.get(Role.MECHANISM, mechanism)
        sampler = _DEFAULT_SAMPLERS[hasattr(kind, "reporting")]
    with advising(about_options(options)):
        given = chosen(mechanism, sampler, options, registry)
        audited = run_of(given, plan)
    if isinstance(audited, AllocatedRun | SelectedRun | StratifiedRun):
        remedy = "Epochs and strata have no audit yet"
        raise InvalidValue("sampler", sampler, "a sampler that draws each record apart, at one stated rate", remedy)
    own = None if neighbours is None else neighbours_among(audited, read_records(neighbours))
    columns = counting("auditing", "runs")
    with advising({"confidence": _SHARE_OF_AUDITS}), watched(terminal, 2 * trials, *columns) as bar:
        found = audit_run(
            audited,
            claimed=claimed,
            delta=beside,
            runs=trials,
            confidence=confidence,
            neighbours=own,
            coins=None if seed is None else Coins.seeded(seed),
            one_by_one=one_by_one,
            progress=None if bar is None else bar.add,
        )
    return Audited(
        mechanism=mechanism,
        sampler=sampler,
        releases=plan,
        resample=resample,
        seed=seed,
        runs=trials,
        audit=found,
    )


command = application(audit)
