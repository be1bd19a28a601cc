"""What T releases on samples of the data cost, as `certdp epsilon`, `delta` and `calibrate` state it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from attrs import evolve, frozen

from ..accounting.accountants import ALL, BEST, Accountant
from ..accounting.errors import InvalidValue
from ..durable.files import Rank, published
from ..runs.allocated import AllocatedRun
from ..runs.as_declared import lower_ends_of
from ..runs.correlated import CorrelatedRun
from ..runs.plan import Plan
from ..runs.run import Answer as RunAnswer
from ..runs.run import Run, RunPart
from ..runs.selected import SelectedRun
from ..samplers.full import Full
from .answer import Answer, assumptions_as_json, domain_as_json, path_as_json
from .composition import KeyedComposition, chosen
from .digits import Numbers
from .domain import domain_of
from .one_run import OneRun, protecting, run_of
from .options import Accountant as AccountantName
from .options import (
    AnyMechanism,
    AnySampler,
    Contributions,
    Options,
    PlanFile,
    Plot,
    Relation,
    Repetitions,
    Resample,
    Steps,
    Strategy,
    refuse_unused,
)
from .options import Certificate as CertificateFile
from .outputs import check_places
from .page import Page, whom
from .plan import plan_of
from .requests import Admission
from .run_certificates import Certificate, show_certified, write_certificate


@frozen(kw_only=True)
class RunRequest:
    """What the commands about one run of releases are asked."""

    mechanism: AnyMechanism = None
    sampler: AnySampler = None
    plan: PlanFile = None
    option: Options = None
    resample: Resample = None
    steps: Steps = 1
    repetitions: Repetitions = None
    strategy: Strategy = None
    relation: Relation = None
    contributions: Contributions = None
    accountant: AccountantName = "best"
    plot: Plot = None
    admission: Admission

    @property
    def options(self) -> list[str]:
        """The public constants."""
        return self.option or []


@frozen(kw_only=True)
class Request(RunRequest):
    """What the commands that state a cost are asked."""

    certificate: CertificateFile = None


AnyRun: TypeAlias = OneRun | CorrelatedRun | Plan[Any]
"""A run that a command is asked about."""
ACCOUNTANTS: dict[str, Accountant] = {accountant.name: accountant for accountant in (BEST, *ALL)}
Question: TypeAlias = Callable[[Run[Any], Accountant], RunAnswer[Any]]
"""A run and an accountant to what is proven."""


@frozen(kw_only=True)
class Cost(Answer):
    """What one or many releases cost.

    Attributes:
        request: what was asked.
        run: the releases.
        answer: what is proven.
        asked: epsilon or delta, whichever is the answer.
        certified: what the certificate proves, where one was written.
    """

    request: Request
    run: AnyRun
    answer: RunAnswer[Any]
    asked: str
    certified: Certificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        request, answer, guarantee = self.request, self.answer, self.answer.guarantee
        return {
            **released_as_json(request, self.run),
            "epsilon": [answer.epsilon.lower, answer.epsilon.upper],
            "delta": [answer.delta.lower, answer.delta.upper],
            "lower_end": self._lower_end,
            "notion": guarantee.bound.notion.name,
            "accountant": answer.accountant.name,
            "composed_in": answer.composed_in.name,
            "order": _order(answer.order),
            "accountants": [
                {
                    "name": row.accountant.name,
                    "bounds": [row.bounds.lower, row.bounds.upper],
                    "order": _order(row.order),
                }
                for row in answer.compared.rows
            ],
            "guarantee": {
                "statement": answer.statement,
                "unit": guarantee.unit.name,
                "relation": guarantee.relation.name,
                "derivation": str(guarantee.derivation),
                "domain": domain_as_json(self.run.domain),
            },
            "assumptions": assumptions_as_json(guarantee.assumptions),
            "certificate": path_as_json(request.certificate),
            "plot": path_as_json(request.plot),
            "certified": None if self.certified is None else self.certified.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        answer, guarantee, numbers = self.answer, self.answer.guarantee, page.numbers
        show_released(page, self.request, self.run)
        page.bold(statement_of(answer, numbers))
        if self.run.domain is not None:
            page.print(f"for {whom(self.run.domain)}", 2)
        bounds, sign = {"epsilon": (answer.epsilon, "ε"), "delta": (answer.delta, "δ")}[self.asked]
        if bounds.lower is None:
            page.print(f"an upper bound of {sign}; no lower bound is proven", 2)
        else:
            page.print(f"the true {sign} lies in {numbers.between(bounds.lower, bounds.upper)}", 2)
            page.lower_end(self._lower_end)
        order = "" if answer.order is None else f" at order {numbers.about(float(answer.order))}"
        page.print(f"by {answer.accountant} accounting, in the {answer.composed_in.name} notion{order}", 2)
        if not numbers.full and self.request.accountant == BEST.name:
            page.print("--full shows what each accountant proves", 2)
        elif len(answer.compared.rows) > 1:
            page.print("accountants", 2)
            for row in answer.compared.rows:
                page.print(f"{row.accountant.name:<{_NAME_WIDTH}}  {numbers.most(row.bounds.upper)}", 4)
        page.print(f"unit {guarantee.unit.name}, relation {guarantee.relation.name}", 2)
        page.print(str(guarantee.derivation), 2)
        page.files({"certificate": self.request.certificate})
        show_certified(page, self.certified, answer)
        page.files({"plot": self.request.plot})
        page.assumptions(guarantee.assumptions)

    @property
    def _lower_end(self) -> str | None:
        """What the lower end is about, where that is not what is released."""
        bounds = self.answer.epsilon if self.asked == "epsilon" else self.answer.delta
        return None if bounds.lower is None else lower_ends_of(self.run)


def _beside(run: AnyRun | RunPart[Any]) -> dict[str, object]:
    """How often a run is repeated, and what correlates its noise, in JSON's types."""
    return {
        "repetitions": str(run.repetitions) if isinstance(run, SelectedRun) else None,
        "strategy": str(run.strategy) if isinstance(run, CorrelatedRun) else None,
    }


