"""`certdp calibrate`: noise, a number of releases or a rate that is proven to be within a budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer
from attrs import evolve, frozen

from ..accounting import units
from ..accounting.accountants import Accountant as AnAccountant
from ..accounting.derivation import Derivation
from ..accounting.enclosures import Enclosure
from ..accounting.errors import CertdpError, InvalidValue, blamed_on
from ..accounting.exact import exact
from ..accounting.notions import GaussianDP, Renyi, ZeroConcentrated
from ..accounting.provenance import Public
from ..durable.files import Rank, published
from ..plugins.contract import options
from ..runs.as_declared import lower_ends_of
from ..runs.bound_limit import BoundCost, BoundLimit
from ..runs.calibration import Budget, Calibration, Continuous, Limit, Scale, Whole, spent
from ..runs.calibration import calibrate as value_within
from ..runs.correlated import CorrelatedRun
from ..runs.risk import AdvantageLimit, BayesRiskLimit, Risk, RiskLimit, TruePositiveRateLimit
from ..runs.run import Answer as RunAnswer
from ..runs.sampled import SampledRun
from ..runs.stratified import StratifiedRun
from .account import accountant_of, correlated, show_correlated, statement_of
from .answer import Answer, assumptions_as_json, path_as_json
from .answering import application
from .composition import AnyComposition, Composition, KeyedComposition, chosen
from .digits import Numbers
from .one_run import OneRun, protecting, run_of
from .options import (
    Accountant,
    AnySampler,
    Certificate,
    Contributions,
    Mechanism,
    Options,
    Plot,
    Relation,
    Repetitions,
    Resample,
    Steps,
    Strategy,
)
from .output import Terminal
from .outputs import check_places
from .page import Page
from .plan import plan_of
from .progress import counting, watched
from .requests import Admission
from .run_certificates import Certificate as WrittenCertificate
from .run_certificates import show_certified, write_certificate
from .waiting import waiting

if TYPE_CHECKING:
    from ..runs.certificates import Certifiable

_STEPS = "steps"
_BEST = "best"
_LARGEST = 2.0**200
_NEAREST = 1.0
_OCTAVES = (1, 4, 16, 64)
_LEVELS = ("0", "1", "4")
_LITTLE = Fraction(1, 1000)  # how far above the budget a certificate is brought back within it by more noise
_TRIES = 4
_BEYOND = 1 + Fraction(1, 2**24)  # aimed below a budget: at it, roundings may end above


@frozen(kw_only=True)
class Request:
    """What is looked for, and within what."""

    mechanism: Mechanism
    find: Annotated[
        str, typer.Option(metavar="KEY", help="What is looked for: steps, or an option of mechanism or sampler.")
    ]
    sampler: AnySampler = None
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="ε of the budget, in nats.")] = None
    delta: Annotated[str | None, typer.Option(metavar="D", help="δ of the budget; unless given the pure ε.")] = None
    advantage: Annotated[
        str | None, typer.Option(metavar="A", help="Instead: the membership advantage is at most this.")
    ] = None
    true_positive_rate: Annotated[
        str | None, typer.Option(metavar="T", help="Instead: no test finds more members; at a false-positive rate.")
    ] = None
    false_negative_rate: Annotated[
        str | None, typer.Option(metavar="B", help="Instead: every test misses as many; at a false-positive rate.")
    ] = None
    false_positive_rate: Annotated[
        str | None, typer.Option(metavar="A", help="The share of non-members that a test accuses, in [0, 1].")
    ] = None
    bayes_risk: Annotated[
        str | None, typer.Option(metavar="R", help="Instead: every guess errs as often; at a prior.")
    ] = None
    prior: Annotated[
        str | None, typer.Option(metavar="P", help="How probable membership is beforehand, in [0, 1].")
    ] = None
    tau: Annotated[str | None, typer.Option(metavar="T", help="τ of Rényi DP, at that order.")] = None
    order: Annotated[str | None, typer.Option(metavar="A", help="The order of τ.")] = None
    rho: Annotated[str | None, typer.Option(metavar="R", help="ρ of zero-concentrated DP.")] = None
    mu: Annotated[str | None, typer.Option(metavar="M", help="μ of Gaussian DP.")] = None
    option: Options = None
    resample: Resample = None
    steps: Steps = 1
    repetitions: Repetitions = None
    strategy: Strategy = None
    relation: Relation = None
    contributions: Contributions = None
    at_least: Annotated[str | None, typer.Option(metavar="NUMBER", help="The least value admitted.")] = None
    at_most: Annotated[str | None, typer.Option(metavar="NUMBER", help="The largest value admitted.")] = None
    accountant: Accountant = "best"
    certificate: Certificate = None
    plot: Plot = None
    admission: Admission

    @property
    def options(self) -> list[str]:
        """The public constants that are stated."""
        return self.option or []

    def composition(self, *more: str) -> AnyComposition:
        """Mechanism and sampler, with `more` options beside those stated; errors as `chosen`."""
        if self.sampler is None:
            raise InvalidValue("sampler", "nothing", "a sampler", "Name one: --sampler NAME")
        registry = self.admission.registry
        return chosen(self.mechanism, self.sampler, [*self.options, *more], registry, repetitions=self.repetitions)

    def correlated(self, strategy: str, *more: str) -> CorrelatedRun:
        """The run whose noise a strategy correlates, with `more` options beside; errors as `correlated`."""
        beside = {"sampler": self.sampler, "resample": self.resample, "repetitions": self.repetitions}
        return correlated(self.mechanism, strategy, [*self.options, *more], self.admission, self.steps, beside=beside)


@frozen(kw_only=True)
class Calibrated(Answer):
    """The value found, and what the run then costs.

    Attributes:
        request: what was asked.
        limit: within what.
        found: the value.
        cost: what the run is proven to cost with it, in the terms of the limit.
        certified: what the certificate proves, where one was written.
    """

    request: Request
    limit: Limit[Any]
    found: Calibration[Any, Any]
    cost: _Cost
    certified: WrittenCertificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        found, run = self.found, self.found.run
        return {
            "find": self.request.find,
            "value": float(found.value),
            "exact": str(found.value),
            "gap": found.gap,
            "refused": None if found.refused is None else float(found.refused),
            "refuted": found.refuted,
            **self.cost.as_json(self.limit),
            "lower_end": self._lower_end,
            "guarantee": {
                "statement": self.cost.statement,
                "unit": run.unit.name,
                "relation": run.relation.name,
                "derivation": str(self.cost.derivation),
            },
            "assumptions": assumptions_as_json(self.cost.derivation.assumptions),
            "certificate": path_as_json(self.request.certificate),
            "plot": path_as_json(self.request.plot),
            "certified": None if self.certified is None else self.certified.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page; the values looked for can be typed again, because they keep their digits."""
        found, run = self.found, self.found.run
        match run:
            case CorrelatedRun():
                show_correlated(page, run)
            case _:
                page.run(self.request.mechanism, str(self.request.sampler))
        page.bold(f"{self.request.find} = {_typed(found.value, page.numbers)}")
        page.print(self.cost.words(page.numbers), 2)
        if found.refused is None:
            page.print("the end of the range: the budget allows more than was looked for", 2)
        else:
            known = "is proven to exceed the budget" if found.refuted else "was not proven to keep it"
            page.print(f"{self.request.find} = {_typed(found.refused, page.numbers)} {known}", 2)
            if found.refuted:
                page.lower_end(self._lower_end)
        page.print(f"unit {run.unit.name}, relation {run.relation.name}", 2)
        page.files({"certificate": self.request.certificate})
        self.cost.show_certified(page, self.certified)
        if self.certified is not None and self.limit.times(self.certified.parameters) > 1:
            page.print("which is more than the budget", 2)
        page.files({"plot": self.request.plot})
        page.assumptions(self.cost.derivation.assumptions)

    @property
    def _lower_end(self) -> str | None:
        """What lower ends, and what refutes the next value, are about, where that is not what is released."""
        return lower_ends_of(self.found.run)


