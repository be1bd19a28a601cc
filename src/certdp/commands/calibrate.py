"""`certdp calibrate`: the least noise, the most releases or the highest rate within a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from attrs import evolve, frozen

from ..accounting import units
from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.exact import exact
from ..accounting.provenance import Public
from ..durable.files import Rank, published
from ..plugins.contract import options
from ..runs.allocated import AllocatedRun
from ..runs.calibration import Budget, Calibration, Continuous, Scale, Whole, spent
from ..runs.calibration import calibrate as value_within
from ..runs.keyed import KeyedRun
from ..runs.run import Answer as RunAnswer
from ..runs.sampled import SampledRun
from ..runs.stratified import StratifiedRun
from .account import accountant_of, protecting, run_of, statement_of
from .answer import Answer, assumptions_as_json, path_as_json
from .answering import application
from .composition import AnyComposition, Composition, KeyedComposition, chosen
from .digits import Numbers
from .options import (
    Accountant,
    Certificate,
    Contributions,
    Epsilon,
    Mechanism,
    Options,
    Plot,
    Relation,
    Resample,
    Sampler,
    Steps,
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
    from ..runs.certificates import Certified

_STEPS = "steps"
_LARGEST = 2.0**200
_NEAREST = 1.0
_OCTAVES = (1, 4, 16, 64)
_LEVELS = ("0", "1", "4")
_LITTLE = Fraction(1, 1000)  # how far above the budget a certificate is brought back within it by more noise
_TRIES = 4
_BEYOND = 1 + Fraction(1, 2**24)  # aimed below a budget: at it, roundings may end above

_Run: TypeAlias = SampledRun[Any] | AllocatedRun | StratifiedRun | KeyedRun


@frozen(kw_only=True)
class Request:
    """What is looked for, and within what."""

    mechanism: Mechanism
    sampler: Sampler
    find: Annotated[
        str, typer.Option(metavar="KEY", help="What is looked for: steps, or an option of mechanism or sampler.")
    ]
    epsilon: Epsilon
    delta: Annotated[str, typer.Option(metavar="D", help="δ of the budget; at 0 the pure ε.")] = "0"
    option: Options = None
    resample: Resample = None
    steps: Steps = 1
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
        return chosen(self.mechanism, self.sampler, [*self.options, *more], self.admission.registry)


@frozen(kw_only=True)
class Calibrated(Answer):
    """The value that uses a budget best, and what the run then costs.

    Attributes:
        request: what was asked.
        budget: within what.
        found: the value.
        answer: what the run costs with it.
        certified: what the certificate proves, where one was written.
    """

    request: Request
    budget: Budget
    found: Calibration[Any]
    answer: RunAnswer[Any]
    certified: WrittenCertificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        found, answer, guarantee = self.found, self.answer, self.answer.guarantee
        return {
            "find": self.request.find,
            "value": float(found.value),
            "exact": str(found.value),
            "gap": found.gap,
            "refused": None if found.refused is None else float(found.refused),
            "refuted": found.refuted,
            "budget": {"epsilon": float(self.budget.epsilon.value), "delta": float(self.budget.delta.value)},
            "epsilon": [answer.epsilon.lower, answer.epsilon.upper],
            "delta": [answer.delta.lower, answer.delta.upper],
            "accountant": answer.accountant.name,
            "guarantee": {
                "statement": answer.statement,
                "unit": guarantee.unit.name,
                "relation": guarantee.relation.name,
                "derivation": str(guarantee.derivation),
            },
            "assumptions": assumptions_as_json(guarantee.assumptions),
            "certificate": path_as_json(self.request.certificate),
            "plot": path_as_json(self.request.plot),
            "certified": None if self.certified is None else self.certified.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page; the values looked for can be typed again, because they keep their digits."""
        found, answer, guarantee = self.found, self.answer, self.answer.guarantee
        page.run(self.request.mechanism, self.request.sampler)
        page.bold(f"{self.request.find} = {_typed(found.value, page.numbers)}")
        page.print(f"{statement_of(answer, page.numbers)}, proven by {answer.accountant} accounting", 2)
        if found.refused is None:
            page.print("the end of the range: the budget allows more than was looked for", 2)
        else:
            known = "is proven to exceed the budget" if found.refuted else "was not proven to keep it"
            page.print(f"{self.request.find} = {_typed(found.refused, page.numbers)} {known}", 2)
        page.print(f"unit {guarantee.unit.name}, relation {guarantee.relation.name}", 2)
        page.files({"certificate": self.request.certificate})
        show_certified(page, self.certified, answer)
        if self.certified is not None and _above(self.certified, self.budget) > 1:
            page.print("which is more than the budget", 2)
        page.files({"plot": self.request.plot})
        page.assumptions(guarantee.assumptions)


def _typed(value: Fraction, numbers: Numbers) -> str:
    """A value that is there to be typed again: all digits of binary64, or exactly."""
    return str(value) if numbers.full else Numbers(full=True).about(value)


def calibrate(request: Request, terminal: Terminal) -> Calibrated:
    """The least noise, the most releases or the highest rate within a budget: the safe end, proven.

    The plot is of ε against what is looked for.
    """
    budget = Budget(epsilon=units.Epsilon(request.epsilon), delta=units.Delta(request.delta))
    asked = accountant_of(request.accountant)
    check_places(None, {"plot": request.plot, "certificate": request.certificate})
    with waiting(terminal):
        family = _steps(request) if request.find == _STEPS else _option(request)
        found = value_within(family.run, budget, family.over)
        answer = spent(found.run, budget, asked)
        if request.certificate is not None:
            found, answer = _certifiable(family, budget, found, answer)
    with published() as files:
        if request.plot is not None:
            files.write(request.plot, _picture(request, family, found, budget, terminal), Rank.STATEMENT)
        certified = write_certificate(files, request.certificate, found.run, answer)
    return Calibrated(request=request, budget=budget, found=found, answer=answer, certified=certified)


