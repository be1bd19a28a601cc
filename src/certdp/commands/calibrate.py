"""`certdp calibrate`: the least noise, the most releases or the highest rate within a budget."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen
from rich.console import Console

from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.exact import exact
from ..accounting.provenance import Public
from ..accounting.units import Delta, Epsilon
from ..durable.files import published
from ..plugins.contract import options
from ..runs.calibration import Budget, Calibration, Continuous, Scale, Whole, calibrate, spent
from ..runs.run import Answer
from ..runs.sampled_releases import SampledReleases
from .account import Request, accountant_of, composition_of, run_of
from .composition import Composition
from .output import Output
from .outputs import check_places
from .plan import plan_of
from .run_certificates import print_certified, write_certificate

_STEPS = "steps"
_LARGEST = 2.0**200
_NEAREST = 1.0
_OCTAVES = (1, 4, 16, 64)
_LEVELS = ("0", "1", "4")


@frozen(kw_only=True)
class Target:
    """What is looked for, and within what.

    Attributes:
        find: an option of mechanism or sampler, or steps.
        epsilon: ε of the budget.
        delta: δ of the budget; 0 asks for the pure loss.
        at_least: the least value admitted, or None.
        at_most: the largest, or None.
    """

    find: str
    epsilon: str
    delta: str
    at_least: str | None
    at_most: str | None


def run_calibrate(request: Request, target: Target, output: Output) -> None:
    """The value that uses a budget best, and what the run then costs."""
    budget = Budget(epsilon=Epsilon(target.epsilon), delta=Delta(target.delta))
    accountant = accountant_of(request)
    check_places(None, {"certificate": request.certificate})
    family = _steps(request, target) if target.find == _STEPS else _option(request, target)
    found = calibrate(family.run, budget, family.over)
    answer = spent(found.run, budget, accountant)
    with published() as files:
        certified = write_certificate(files, request.certificate, found.run, answer)
    data = {**_as_json(request, target, budget, found, answer), "certified": certified}
    output.show(data, lambda console: _print(console, request, data))


@frozen
class _Family:
    """A run for each value, and the values."""

    run: Callable[[Fraction], SampledReleases]
    over: Scale


def _steps(request: Request, target: Target) -> _Family:
    if request.steps > 1:
        raise InvalidValue(_STEPS, request.steps, "nothing, where the steps are looked for", "Leave --steps out")
    if request.resample is None:
        raise InvalidValue("resample", "nothing", "once or each", "Several releases are asked for: say which")
    given = composition_of(request)

    def run(steps: Fraction) -> SampledReleases:
        return run_of(given, plan_of(request.resample, int(steps)))

    if target.at_least is not None:
        raise InvalidValue("at-least", target.at_least, "nothing, where the steps are looked for", "Leave it out")
    return _Family(run, Whole() if target.at_most is None else Whole(highest=int(exact(target.at_most))))


def _option(request: Request, target: Target) -> _Family:
    """The family over one option; its direction is read off two runs that are close to each other."""
    stated = [text.partition("=")[0] for text in request.options]
    if target.find in stated:
        raise InvalidValue("find", target.find, "an option that is not given", f"Leave --option {target.find}=… out")
    plan = plan_of(request.resample, request.steps)
    low = _number("at-least", target.at_least, 1 / _LARGEST)
    high = _number("at-most", target.at_most, None)
    start = min(max(_NEAREST, low), high or _LARGEST)
    given = composition_of(request, [f"{target.find}={start!r}"])
    name = target.find.rpartition(".")[2]
    role = _owner(given, name, target.find)

    def run(value: Fraction) -> SampledReleases:
        plugin = evolve(getattr(given, role), **{name: Public(value)})
        return run_of(evolve(given, **{role: plugin}), plan)

    if high is None:
        high = _LARGEST if _admits(run, _LARGEST) else _NEAREST
    start = min(start, high)
    return _Family(
        run,
        Continuous(near=start, lowest=low, highest=high, more_is_safer=_more_is_safer(run, low, start, high)),
    )


def _more_is_safer(run: Callable[[Fraction], SampledReleases], low: float, start: float, high: float) -> bool:
    """Whether the loss falls as the value grows: by two values ever farther apart, until they lose differently."""
    for octaves in _OCTAVES:
        below, above = max(start / 2.0**octaves, low), min(start * 2.0**octaves, high)
        losses = [_size(run(Fraction(value))) for value in (below, above)]
        if losses[0] != losses[1]:
            return losses[1] < losses[0]
    raise InvalidValue("find", str(start), "an option that the loss depends on", "Look for another one")


def _size(run: SampledReleases) -> Fraction:
    """What grows with the loss: δ, summed over a few ε."""
    return sum((spent(run, _at(level)).guarantee.bound.delta.upper for level in _LEVELS), Fraction(0))


def _at(epsilon: str) -> Budget:
    return Budget(epsilon=Epsilon(epsilon), delta=Delta(1))


def _admits(run: Callable[[Fraction], SampledReleases], value: float) -> bool:
    try:
        run(Fraction(value))
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


def _as_json(
    request: Request, target: Target, budget: Budget, found: Calibration[Any], answer: Answer
) -> dict[str, Any]:
    return {
        "find": target.find,
        "value": float(found.value),
        "exact": str(found.value),
        "gap": found.gap,
        "refused": None if found.refused is None else float(found.refused),
        "refuted": found.refuted,
        "budget": {"epsilon": float(budget.epsilon.value), "delta": float(budget.delta.value)},
        "epsilon": [answer.epsilon.lower, answer.epsilon.upper],
        "delta": [answer.delta.lower, answer.delta.upper],
        "accountant": answer.accountant.name,
        "guarantee": {
            "statement": answer.statement,
            "unit": answer.guarantee.unit.name,
            "relation": answer.guarantee.relation.name,
            "derivation": str(answer.guarantee.derivation),
        },
        "assumptions": [{"name": a.name, "value": a.value} for a in answer.guarantee.assumptions],
        "certificate": None if request.certificate is None else str(request.certificate),
    }


def _print(console: Console, request: Request, data: dict[str, Any]) -> None:
    console.print(f"[bold]{request.mechanism}[/bold] on a sample drawn by [bold]{request.sampler}[/bold]")
    value = int(data["value"]) if data["find"] == _STEPS else data["value"]
    console.print(f"  [bold]{data['find']} = {value!r}[/bold]", highlight=False)
    guarantee = data["guarantee"]
    console.print(f"  {guarantee['statement']}, proven by {data['accountant']} accounting", markup=False)
    if data["refused"] is None:
        console.print("  the end of the range: the budget allows more than was looked for", markup=False)
    else:
        known = "is proven to exceed the budget" if data["refuted"] else "was not proven to keep it"
        refused = int(data["refused"]) if data["find"] == _STEPS else data["refused"]
        console.print(f"  {data['find']} = {refused!r} {known}", markup=False)
    print_certified(console, data)
    console.print(f"  unit {guarantee['unit']}, relation {guarantee['relation']}", markup=False)
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']}" + (f" = {item['value']}" if item["value"] else ""), markup=False)