class _Cost(ABC):
    """What a run is proven to cost, in the terms of a limit."""

    @property
    @abstractmethod
    def statement(self) -> str:
        """It in words, with all digits."""

    @property
    @abstractmethod
    def derivation(self) -> Derivation:
        """What it rests on."""

    @property
    @abstractmethod
    def certifiable(self) -> Certifiable:
        """What a certificate is asked to state."""

    @abstractmethod
    def as_json(self, limit: Limit[Any]) -> Mapping[str, object]:
        """The numbers of the limit and of the cost."""

    def words(self, numbers: Numbers) -> str:
        """It in words for people."""
        return self.statement

    def show_certified(self, page: Page, certified: WrittenCertificate | None) -> None:
        """Show what the certificate proves."""
        if certified is not None:
            certified.show(page)


@frozen
class _AsEpsilon(_Cost):
    """As (ε, δ)."""

    answer: RunAnswer[Any]

    @property
    def statement(self) -> str:
        """Return the pair in words."""
        return self.answer.statement

    @property
    def derivation(self) -> Derivation:
        """Return that of its guarantee."""
        return self.answer.guarantee.derivation

    @property
    def certifiable(self) -> Certifiable:
        """Return the answer."""
        return self.answer

    def as_json(self, limit: Limit[Any]) -> Mapping[str, object]:
        """Return budget, ε, δ and who proves them."""
        answer, budget = self.answer, cast("Budget", limit)
        return {
            "budget": {"epsilon": float(budget.epsilon.value), "delta": float(budget.delta.value)},
            "epsilon": [answer.epsilon.lower, answer.epsilon.upper],
            "delta": [answer.delta.lower, answer.delta.upper],
            "accountant": answer.accountant.name,
        }

    def words(self, numbers: Numbers) -> str:
        """Return the pair, and who proves it."""
        return f"{statement_of(self.answer, numbers)}, proven by {self.answer.accountant} accounting"

    def show_certified(self, page: Page, certified: WrittenCertificate | None) -> None:
        """Show it beside the answer."""
        show_certified(page, certified, self.answer)


