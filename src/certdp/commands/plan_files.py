"""Plans from files: TOML that names mechanisms, samplers and their public constants. Nothing in a file is run.

unit = "element"            # whom the plan protects; left out, a record. With releases of keyed data, an element:
                            # then each record of the others is one element, too

[domain]
radius = 1                  # of every record; norm and dimension where they matter

[[release]]
mechanism = "gaussian-sum"
sampler = "poisson"
resample = "each"           # or "once"; needed for more than one step
steps = 1000
option = {noise_multiplier = 2, rate = 0.01}
repetitions = {law = "poisson", mean = 10}  # where the best of several such runs is told

[[release]]                 # noise that is correlated over the steps; no sampler is named
mechanism = "gaussian-sum"
steps = 100
option = {noise_multiplier = 8}
strategy = "1,0.5,0.375"    # as on the command line: tree, Toeplitz coefficients, or an npy file
participation = {times = 4, apart = 25}  # or groups and rate
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.norms import Norm
from ..accounting.relations import ELEMENT, RECORD, Element, Record
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import Releases, ResampleEach
from ..plugins.registry import Registry
from ..runs.correlated import CorrelatedRun
from ..runs.plan import Plan
from ..runs.run import RunPart
from ..runs.selected import SelectedRun
from ..samplers.full import Full
from .composition import AnyComposition, Composition, chosen
from .correlated import PARTICIPATION, correlated_run
from .domain import norms_of, stated_domain
from .one_run import OneRun, protecting, require_relation, run_within
from .plan import WAYS
from .requests import Admission

_LARGEST = 1 << 20
"""Bytes of a file: a plan is short."""

_READABLE = "a TOML file in UTF-8"
_RUN = ("domain", "release", "unit")
_UNITS: dict[str, Record | Element] = {unit.name: unit for unit in (RECORD, ELEMENT)}
_DOMAIN = ("dimension", "norm", "radius")
_SHARED = ("dimension", "radius")
_RELEASE = ("mechanism", "option", "participation", "repetitions", "resample", "sampler", "steps", "strategy")
_ROLES = ("mechanism", "sampler")


@frozen
class StatedPlan:
    """What a file states.

    Attributes:
        plan: its releases.
        digest: SHA-256 of the file.
    """

    plan: Plan[Any]
    digest: str


def plan_from_file(path: Path | str, *, third_party: bool = True, allow: list[str] | None = None) -> Plan[Any]:
    """The plan that a TOML file states, whose values are declared public.

    Args:
        path: the file. Numbers are read exactly, decimals as decimals.
        third_party: whether plugins of other distributions are admitted.
        allow: admit this distribution's plugins and no others.

    Raises:
        InvalidValue, PluginError: as `stated_plan`.
    """
    return stated_plan(path, Admission(third_party=third_party, allow=allow)).plan


def stated_plan(
    path: Path | str, admission: Admission, *, relation: str | None = None, contributions: int | None = None
) -> StatedPlan:
    """The plan that a TOML file states, and the file's digest; its values are declared public.

    Args:
        path: the file. Numbers are read exactly, decimals as decimals.
        admission: whose plugins a plan may name.
        relation: the change of the data to protect against; unless given, what the mechanisms declare.
        contributions: how many records a user has at most; unless given, the plan's unit is protected.

    Raises:
        InvalidValue: for a file that cannot be read, an unknown, missing or inadmissible entry, by its name in the
            file, such as release[2].steps.
        PluginError: for a plugin that is unknown or cannot be used.
    """
    content = _read(Path(path))
    stated = _tables(Path(path), content)
    _known("", stated, _RUN)
    unit = stated.get("unit", RECORD.name)
    if not isinstance(unit, str) or unit not in _UNITS:
        admissible = " or ".join(f'"{name}"' for name in _UNITS)
        raise InvalidValue("unit", unit or "nothing", admissible, "Say whom the plan protects")
    domain = _table("domain", stated.get("domain", {}))
    _known("domain", domain, _DOMAIN)
    releases = stated.get("release")
    if not isinstance(releases, list) or not releases:
        raise InvalidValue(
            "release", releases if releases is not None else "nothing", "one or more tables [[release]]", "State one"
        )
    require_relation(relation)
    registry = admission.registry
    parts = [
        _part(f"release[{number}]", _table(f"release[{number}]", release), domain, registry)
        for number, release in enumerate(releases, 1)
    ]
    ball = _domain(domain, [given for part in parts for given in _of_records(part.given)])
    runs = [part.on(ball, _UNITS[unit], relation, contributions) for part in parts]
    return StatedPlan(Plan(runs), hashlib.sha256(content).hexdigest())


@frozen
class _Part:
    """A release as stated, before the domain is known.

    Attributes:
        place: where it stands in the file.
        given: its plugins.
        releases: how many, and on which samples.
        strategy: what correlates their noise, if anything.
    """

    place: str
    given: AnyComposition
    releases: Releases
    strategy: str | None = None

    def on(
        self, domain: NormBall | None, unit: Record | Element, relation: str | None, contributions: int | None
    ) -> RunPart[Any]:
        """The part, over the plan's domain; `unit` is the plan's, the others as of `stated_plan`."""
        with _placed(self.place):
            found: RunPart[Any] = protecting(self._stated(domain, unit), relation, contributions)
            _ = _once(found).pairs  # what cannot be composed is refused here, by its place in the file
            return found

    def _stated(self, domain: NormBall | None, unit: Record | Element) -> OneRun | CorrelatedRun:
        match self.given:
            case Composition() as given if self.strategy is not None:
                return correlated_run(given, self.strategy, given.participation, self.releases.steps, domain)
            case Composition() as given:
                return run_within(given, self.releases, domain, unit)
        if unit != ELEMENT:
            name = self.given.mechanism.about.name
            raise InvalidValue(
                "mechanism",
                name,
                "a mechanism on records, in a plan whose unit is a record",
                f'{name} protects elements: state unit = "element" at the top of the file, where each '
                "record of the other releases is one element",
            )
        return self.given.run(self.releases)


def _once(run: RunPart[Any]) -> RunPart[Any]:
    """The run itself; one of those of which the best is told."""
    return run.base if isinstance(run, SelectedRun) else run


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidValue("plan", str(path), f"a file of at most {_LARGEST:,} bytes", "State the plan alone")
        return path.read_bytes()
    except OSError as error:
        raise InvalidValue("plan", str(path), _READABLE, f"It cannot be read: {error}") from None


def _tables(path: Path, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"), parse_float=str)
    except UnicodeDecodeError as error:
        raise InvalidValue("plan", str(path), _READABLE, f"It cannot be read: {error}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidValue("plan", str(path), "a TOML file", f"Its syntax is wrong: {error}") from None


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Errors inside name the entry of the file."""
    try:
        yield
    except InvalidValue as error:
        raise type(error)(f"{place}.{error.parameter}", error.value, error.admissible, error.remedy) from error


