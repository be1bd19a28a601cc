"""The check of one plugin against every law of its kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any, TypeAlias, final

from attrs import frozen
from numpy.typing import ArrayLike

from ...accounting.errors import CertdpError, InvalidType, InvalidValue
from ...verification.running.isolation import Crashed, Finished, Overdue, admit_timeout, isolated
from ...verification.running.runner import Result, run
from ..contract import as_records
from ..forks import can_fork
from ..registry import Listing, PluginError, Registry, Role, validate
from .conformance import Conformance, Outcome, Verdict
from .kinds import Kind, Terms, kind_of
from .law import Law, nothing_escapes
from .subjects import Rows

EXAMPLES = 25
"""Cases per law where nothing else is asked for."""

AUDIT_TRIALS = 20_000
"""Releases on either side of an audit where nothing else is asked for."""

CONTRACT = "contract"
"""The name of the law without which no other is looked at."""

_CONTRACT_SAYS = "its class, its identity, its parameters and its methods are what the contract asks for"

Constants: TypeAlias = Mapping[str, str] | Sequence[Mapping[str, str]]
"""Public constants as text by option; one choice of them or several."""


@final
@frozen(kw_only=True, slots=False)
class Examination:
    """A plugin, and what it is checked with; looks at nothing until a law is asked for.

    Attributes:
        called: the name by which it was asked for, if any.
        plugin: a class, or an instance, or a tuple of claims.
        kind: what it is.
        terms: what it is checked with.
        seed: of the search.
        only: a glob on the names of the laws.
    """

    called: str
    plugin: Any
    kind: Kind
    terms: Terms
    seed: int
    only: str

    @property
    def name(self) -> str:
        """The name of the plugin that is examined."""
        about = getattr(self._class, "about", None)
        return self.called or str(getattr(about, "name", None) or getattr(self._class, "__name__", "claims"))

    @property
    def laws(self) -> tuple[str, ...]:
        """The names of the laws that are asked for."""
        return tuple(name for name in self._known if fnmatchcase(name, self.only))

    @property
    def _known(self) -> tuple[str, ...]:
        return (CONTRACT, *(law.name for law in self.kind.laws))

    def __attrs_post_init__(self) -> None:
        if not self.laws:
            raise InvalidValue("only", self.only, "a glob that matches a law", f"Laws: {', '.join(self._known)}")

    def outcome(self, name: str) -> Outcome:
        """What comes of one law.

        Raises:
            InvalidValue: where no public constants are found, with what to do.
        """
        if name == CONTRACT:
            verdict = Verdict.FAILED if self._fault else Verdict.PASSED
            return Outcome(law=CONTRACT, says=_CONTRACT_SAYS, verdict=verdict, reason=self._fault)
        (law,) = (law for law in self.kind.laws if law.name == name)
        if self._fault:
            return _absent(law, "it does not keep the contract")
        with nothing_escapes():
            absence = law.absence(self._subject)
        if absence is not None:
            return _absent(law, absence)
        most = self.terms.examples if law.most is None else min(law.most, self.terms.examples)
        claim = law.of(self._subject, self.name)
        (result,) = run([claim], examples=most, seed=self.seed).results
        return Outcome(
            law=law.name,
            says=law.says,
            verdict=Verdict.PASSED if result.passed else Verdict.FAILED,
            reason=_reason(result),
            witness=result.as_json()["witness"] or {},
            cases_tried=result.cases_tried,
            seconds=result.seconds,
            constants=tuple(setup.options for setup in getattr(self._subject, "setups", ())),
            audited=() if result.error else law.audited(self._subject),
        )

    def stopped(self, name: str, reason: str, seconds: float) -> Outcome:
        """What comes of a law that did not end."""
        says = next((law.says for law in self.kind.laws if law.name == name), _CONTRACT_SAYS)
        return Outcome(law=name, says=says, verdict=Verdict.FAILED, reason=reason, seconds=seconds)

    @property
    def _class(self) -> Any:
        return self.plugin if inspect.isclass(self.plugin) or isinstance(self.plugin, tuple) else type(self.plugin)

    @cached_property
    def _fault(self) -> str:
        """Why it does not keep the contract; empty where it does."""
        module = getattr(self._class, "__module__", "unknown")
        target = f"{module}:{getattr(self._class, '__qualname__', 'claims')}"
        listing = Listing(self.kind.role, self.name, str(module).partition(".")[0], "unregistered", target)
        try:
            with nothing_escapes():
                validate(listing, self._class)
        except PluginError as error:
            return error.reason
        return ""

    @cached_property
    def _subject(self) -> Any:
        return self.kind.subject(self.plugin, self.terms)


def _admit(timeout: float | None) -> None:
    admit_timeout(timeout)
    if timeout is not None and not can_fork():
        raise InvalidValue("timeout", timeout, "nothing, as this system cannot fork", "Leave it out")


def _here(found: Examination) -> tuple[Outcome, ...]:
    return tuple(found.outcome(name) for name in found.laws)


def _apart(found: Examination, timeout: float) -> tuple[Outcome, ...]:
    """Every law in a forked process, another one after each that hangs or crashes."""
    names = found.laws
    outcomes: dict[str, Outcome] = {}
    for index, fate in isolated(names, partial(_or_error, found), jobs=1, seconds=timeout, tick=lambda _: None):
        match fate:
            case Finished(Outcome() as outcome):
                outcomes[names[index]] = outcome
            case Finished(CertdpError() as error):
                raise error
            case Finished():
                raise AssertionError("a law has an outcome or an error")
            case Overdue(seconds):
                outcomes[names[index]] = found.stopped(
                    names[index], f"stopped: it took longer than {timeout:g} s", seconds
                )
            case Crashed(exit_code, seconds):
                outcomes[names[index]] = found.stopped(
                    names[index], f"its process ended with code {exit_code}", seconds
                )
    return tuple(outcomes[name] for name in names)


def _or_error(found: Examination, name: str, _: Callable[[object], None]) -> Outcome | CertdpError:
    try:
        return found.outcome(name)
    except CertdpError as error:
        return error


def _absent(law: Law[Any], reason: str) -> Outcome:
    return Outcome(law=law.name, says=law.says, verdict=Verdict.NOT_APPLICABLE, reason=reason)


def _reason(result: Result) -> str:
    """Say what contradicts the law."""
    if result.error is not None:
        return result.error
    finding = result.finding
    return f"found {finding.closed_form}; wanted {finding.independent}" if finding else ""


def examination(
    plugin: object,
    *,
    role: Role | None = None,
    options: Constants = (),
    records: ArrayLike | None = None,
    examples: int = EXAMPLES,
    seed: int = 0,
    audit_trials: int = AUDIT_TRIALS,
    only: str = "*",
    registry: Registry | None = None,
) -> Examination:
    """A plugin ready to be checked; arguments and errors as for `check`."""
    found = _registered(plugin, role, registry or Registry()) if isinstance(plugin, str) else plugin
    target = found() if inspect.isfunction(found) else found
    given = (options,) if isinstance(options, Mapping) else tuple(options)
    if given and not (inspect.isclass(target)):
        raise InvalidValue("options", given, "nothing, beside an instance", "Give the class, or no options")
    rows: Rows = () if records is None else tuple(map(tuple, as_records(records).tolist()))
    terms = Terms(options=given, rows=rows, examples=examples, audit_trials=audit_trials)
    kind = kind_of(target)
    if role is not None and kind.role is not role:
        raise InvalidType("plugin", target, f"a plugin that is one of the {role.word}s")
    called = plugin if isinstance(plugin, str) else ""
    return Examination(called=called, plugin=target, kind=kind, terms=terms, seed=seed, only=only)


def _registered(name: str, role: Role | None, registry: Registry) -> Any:
    """The registered plugin of this name: a mechanism or a sampler, or else claims."""
    roles = {item.role for item in registry.listings() if item.name == name and role in (None, item.role)}
    if roles >= {Role.MECHANISM, Role.SAMPLER}:
        raise InvalidValue("plugin", name, "a name that one plugin has", "State the role: mechanism or sampler")
    if not roles:
        known = ", ".join(sorted({item.name for item in registry.listings() if role in (None, item.role)}))
        raise InvalidValue("plugin", name, f"one of: {known}", "`certdp plugins` lists what is installed")
    return registry.get(next(found for found in Role if found in roles), name)


def check(
    plugin: object,
    *,
    role: Role | None = None,
    options: Constants = (),
    records: ArrayLike | None = None,
    examples: int = EXAMPLES,
    seed: int = 0,
    audit_trials: int = AUDIT_TRIALS,
    timeout: float | None = None,
    only: str = "*",
    registry: Registry | None = None,
) -> Conformance:
    """Check a plugin against every law of its kind, through the public contract alone.

    Args:
        plugin: a class; an instance, which is checked with its own constants; a function that makes either; a tuple of
            claims; or the name of a registered plugin.
        role: of a registered plugin; without it claims come after mechanisms and samplers of the same name.
        options: public constants to check a class with, as text by option: one mapping or several. Options that are
            left out are chosen from what their converters admit.
        records: records that the mechanism takes, one per row, where it does not take any.
        examples: most cases per law.
        seed: of the search and of all coins.
        audit_trials: releases on either side of an audit, and draws in which frequencies are counted; at least 20.
        timeout: seconds that one law may take. With it laws are checked in a forked process, so that a plugin that
            hangs or ends its process fails that law and the others are still checked; what it prints goes to stderr.
        only: a glob on the names of the laws.
        registry: where a name is looked up.

    Guarantees:
        Each law is listed as passed, failed with the smallest witness found, or not applicable with the reason. A law
        that passes was not contradicted by the cases tried, which is no proof.

    Raises:
        InvalidType: for what is no plugin.
        InvalidValue: for an unknown name, and where no public constants are found, with what to do.
        PluginError: for a registered plugin that cannot be used.
    """
    found = examination(
        plugin,
        role=role,
        options=options,
        records=records,
        examples=examples,
        seed=seed,
        audit_trials=audit_trials,
        only=only,
        registry=registry,
    )
    _admit(timeout)
    outcomes = _here(found) if timeout is None else _apart(found, timeout)
    return Conformance(plugin=found.name, kind=found.kind.word, outcomes=outcomes, seed=seed, examples=examples)