@frozen
class _AsLimited(_Cost):
    """In the terms of another limit: a rate of attackers, or a bound in another notion."""

    limit: Limit[Any]
    found: Risk[Any] | BoundCost

    @property
    def statement(self) -> str:
        """Return the rates, or the bound."""
        return self.found.statement

    @property
    def derivation(self) -> Derivation:
        """Return that of the risk, or of the guarantee."""
        match self.found:
            case BoundCost(guarantee=guarantee):
                return guarantee.derivation
            case risk:
                return risk.derivation

    @property
    def certifiable(self) -> Certifiable:
        """Return the limit on a risk, or the guarantee."""
        match self.found:
            case BoundCost(guarantee=guarantee):
                return guarantee
        return cast("RiskLimit", self.limit)

    def as_json(self, limit: Limit[Any]) -> Mapping[str, object]:
        """Return the limit in words; what it costs is the statement of the guarantee."""
        return {"budget": {"limit": str(limit)}}

    def words(self, numbers: Numbers) -> str:
        """Return the limit that is kept, and what is known beside it."""
        return f"keeps {self.limit}; {self.statement}"


def _typed(value: Fraction, numbers: Numbers) -> str:
    """A value that is there to be typed again: all digits of binary64, or exactly."""
    return str(value) if numbers.full else Numbers(full=True).about(value)


