"""What T releases on samples of the data cost, as `certdp epsilon`, `delta` and `calibrate` state it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, evolve, frozen

from ..accounting.accountants import ALL, BEST, Accountant
from ..accounting.errors import InvalidValue
from ..accounting.relations import RELATIONS, User
from ..accounting.sampling.releases import Releases, SampleOnce
from ..durable.files import Rank, published
from ..plugins.contract import AllocatingSampler, StratifyingSampler
from ..runs.allocated import AllocatedRun
from ..runs.correlated import CorrelatedRun
from ..runs.keyed import KeyedRun
from ..runs.plan import Plan
from ..runs.run import Answer as RunAnswer
from ..runs.run import Run, RunPart
from ..runs.sampled import SampledRun
from ..runs.selected import SelectedRun
from ..runs.stratified import StratifiedRun
from ..samplers.full import Full
from .answer import Answer, assumptions_as_json, domain_as_json, path_as_json
from .composition import AnyComposition, Composition, KeyedComposition, chosen
from .digits import Numbers
from .domain import domain_of
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


OneRun: TypeAlias = SampledRun[Any] | AllocatedRun | SelectedRun[Any] | StratifiedRun | KeyedRun
"""A run of one mechanism with one sampler."""
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


@frozen
class _Part:
    """One part of what is released.

    Attributes:
        mechanism: its name.
        sampler: its name.
        resample: once or each; None where nothing is said about one release.
        steps: how often.
    """

    mechanism: str
    sampler: str
    resample: str | None
    steps: int

    @classmethod
    def of(cls, part: RunPart[Any], resample: str | None) -> _Part:
        """A part of a plan, or a run of its own."""
        mechanism, sampler = part.plugins
        return cls(mechanism.about.name, sampler.about.name, resample, part.steps)

    def as_json(self) -> dict[str, object]:
        """Return the part for programs, in JSON's types."""
        return asdict(self)


def released_as_json(request: RunRequest, run: AnyRun) -> dict[str, object]:
    """What is released, as it was asked for, in JSON's types."""
    plan = {"file": str(request.plan), "releases": [one.as_json() for one in _parts(request, run)]}
    return {
        "mechanism": request.mechanism,
        "sampler": request.sampler,
        "resample": request.resample,
        "steps": request.steps if request.plan is None else None,
        "repetitions": str(run.repetitions) if isinstance(run, SelectedRun) else None,
        "strategy": str(run.strategy) if isinstance(run, CorrelatedRun) else None,
        "plan": None if request.plan is None else plan,
    }


def show_released(page: Page, request: RunRequest, run: AnyRun) -> None:
    """Show what is released on the page."""
    match run:
        case SelectedRun():
            show_released(page, request, run.base)
            page.print(f"repeated, and the best output told: {run.repetitions}", 2)
            return
        case AllocatedRun():
            mechanism, sampler = run.plugins
            page.epochs(mechanism.about.name, sampler.about.name, epochs=run.epochs, batches=run.batches)
            return
        case CorrelatedRun():
            show_correlated(page, run)
            return
    for part in _parts(request, run):
        page.run(part.mechanism, part.sampler, steps=part.steps, resample=part.resample)


def show_correlated(page: Page, run: CorrelatedRun) -> None:
    """Show on the page what is released with correlated noise, and who takes part."""
    _, strategy, who = run.described
    page.bold(f"{run.mechanism.about.name}, {strategy}")
    page.print(who, 2)


def _parts(request: RunRequest, run: AnyRun) -> list[_Part]:
    parts = run.parts if isinstance(run, Plan) else (run,)
    if request.plan is None:
        (only,) = parts
        return [_Part.of(only, request.resample)]
    return [_Part.of(part, "once" if part.on_one_sample else "each") for part in parts]


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
    found = _one_run(request) if request.plan is None else _from_file(request, request.plan)
    protected: AnyRun = protecting(found, request.relation, request.contributions)
    return protected


def protecting(run: AnyRun, relation: str | None, contributions: int | None) -> Any:
    """The run, of the same kind, about this change of the data and about users with so many records, where stated.

    Raises:
        InvalidValue: for an unknown relation, and where no theorem covers the change.
    """
    if relation is not None and relation not in RELATIONS:
        raise InvalidValue("relation", relation, " or ".join(RELATIONS), "Choose one of them")
    if relation is None and contributions is None:
        return run
    match run:
        case StratifiedRun() | AllocatedRun() if contributions is None:
            return evolve(run, relation=RELATIONS[str(relation)])
        case SampledRun():
            stated: dict[str, Any] = {} if relation is None else {"relation": RELATIONS[relation]}
            if contributions is not None:
                stated["unit"] = User(contributions=contributions)
            return evolve(run, **stated)
        case SelectedRun():
            return evolve(run, base=protecting(run.base, relation, contributions))
        case Plan():
            return Plan([protecting(part, relation, contributions) for part in run.sampled_parts])
    if relation not in (None, run.relation.name) or contributions is not None:
        parameter, value = ("relation", relation) if contributions is None else ("contributions", contributions)
        what = "one element" if isinstance(run, KeyedRun) else "one record"
        admissible = f"nothing, for guarantees on samples by {run.sampler.about.name} are about {what}"
        raise InvalidValue(parameter, value, admissible)
    return run


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
    from .plan_files import plan_from_file

    return plan_from_file(plan, third_party=request.admission.third_party, allow=request.admission.allow)


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


def run_of(given: AnyComposition, releases: Releases) -> OneRun:
    """The run of a mechanism and a sampler; of records, on the public domain that its options state."""
    match given:
        case KeyedComposition():
            return given.run(releases)
    once = _run_once(given, releases)
    if given.repetitions is None:
        return once
    if isinstance(once, StratifiedRun):
        remedy = "Repeat a run that draws without strata"
        raise InvalidValue("repetitions", str(given.repetitions), "nothing, for runs with strata", remedy)
    return SelectedRun(base=once, repetitions=given.repetitions)


def _run_once(given: Composition, releases: Releases) -> SampledRun[Any] | AllocatedRun | StratifiedRun:
    domain = domain_of(given)
    match given.sampler:
        case AllocatingSampler() as sampler:
            return _epochs(given, sampler, releases)
        case StratifyingSampler() as sampler:
            return StratifiedRun(mechanism=given.mechanism, sampler=sampler, releases=releases, domain=domain)
    return SampledRun(mechanism=given.mechanism, sampler=given.sampler, releases=releases, domain=domain)


def _epochs(given: Composition, sampler: AllocatingSampler, releases: Releases) -> AllocatedRun:
    """A run of so many epochs.

    Raises:
        InvalidValue: for several on one sample.
    """
    if isinstance(releases, SampleOnce) and releases.steps > 1:
        raise InvalidValue("resample", "once", "each", "Each epoch draws its batches afresh; --steps counts epochs")
    return AllocatedRun(mechanism=given.mechanism, sampler=sampler, epochs=releases.steps, domain=domain_of(given))


def _order(order: Fraction | None) -> float | None:
    return None if order is None else float(order)