def _part(place: str, stated: Mapping[str, Any], domain: Mapping[str, Any], registry: Registry) -> _Part:
    _known(place, stated, _RELEASE)
    correlated = "strategy" in stated
    if correlated:
        stated = _on_everything(place, stated)
    names = {role: _text(f"{place}.{role}", stated.get(role)) for role in _ROLES}
    options = dict(_options(f"{place}.option", _table(f"{place}.option", stated.get("option", {}))))
    shared = {name: _scalar(f"domain.{name}", domain[name]) for name in _SHARED if name in domain}
    releases = _releases(place, stated)
    law, constants = _repetitions(f"{place}.repetitions", stated.get("repetitions"))
    taken = _participation(f"{place}.participation", stated)
    strategy = _text(f"{place}.strategy", stated["strategy"]) if correlated else None
    with _placed(place):
        given = chosen(
            names["mechanism"],
            names["sampler"],
            [*_texts(options), *_texts(constants), *_texts(taken)],
            registry,
            shared=_texts(shared),
            repetitions=law,
            participation=tuple(PARTICIPATION) if correlated else (),
        )
    return _Part(place, given, releases, strategy)


def _on_everything(place: str, stated: Mapping[str, Any]) -> Mapping[str, Any]:
    """A release with correlated noise, whose participation alone says who is in a step."""
    for key in ("sampler", "resample", "repetitions"):
        if key in stated:
            remedy = "State a participation alone"
            raise InvalidValue(f"{place}.{key}", stated[key], "nothing, beside a strategy", remedy)
    return {**stated, "sampler": Full.about.name, "resample": "each"}