def calibrate(request: Request, terminal: Terminal) -> Calibrated:
    """Noise, a number of releases or a rate within a limit: the safe end, proven. It is the best where the loss is
    monotone in it, as with Laplace and Gaussian noise; with discrete Gaussian noise less may do, far off.

    The limit is an (ε, δ), or a rate of attackers, or a bound in another notion. The plot is of ε against what is
    looked for.
    """
    limit = _limit(request)
    asked = accountant_of(request.accountant)
    match limit:
        case Budget():
            pass
        case _ if request.plot is not None:
            raise InvalidValue("plot", str(request.plot), "nothing, but for an (ε, δ)", "Leave it out")
        case _ if request.accountant != _BEST:
            raise InvalidValue("accountant", request.accountant, f"{_BEST}, but for an (ε, δ)", "Leave it out")
    check_places(None, {"plot": request.plot, "certificate": request.certificate})
    with waiting(terminal):
        family = _steps(request) if request.find == _STEPS else _option(request)
        found = value_within(family.run, limit, family.over)
        cost = _cost(found.run, limit, asked)
        if request.certificate is not None:
            found, cost = _certifiable(family, limit, found, cost, asked)
    with published() as files:
        if request.plot is not None:
            files.write(request.plot, _picture(request, family, found, cast("Budget", limit), terminal), Rank.STATEMENT)
        certified = write_certificate(files, request.certificate, found.run, cost.certifiable)
    return Calibrated(request=request, limit=limit, found=found, cost=cost, certified=certified)


def _cost(run: _Run, limit: Limit[Any], asked: AnAccountant) -> _Cost:
    match limit:
        case Budget():
            return _AsEpsilon(spent(run, limit, asked))
    return _AsLimited(limit, limit.cost_of(run))


def _limit(request: Request) -> Limit[Any]:
    """The one limit that is asked for.

    Raises:
        InvalidValue: for none or several, and for one without what it is stated at.
    """
    stated = {name: value for name, value in _stated(request).items() if value is not None}
    chosen = [name for name in stated if name in _STATED_AT]
    if len(chosen) != 1:
        told = " and ".join(f"--{name}" for name in chosen) or "none"
        raise InvalidValue(
            "epsilon", told, f"one of {', '.join(f'--{name}' for name in _STATED_AT)}", "State one limit"
        )
    (name,), at = chosen, _STATED_AT[chosen[0]]
    for beside in stated.keys() - {name, at}:
        raise InvalidValue(beside, stated[beside], f"nothing, beside --{name}", "Leave it out, or state its own limit")
    if at is not None and at not in stated:
        if name != "epsilon":
            raise InvalidValue(at, "nothing", f"what --{name} is stated at", f"State --{at}, too")
        stated[at] = "0"
    numbers = {key: exact(text, parameter=key) for key, text in stated.items() if key not in ("epsilon", "delta")}
    with blamed_on(**{key.replace("-", "_"): key for key in stated}, risk="bayes-risk"):
        return _LIMITS[name](stated, numbers)


_STATED_AT: Mapping[str, str | None] = {
    "epsilon": "delta",
    "advantage": None,
    "true-positive-rate": "false-positive-rate",
    "false-negative-rate": "false-positive-rate",
    "bayes-risk": "prior",
    "tau": "order",
    "rho": None,
    "mu": None,
}
"""What may be limited, and at what it is stated."""


def _stated(request: Request) -> Mapping[str, str | None]:
    names = dict.fromkeys([*_STATED_AT, *filter(None, _STATED_AT.values())])
    return {name: getattr(request, name.replace("-", "_")) for name in names}


_Run: TypeAlias = OneRun | CorrelatedRun
_Texts: TypeAlias = Mapping[str, str]
_Numbers: TypeAlias = Mapping[str, Fraction]
_LIMITS: Mapping[str, Callable[[_Texts, _Numbers], Limit[Any]]] = {
    "epsilon": lambda texts, _: Budget(epsilon=units.Epsilon(texts["epsilon"]), delta=units.Delta(texts["delta"])),
    "advantage": lambda _, at: AdvantageLimit(advantage=at["advantage"]),
    "true-positive-rate": lambda _, at: TruePositiveRateLimit(
        true_positive_rate=at["true-positive-rate"], false_positive_rate=at["false-positive-rate"]
    ),
    "false-negative-rate": lambda _, at: TruePositiveRateLimit(
        true_positive_rate=1 - at["false-negative-rate"], false_positive_rate=at["false-positive-rate"]
    ),
    "bayes-risk": lambda _, at: BayesRiskLimit(risk=at["bayes-risk"], prior=at["prior"]),
    "tau": lambda _, at: BoundLimit(bound=Renyi(at["order"], Enclosure.of(at["tau"]))),
    "rho": lambda _, at: BoundLimit(bound=ZeroConcentrated(Enclosure.of(at["rho"]))),
    "mu": lambda _, at: BoundLimit(bound=GaussianDP(Enclosure.of(at["mu"]))),
}