def _part_as_json(part: RunPart[Any], resample: str | None) -> dict[str, object]:
    """A part of a plan, in JSON's types; of epochs, the releases are counted."""
    mechanism, sampler = (plugin.about.name for plugin in part.plugins)
    return {"mechanism": mechanism, "sampler": sampler, "resample": resample, "steps": part.steps, **_beside(part)}


def released_as_json(request: RunRequest, run: AnyRun) -> dict[str, object]:
    """What is released, as it was asked for, in JSON's types."""
    releases = [_part_as_json(part, resample) for part, resample in _parts(request, run)]
    return {
        "mechanism": request.mechanism,
        "sampler": request.sampler,
        "resample": request.resample,
        "steps": request.steps if request.plan is None else None,
        **_beside(run),
        "plan": None if request.plan is None else {"file": str(request.plan), "releases": releases},
    }


def show_released(page: Page, request: RunRequest, run: AnyRun) -> None:
    """Show what is released on the page."""
    for part, resample in _parts(request, run):
        _show_part(page, part, resample)


def _show_part(page: Page, part: RunPart[Any], resample: str | None) -> None:
    mechanism, sampler = part.plugins
    match part:
        case SelectedRun():
            _show_part(page, part.base, resample)
            page.print(f"repeated, and the best output told: {part.repetitions}", 2)
        case AllocatedRun():
            page.epochs(mechanism.about.name, sampler.about.name, epochs=part.epochs, batches=part.batches)
        case CorrelatedRun():
            show_correlated(page, part)
        case _:
            page.run(mechanism.about.name, sampler.about.name, steps=part.steps, resample=resample)


def show_correlated(page: Page, run: CorrelatedRun) -> None:
    """Show on the page what is released with correlated noise, and who takes part."""
    _, strategy, who = run.described
    page.bold(f"{run.mechanism.about.name}, {strategy}")
    page.print(who, 2)


def _parts(request: RunRequest, run: AnyRun) -> list[tuple[RunPart[Any], str | None]]:
    """The parts, and whether each sees one sample once or a fresh one each time; None where nothing is said of one."""
    match run:
        case Plan():
            return [(part, "once" if part.on_one_sample else "each") for part in run.parts]
    return [(run, request.resample)]


_NAME_WIDTH = max(map(len, ACCOUNTANTS))


def statement_of(answer: RunAnswer[Any], numbers: Numbers) -> str:
    """The guarantee in words, its numbers as people read them; what was asked about as it was stated."""
    return answer.stated(lambda upper: numbers.most_or_stated(upper, answer.asked.value))