@frozen
class _Family:
    """A run for each value, and the values."""

    run: Callable[[Fraction], _Run]
    over: Scale


def _certifiable(
    family: _Family, budget: Budget, found: Calibration[Any], answer: RunAnswer[Any]
) -> tuple[Calibration[Any], RunAnswer[Any]]:
    """The value found, or where its certificate is a little above the budget, the next safer one that has none above.

    The checker's number may be a little above the answer: a budget smaller by as much is calibrated to. Where that is
    more than `_LITTLE`, or does not help, the value stays; the certificate then proves more than the budget.
    """
    if found.refused is None:
        return found, answer
    from ..runs.certificates import certificate

    safer, proven = found, answer
    aim = budget
    for _ in range(_TRIES):
        match safer.run:
            case KeyedRun() | AllocatedRun() | StratifiedRun():  # has no certificate: writing it says so
                break
            case run:
                certified = certificate(run, proven)
        above = _above(certified, budget)
        if above <= 1:
            return evolve(safer, refused=found.refused, refuted=found.refuted), proven
        if above > 1 + _LITTLE:
            break
        aim = _smaller(aim, above * _BEYOND)
        try:
            safer = value_within(family.run, aim, family.over)
        except InvalidValue:  # the range has no safer value
            break
        proven = spent(safer.run, budget, answer.accountant)
    return found, answer


def _above(certified: Certified | WrittenCertificate, budget: Budget) -> Fraction:
    """How many times the budget a certificate proves."""
    return max(_share(certified.epsilon, budget.epsilon.value), _share(certified.delta, budget.delta.value))


def _share(spent: Fraction, allowed: Fraction) -> Fraction:
    return spent / allowed if allowed else Fraction(0)


def _smaller(budget: Budget, times: Fraction) -> Budget:
    """The budget with that number divided which the search compares."""
    if budget.delta.value:
        return Budget(epsilon=budget.epsilon, delta=units.Delta(budget.delta.value / times))
    return Budget(epsilon=units.Epsilon(budget.epsilon.value / times), delta=budget.delta)


def _picture(request: Request, family: _Family, found: Calibration[Any], budget: Budget, terminal: Terminal) -> bytes:
    from ..plots.runs import CALIBRATION_PLACES, plot_calibration

    with watched(terminal, CALIBRATION_PLACES, *counting("drawing", "values")) as bar:
        advance = None if bar is None else lambda: bar.add(1)
        return plot_calibration(family.run, found, budget, request.find, advance=advance)


def _steps(request: Request) -> _Family:
    if request.steps > 1:
        raise InvalidValue(_STEPS, request.steps, "nothing, where the steps are looked for", "Leave --steps out")
    if request.resample is None:
        raise InvalidValue("resample", "nothing", "once or each", "Several releases are asked for: say which")
    given = request.composition()

    def run(steps: Fraction) -> _Run:
        released = run_of(given, plan_of(request.resample, int(steps)))
        protected: _Run = protecting(released, request.relation, request.contributions)
        return protected

    if request.at_least is not None:
        raise InvalidValue("at-least", request.at_least, "nothing, where the steps are looked for", "Leave it out")
    return _Family(run, Whole() if request.at_most is None else Whole(highest=int(exact(request.at_most))))


def _option(request: Request) -> _Family:
    """The family over one option; its direction is read off two runs that are close to each other."""
    stated = [text.partition("=")[0] for text in request.options]
    if request.find in stated:
        raise InvalidValue("find", request.find, "an option that is not given", f"Leave --option {request.find}=… out")
    plan = plan_of(request.resample, request.steps)
    low = _number("at-least", request.at_least, 1 / _LARGEST)
    high = _number("at-most", request.at_most, None)
    start = min(max(_NEAREST, low), high or _LARGEST)
    sought = f"{request.find}={start!r}"
    try:
        given = request.composition(sought)
    except InvalidValue as error:
        if error.value != sought:
            raise
        raise InvalidValue("find", request.find, f"steps, or {error.admissible}", error.remedy) from None
    match given:
        case KeyedComposition():
            remedy = "A release of keys costs what its own epsilon and delta declare: state these"
            raise InvalidValue("find", request.find, "steps, for keyed data", remedy)
    name = request.find.rpartition(".")[2]
    role = _owner(given, name, request.find)

    def run(value: Fraction) -> _Run:
        plugin = evolve(getattr(given, role), **{name: Public(value)})
        released = run_of(evolve(given, **{role: plugin}), plan)
        protected: _Run = protecting(released, request.relation, request.contributions)
        return protected

    if high is None:
        high = _LARGEST if _admits(run, _LARGEST) else _NEAREST
    start = min(start, high)
    return _Family(
        run,
        Continuous(near=start, lowest=low, highest=high, more_is_safer=_more_is_safer(run, low, start, high)),
    )


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
    """Which of the two plugins has the option."""
    prefix, dot, _ = written.rpartition(".")
    roles = [prefix] if dot else ["mechanism", "sampler"]
    for role in roles:
        if role in ("mechanism", "sampler") and name in {option.name for option in options(type(getattr(given, role)))}:
            return role
    raise InvalidValue(
        "find", written, "steps, or an option of mechanism or sampler", "radius is stated, not looked for"
    )


def _number(parameter: str, text: str | None, otherwise: float | None) -> Any:
    if text is None:
        return otherwise
    return float(exact(text, parameter=parameter))


command = application(calibrate)