@frozen
class _Family:
    """A run for each value, and the values."""

    run: Callable[[Fraction], _Run]
    over: Scale


def _certifiable(
    family: _Family, limit: Limit[Any], found: Calibration[Any, Any], cost: _Cost, asked: AnAccountant
) -> tuple[Calibration[Any, Any], _Cost]:
    """The value found, or where its certificate is a little above the limit, the next safer one that has none above.

    The checker's number may be a little above the answer: a limit smaller by as much is calibrated to. Where that is
    more than `_LITTLE`, or does not help, the value stays; the certificate then proves more than the limit.
    """
    if found.refused is None:
        return found, cost
    from ..runs.certificates import certificate

    safer, proven = found, cost
    aim = limit
    for _ in range(_TRIES):
        match safer.run:
            case SampledRun() | StratifiedRun() | CorrelatedRun() as run:
                certified = certificate(run, proven.certifiable)
            case _:  # has no certificate, or one that takes long: it is written once
                break
        above = limit.times(certified.parameters)
        if above <= 1:
            return evolve(safer, refused=found.refused, refuted=found.refuted), proven
        if above > 1 + _LITTLE:
            break
        try:
            aim = aim.tightened(above * _BEYOND)
            safer = value_within(family.run, aim, family.over)
        except InvalidValue:  # the range has no safer value
            break
        proven = _cost(safer.run, limit, asked)
    return found, cost


def _picture(request: Request, family: _Family, found: Calibration[Any], budget: Budget, terminal: Terminal) -> bytes:
    from ..plots.runs import CALIBRATION_PLACES, plot_calibration

    with watched(terminal, CALIBRATION_PLACES, *counting("drawing", "values")) as bar:
        advance = None if bar is None else lambda: bar.add(1)
        return plot_calibration(family.run, found, budget, request.find, advance=advance)


def _steps(request: Request) -> _Family:
    if request.strategy is not None:
        remedy = "A strategy and who takes part in it are stated for a number of steps"
        raise InvalidValue("find", _STEPS, "an option of the mechanism, beside a strategy", remedy)
    if request.steps > 1:
        raise InvalidValue(_STEPS, request.steps, "nothing, where the steps are looked for", "Leave --steps out")
    if request.resample is None:
        raise InvalidValue("resample", "nothing", "once or each", "Several releases are asked for: say which")
    given = request.composition()

    def run(steps: Fraction) -> OneRun:
        released = run_of(given, plan_of(request.resample, int(steps)))
        protected: OneRun = protecting(released, request.relation, request.contributions)
        return protected

    if request.at_least is not None:
        raise InvalidValue("at-least", request.at_least, "nothing, where the steps are looked for", "Leave it out")
    return _Family(run, Whole() if request.at_most is None else Whole(highest=int(exact(request.at_most))))


def _option(request: Request) -> _Family:
    """The family over one option; its direction is read off two runs that are close to each other."""
    stated = [text.partition("=")[0] for text in request.options]
    if request.find in stated:
        raise InvalidValue("find", request.find, "an option that is not given", f"Leave --option {request.find}=… out")
    low = _number("at-least", request.at_least, 1 / _LARGEST)
    high = _number("at-most", request.at_most, None)
    start = min(max(_NEAREST, low), high or _LARGEST)
    sought = f"{request.find}={start!r}"
    try:
        run = _by_option(request, sought) if request.strategy is None else _by_mechanism(request, sought)
    except InvalidValue as error:
        if error.value != sought:
            raise
        raise InvalidValue("find", request.find, f"steps, or {error.admissible}", error.remedy) from None
    if high is None:
        high = _LARGEST if _admits(run, _LARGEST) else _NEAREST
    start = min(start, high)
    try:
        safer = _more_is_safer(run, low, start, high)
    except InvalidValue as error:
        if error.parameter != request.find.rpartition(".")[2]:
            raise
        remedy = f"{error.parameter} is {error.admissible}: state it, and look for another option"
        raise InvalidValue(
            "find", request.find, "steps, or an option that takes any number of a range", remedy
        ) from None
    return _Family(run, Continuous(near=start, lowest=low, highest=high, more_is_safer=safer))


