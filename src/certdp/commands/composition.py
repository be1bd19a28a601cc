"""What every command that composes a mechanism and a sampler reads: the two plugins and the run's public domain.

Records and keyed data are composed differently. Which of the two is meant follows from what the plugins declare: a
sanitiser has `reporting`, a sampler of keys `inclusion`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from attrs import frozen

from ..accounting.errors import CertdpError, InvalidValue, nearest, restated
from ..accounting.sampling.releases import Releases, SampleOnce
from ..accounting.selection import LAWS, Repetitions
from ..plugins.contract import (
    AllocatingSampler,
    AnySampler,
    KeySampler,
    Mechanism,
    Sanitiser,
    StratifyingSampler,
    build,
    options,
)
from ..plugins.registry import Registry, Role, origin
from ..runs.declared import declared_loss, drawing_of
from ..runs.keyed import KeyedRun
from ..runs.run import Plugin
from .options import key_and_value

T = TypeVar("T")

_RUN_OPTIONS = ("radius", "dimension")
_REPETITIONS = "repetitions"
_PARTICIPATION = "participation"
_OF_KEYED_DATA = {Role.MECHANISM: "reporting", Role.SAMPLER: "inclusion"}
"""What a plugin for keyed data declares."""
_WORDS = {False: "records", True: "keyed data"}


@frozen(kw_only=True)
class Composition:
    """A mechanism, a sampler and the options of the run, as given.

    Attributes:
        mechanism: built from its options.
        sampler: built from its options.
        run: the run's own options by name: radius, dimension.
        repetitions: how often the run is repeated, of which the best output is told; None for one run.
        participation: in which steps a record may take part, where noise is correlated over them.
    """

    mechanism: Mechanism
    sampler: AnySampler
    run: Mapping[str, str]
    repetitions: Repetitions | None = None
    participation: Mapping[str, str] = MappingProxyType({})


@frozen(kw_only=True)
class KeyedComposition:
    """A sanitiser and a sampler of keys, as given.

    Attributes:
        mechanism: built from its options.
        sampler: built from its options.
    """

    mechanism: Sanitiser
    sampler: KeySampler

    def run_once(self) -> KeyedRun:
        """Return the run of one release."""
        return KeyedRun(mechanism=self.mechanism, sampler=self.sampler)

    def run(self, releases: Releases) -> KeyedRun:
        """The run of so many releases.

        Raises:
            InvalidValue: for several on one sample.
        """
        match releases:
            case SampleOnce(steps=steps) if steps > 1:
                raise InvalidValue("resample", "once", "each", "Every release of keys draws a sample of its own")
        return KeyedRun(mechanism=self.mechanism, sampler=self.sampler, releases=releases.steps)


AnyComposition: TypeAlias = Composition | KeyedComposition


def chosen(
    mechanism: str,
    sampler: str,
    given: Sequence[str],
    registry: Registry,
    *,
    shared: Sequence[str] = (),
    repetitions: str | None = None,
    participation: Sequence[str] = (),
) -> AnyComposition:
    """The plugins by their registered names, built from KEY=VALUE texts.

    Args:
        mechanism: its name.
        sampler: its name.
        given: the options.
        registry: the plugins admitted.
        shared: options of a run of records, which others may be part of: they do not matter to keyed data.
        repetitions: the name of the law of how often the run is repeated, if it is.
        participation: the names of the constants of who takes part, where noise is correlated.

    Raises:
        InvalidValue: for an option that nobody declares, that two declare, or with an inadmissible value; where one
            plugin is for records and the other for keyed data.
        PluginError: for a plugin that is unknown or cannot be used.
    """
    kinds: dict[Role, type] = {
        Role.MECHANISM: registry.get(Role.MECHANISM, mechanism),
        Role.SAMPLER: registry.get(Role.SAMPLER, sampler),
    }
    keyed = {role: hasattr(kind, _OF_KEYED_DATA[role]) for role, kind in kinds.items()}
    if keyed[Role.MECHANISM] != keyed[Role.SAMPLER]:
        raise InvalidValue(
            "sampler",
            sampler,
            f"a sampler of {_WORDS[keyed[Role.MECHANISM]]}, as mechanism {mechanism} is for them",
            f"{sampler} is for {_WORDS[keyed[Role.SAMPLER]]}; `certdp plugins` lists what is installed",
        )
    if keyed[Role.MECHANISM]:
        if repetitions is not None:
            raise InvalidValue(
                "repetitions", repetitions, "nothing, for keyed data", "Only runs of records are repeated"
            )
        return _of_keyed_data(kinds, given, shared)
    return _of_records(kinds, [*given, *shared], repetitions, participation)


def composed(mechanism: str, sampler: str, given: Sequence[str], registry: Registry) -> Composition:
    """Return the composition of a command about records.

    Raises:
        InvalidValue: for plugins for keyed data; else as `chosen`.
    """
    found = chosen(mechanism, sampler, given, registry)
    match found:
        case Composition():
            drawing_of(found.mechanism, found.sampler)  # refuses what draws no record apart
            return found
    raise InvalidValue(
        "mechanism",
        mechanism,
        "a mechanism for records, with this command",
        "For keyed data there are psi, epsilon, delta, calibrate and the pws commands",
    )


def _of_records(
    kinds: Mapping[Role, type], given: Sequence[str], repetitions: str | None, participation: Sequence[str]
) -> Composition:
    law = None if repetitions is None else _law(repetitions)
    further: dict[str, Sequence[str]] = {_PARTICIPATION: participation} if participation else {}
    if law is not None:
        further[_REPETITIONS] = [option.name for option in options(law)]
    sorted_by = sorted_options(given, kinds, _RUN_OPTIONS, further)
    result = Composition(
        **_built(kinds, sorted_by, _RUN_OPTIONS),
        run=sorted_by["run"],
        repetitions=None if law is None else build(law, _REPETITIONS, sorted_by[_REPETITIONS]),
        participation=sorted_by.get(_PARTICIPATION, {}),
    )
    _declared(result.mechanism, "mechanism", "loss", lambda: declared_loss(result.mechanism))
    if not isinstance(result.sampler, AllocatingSampler | StratifyingSampler):
        _declared(result.sampler, "sampler", "rate", lambda: drawing_of(result.mechanism, result.sampler))
    return result


def _law(name: str) -> type[Repetitions]:
    if name not in LAWS:
        raise InvalidValue(_REPETITIONS, name, ", ".join(LAWS), "Choose one of them")
    return LAWS[name]


def _of_keyed_data(kinds: Mapping[Role, type], given: Sequence[str], _: Sequence[str]) -> KeyedComposition:
    sorted_by = sorted_options(given, kinds, ())
    result = KeyedComposition(**_built(kinds, sorted_by, ()))
    inclusion = _declared(result.sampler, "sampler", "inclusion", lambda: result.sampler.inclusion)
    _declared(result.mechanism, "mechanism", "reporting", lambda: result.mechanism.reporting(inclusion))
    return result


def _built(kinds: Mapping[Role, type], given: Mapping[str, Mapping[str, str]], of_run: Sequence[str]) -> dict[str, Any]:
    """Mechanism and sampler, with errors that name an option as it has to be written."""
    names = {role: [option.name for option in options(kind)] for role, kind in kinds.items()}
    found = {}
    for role, other in ((Role.MECHANISM, Role.SAMPLER), (Role.SAMPLER, Role.MECHANISM)):
        shared = {*names[other], *(of_run if role is Role.SAMPLER else ())}
        name = role.name.lower()
        with _written_out(name, shared.intersection(names[role])):
            found[name] = build(kinds[role], name, given[name])
    return found


@contextmanager
def _written_out(role: str, shared: Container[str]) -> Iterator[None]:
    """Have errors about an option that others share name its owner too."""
    try:
        yield
    except InvalidValue as error:
        if error.parameter not in shared:
            raise
        name = f"{role}.{error.parameter}"
        remedy = error.remedy and error.remedy.replace(f"--option {error.parameter}=", f"--option {name}=")
        raise restated(error, parameter=name, remedy=remedy) from None


def _declared(plugin: Plugin, role: str, attribute: str, declaration: Callable[[], T]) -> T:
    """What a plugin declares, computed; an accident in its code is reported as its own."""
    try:
        return declaration()
    except CertdpError:
        raise
    except Exception as error:  # third-party code may raise anything
        raise InvalidValue(
            role,
            plugin.about.name,
            f"a {role} whose {attribute} can be computed from its options",
            f"It raises {type(error).__name__}: {error}. Report that to distribution {origin(plugin)[0]}",
        ) from error


def sorted_options(
    given: Sequence[str],
    kinds: Mapping[Role, type],
    of_run: Sequence[str],
    further: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, dict[str, str]]:
    """Each KEY=VALUE with the one of mechanism, sampler, run and what is further stated that declares KEY.

    What describes the run's public domain goes to the mechanism as well where that declares it; a sampler's own is
    always written out, as in `sampler.radius`, because it may be in another norm.

    Raises:
        InvalidValue: for an option that nobody declares, that two declare, or that is stated twice; and for one of the
            run that leaves an option of the sampler, of the same name, at its default without a word.
    """
    declared = {
        **{role.name.lower(): [option.name for option in options(kind)] for role, kind in kinds.items()},
        "run": list(of_run),
        **{role: list(names) for role, names in further.items()},
    }
    defaults = {option.name for option in options(kinds[Role.SAMPLER]) if not option.required}
    result: dict[str, dict[str, str]] = {role: {} for role in declared}
    unsaid: dict[str, str] = {}
    for text in given:
        key, value = key_and_value(text, "scale=1")
        prefix, dot, rest = key.partition(".")
        owners = [role for role, names in declared.items() if key in names]
        if dot and prefix in declared:
            owners, key = [prefix] if rest in declared[prefix] else [], rest
        if not owners:
            known = "; ".join(f"{role}: {', '.join(names) or 'none'}" for role, names in declared.items())
            near = nearest(key, chain.from_iterable(declared.values()))
            raise InvalidValue("option", text, f"a declared option ({known})", f"{near}Use one of these names")
        if {"run", "sampler"} <= set(owners):
            owners.remove("sampler")
            if key in defaults:
                unsaid[key] = text
        elif "run" not in owners and len(owners) > 1:
            raise InvalidValue(
                "option", text, "one owner", "Write " + " or ".join(f"{owner}.{key}={value}" for owner in owners)
            )
        for owner in owners:
            if key in result[owner]:
                raise InvalidValue("option", text, f"one value for {owner}.{key}", "Give it once")
            result[owner][key] = value
    for key, text in unsaid.items():
        if key not in result["sampler"]:
            remedy = f"Write run.{text} where the sampler keeps its default, or sampler.{key}=… beside it"
            raise InvalidValue("option", text, "one owner", remedy)
    return result