def cost_of(request: Request, question: Question, asked: str) -> Cost:
    """Compose, prove, plot and certify."""
    accountant = accountant_of(request.accountant)
    check_places(None, {"plot": request.plot, "certificate": request.certificate})
    run = requested(request)
    answer = question(run, accountant)
    with published() as files:
        if request.plot is not None:
            from ..plots.runs import plot_accounting

            files.write(request.plot, plot_accounting(run, answer), Rank.STATEMENT)
        certified = write_certificate(files, request.certificate, run, answer)
    return Cost(request=request, run=run, answer=answer, asked=asked, certified=certified)


def accountant_of(name: str) -> Accountant:
    """The accountant of a name.

    Raises:
        InvalidValue: for an unknown one.
    """
    if name not in ACCOUNTANTS:
        raise InvalidValue("accountant", name, ", ".join(ACCOUNTANTS), "Choose one of them")
    return ACCOUNTANTS[name]


def requested(request: RunRequest) -> AnyRun:
    """The run that is asked about: of a mechanism and a sampler, or of a plan's file.

    Raises:
        InvalidValue: where neither is named, or both; else what the parts raise.
    """
    if request.plan is not None:
        return _from_file(request, request.plan)
    protected: AnyRun = protecting(_one_run(request), request.relation, request.contributions)
    return protected


def _from_file(request: RunRequest, plan: Path) -> Plan[Any]:
    """The runs that a file states; nothing beside it says what is released."""
    others = {
        "mechanism": request.mechanism,
        "sampler": request.sampler,
        "resample": request.resample,
        "repetitions": request.repetitions,
        "strategy": request.strategy,
    }
    for name, value in {**others, "option": ", ".join(request.options) or None}.items():
        if value is not None:
            raise InvalidValue(name, value, "nothing, beside a plan", "State it in the file of the plan")
    if request.steps > 1:
        raise InvalidValue("steps", request.steps, "nothing, beside a plan", "State it in the file of the plan")
    from .plan_files import stated_plan

    return stated_plan(plan, request.admission, relation=request.relation, contributions=request.contributions).plan


def _one_run(request: RunRequest) -> OneRun | CorrelatedRun:
    if request.strategy is not None:
        return _correlated(request, request.strategy)
    mechanism, sampler = _names(request)
    releases = plan_of(request.resample, request.steps)
    registry = request.admission.registry
    return run_of(chosen(mechanism, sampler, request.options, registry, repetitions=request.repetitions), releases)


def _correlated(request: RunRequest, strategy: str) -> CorrelatedRun:
    stated = {"sampler": request.sampler, "resample": request.resample, "repetitions": request.repetitions}
    mechanism, _ = _names(evolve(request, sampler=Full.about.name))
    return correlated(mechanism, strategy, request.options, request.admission, request.steps, beside=stated)


def correlated(
    mechanism: str,
    strategy: str,
    given: Sequence[str],
    admission: Admission,
    steps: int,
    *,
    beside: Mapping[str, object],
) -> CorrelatedRun:
    """The run with correlated noise; who takes part in a step is said by its participation alone.

    Args:
        mechanism: its name.
        strategy: as on the command line.
        given: the options.
        admission: which plugins there are.
        steps: how many.
        beside: what else says how records are drawn, by name; None where it is not stated.

    Raises:
        InvalidValue: beside what says otherwise how records are drawn; else as `correlated_run`.
    """
    from .correlated import PARTICIPATION, correlated_run

    refuse_unused(beside, "beside a strategy", "State a participation: --option participation.times=…")
    found = chosen(mechanism, Full.about.name, given, admission.registry, participation=tuple(PARTICIPATION))
    if isinstance(found, KeyedComposition):
        raise InvalidValue("strategy", strategy, "nothing, for keyed data", "Only sums over records are correlated")
    return correlated_run(found, strategy, found.participation, steps, domain_of(found))


def _names(request: RunRequest) -> tuple[str, str]:
    names = {"mechanism": request.mechanism, "sampler": request.sampler}
    for role, name in names.items():
        if name is None:
            raise InvalidValue(role, "nothing", f"a {role}", f"Name one: --{role} NAME; or state a plan: --plan FILE")
    return str(request.mechanism), str(request.sampler)


def _order(order: Fraction | None) -> float | None:
    return None if order is None else float(order)