def _by_option(request: Request, sought: str) -> Callable[[Fraction], OneRun]:
    """The run for each value of the option, of mechanism, sampler or repetitions."""
    plan, given = plan_of(request.resample, request.steps), request.composition(sought)
    match given:
        case KeyedComposition():
            remedy = "A release of keys costs what its own epsilon and delta declare: state these"
            raise InvalidValue("find", request.find, "steps, for keyed data", remedy)
    name = request.find.rpartition(".")[2]
    role = _owner(given, name, request.find)

    def run(value: Fraction) -> OneRun:
        plugin = evolve(getattr(given, role), **{name: Public(value)})
        released = run_of(evolve(given, **{role: plugin}), plan)
        protected: OneRun = protecting(released, request.relation, request.contributions)
        return protected

    return run


def _by_mechanism(request: Request, sought: str) -> Callable[[Fraction], CorrelatedRun]:
    """The run with correlated noise for each value of the mechanism's option."""
    given = request.correlated(str(request.strategy), sought)
    prefix, _, name = request.find.rpartition(".")
    if prefix not in ("", "mechanism") or name not in {option.name for option in options(type(given.mechanism))}:
        remedy = "A strategy and who takes part in it are stated"
        raise InvalidValue("find", request.find, "an option of the mechanism, beside a strategy", remedy)

    def run(value: Fraction) -> CorrelatedRun:
        released = evolve(given, mechanism=evolve(given.mechanism, **{name: Public(value)}))
        protected: CorrelatedRun = protecting(released, request.relation, request.contributions)
        return protected

    return run


def _more_is_safer(run: Callable[[Fraction], _Run], low: float, start: float, high: float) -> bool:
    """Whether the loss falls as the value grows: by two values ever farther apart, until they lose differently."""
    for octaves in _OCTAVES:
        below, above = max(start / 2.0**octaves, low), min(start * 2.0**octaves, high)
        losses = [_size(run(Fraction(value))) for value in (below, above)]
        if losses[0] != losses[1]:
            return losses[1] < losses[0]
    raise InvalidValue("find", str(start), "an option that the loss depends on", "Look for another one")


def _size(run: _Run) -> Fraction:
    """What grows with the loss: δ, summed over a few ε."""
    return sum((spent(run, _at(level)).guarantee.bound.delta.upper for level in _LEVELS), Fraction(0))


def _at(epsilon: str) -> Budget:
    return Budget(epsilon=units.Epsilon(epsilon), delta=units.Delta(1))


def _admits(run: Callable[[Fraction], _Run], value: float) -> bool:
    try:
        _ = run(Fraction(value)).pairs
    except CertdpError:
        return False
    return True


def _owner(given: Composition, name: str, written: str) -> str:
    """Which of the two plugins has the option, or the law of repetitions."""
    prefix, dot, _ = written.rpartition(".")
    owners = ["mechanism", "sampler", *([] if given.repetitions is None else ["repetitions"])]
    for role in [prefix] if dot else owners:
        if role in owners and name in {option.name for option in options(type(getattr(given, role)))}:
            return role
    raise InvalidValue(
        "find", written, "steps, or an option of mechanism or sampler", "radius is stated, not looked for"
    )


def _number(parameter: str, text: str | None, otherwise: float | None) -> Any:
    if text is None:
        return otherwise
    return float(exact(text, parameter=parameter))


command = application(calibrate)