def _participation(place: str, stated: Mapping[str, Any]) -> Mapping[str, str]:
    """The constants of a participation as options."""
    if "participation" not in stated:
        return {}
    if "strategy" not in stated:
        remedy = "Who takes part in releases without a strategy is said by the sampler"
        raise InvalidValue(place, stated["participation"], "nothing, without a strategy", remedy)
    table = _table(place, stated["participation"])
    _known(place, table, tuple(PARTICIPATION))
    return {f"participation.{key}": _scalar(f"{place}.{key}", value) for key, value in table.items()}


def _repetitions(place: str, stated: Any) -> tuple[str | None, Mapping[str, str]]:
    """The name of a law of repetitions, and its constants as options."""
    if stated is None:
        return None, {}
    table = dict(_table(place, stated))
    law = _text(f"{place}.law", table.pop("law", None))
    return law, {f"repetitions.{key}": _scalar(f"{place}.{key}", value) for key, value in table.items()}


def _texts(options: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in options.items()]


def _options(place: str, stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The options as on the command line: KEY, mechanism.KEY or sampler.KEY."""
    for key, value in stated.items():
        if key in _SHARED:
            raise InvalidValue(
                f"{place}.{key}", value, "nothing here", "All parts share one domain: state it in [domain]"
            )
        if key in _ROLES:
            for inner, scalar in _table(f"{place}.{key}", value).items():
                yield f"{key}.{inner}", _scalar(f"{place}.{key}.{inner}", scalar)
        else:
            yield key, _scalar(f"{place}.{key}", value)


def _releases(place: str, stated: Mapping[str, Any]) -> Releases:
    steps = stated.get("steps", 1)
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise InvalidValue(f"{place}.steps", steps, "a whole number ≥ 1", "State how many releases there are")
    way = stated.get("resample")
    if way is None and steps == 1:
        return ResampleEach(1)
    if not isinstance(way, str) or way not in WAYS:
        raise InvalidValue(
            f"{place}.resample",
            "nothing" if way is None else way,
            '"once" or "each"',
            f"{steps} releases on one sample cost something else than each on a fresh sample: say which",
        )
    return WAYS[way](steps)


def _domain(stated: Mapping[str, Any], parts: Iterable[Composition]) -> NormBall | None:
    with _placed("domain"):
        return stated_domain(
            {name: _scalar(name, value) for name, value in stated.items()}, lambda: _common_norm(parts)
        )


def _of_records(given: AnyComposition) -> Iterator[Composition]:
    """The composition, where records matter to it."""
    match given:
        case Composition():
            yield given


def _common_norm(parts: Iterable[Composition]) -> Norm:
    """The norm of the parts in which one matters."""
    norms = dict.fromkeys(run.norm for run in map(norms_of, parts) if run.norms)
    if len(norms) > 1:
        known = " or ".join(norm.value for norm in norms)
        raise InvalidValue("norm", "nothing", known, "Records are measured in these norms: say which one is bounded")
    return next(iter(norms), Norm.L1)


def _known(place: str, stated: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for key in stated:
        if key not in names:
            where = f"{place}.{key}" if place else key
            raise InvalidValue(where, stated[key], f"one of {', '.join(names)}", "Remove it, or correct its name")


def _table(place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidType(place, value, "a table", f"Write [{place}] or {{…}}")
    return value


def _text(place: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidValue(
            place, "nothing" if value is None else value, "a name", "`certdp plugins` lists the registered ones"
        )
    return value


def _scalar(place: str, value: Any) -> str:
    """A constant as the command line would have it: decimals are text already."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str() if value:
            return value
    raise InvalidValue(place, value, "a number, a text or true/false", "State one public constant")
