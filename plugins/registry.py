"""Discovery, validation and blocking of plugins over entry points.

Listing reads package metadata and imports nothing. A plugin is imported, and validated before it is handed out,
when it is asked for; a broken, slow, lying or clashing one is reported with its distribution and the rest works on.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from typing import Any, final

import attrs
from attrs import field, frozen

from ..accounting.errors import CertdpError, InvalidValue, nearest
from ..accounting.relations import ELEMENT
from .contract import CONTRACT_VERSION, About, Claim, Expectation
from .forks import can_fork
from .probe import output_to_stderr, probe

OWN_DISTRIBUTION = "certdp"
_SECONDS = 20.0
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_EXPECTED = {Expectation.HOLDS: "holds", Expectation.REJECTED: "is rejected"}


class Role(Enum):
    """What a plugin is; the value is its entry-point group."""

    MECHANISM = "certdp.mechanisms"
    SAMPLER = "certdp.samplers"
    CLAIMS = "certdp.claims"

    @property
    def word(self) -> str:
        """The role as a word in messages."""
        return self.name.lower()


class PluginError(CertdpError):
    """A plugin that cannot be used.

    Attributes:
        listing: which one.
        reason: why not, and what to do.
    """

    def __init__(self, listing: Listing, reason: str) -> None:
        self.listing = listing
        self.reason = printable(reason)
        super().__init__(listing, reason)

    def __str__(self) -> str:
        return (
            f"{self.listing.role.word} {self.listing.name} of distribution {self.listing.distribution}: {self.reason}"
        )


@final
@frozen
class Listing:
    """One entry point, not imported.

    Attributes:
        role: what it is.
        name: the name it registers.
        distribution: the distribution that brings it.
        version: that distribution's version.
        target: "module:object".
    """

    role: Role
    name: str
    distribution: str
    version: str
    target: str

    @property
    def built_in(self) -> bool:
        """Whether the plugin comes with certdp itself."""
        return _plain(self.distribution) == OWN_DISTRIBUTION


@final
@frozen
class Status:
    """A listing and, where it cannot be used, why not.

    Attributes:
        listing: which plugin.
        problem: why it cannot be used, None where it can.
        blocked: whether that is by the registry's settings, which says nothing about the plugin.
        remark: what else there is to say of it, if anything.
    """

    listing: Listing
    problem: str | None
    blocked: bool = False
    remark: str | None = None

    @property
    def valid(self) -> bool:
        """Whether the plugin can be used: no problem was found."""
        return self.problem is None


def _taken(claim: Claim, other: Claim, owner: Listing) -> str:
    """Why a claim cannot have the id of another."""
    if claim.expectation is other.expectation:
        return f"claim {claim.id} is already registered by distribution {owner.distribution}; rename it"
    return (
        f"claim {claim.id} contradicts the one of distribution {owner.distribution}: expected here is that it "
        f"{_EXPECTED[claim.expectation]}, there that it {_EXPECTED[other.expectation]}; correct one, or rename it"
    )


def printable(text: str) -> str:
    """Foreign text that does nothing to a terminal: what is not printable is escaped."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


@lru_cache(maxsize=8)
def _stated(distribution: Distribution | None) -> tuple[str | None, str | None]:
    """What a distribution says that its name and version are: read once for all entry points of one scan."""
    return (None, None) if distribution is None else (distribution.name, distribution.version)


def _listing(role: Role, entry: EntryPoint) -> Listing:
    stated = _stated(entry.dist)
    name, version = (printable(text) if isinstance(text, str) and text else "unknown" for text in stated)
    return Listing(role, printable(entry.name), name, version, entry.value)


def _plain(distribution: str) -> str:
    """The name of a distribution as installers compare it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _distributions(names: Iterable[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(map(_plain, names))


def _installed(role: Role) -> list[EntryPoint]:
    return list(entry_points(group=role.value))


@final
@frozen(kw_only=True)
class Registry:
    """The plugins that are installed and admitted.

    Attributes:
        third_party: whether plugins of other distributions are admitted at all.
        allow: distributions that are admitted; None admits all.
        source: where entry points come from.
        seconds: how long an import may take before the plugin is reported as slow.
    """

    third_party: bool = True
    allow: frozenset[str] | None = field(default=None, converter=_distributions)
    source: Callable[[Role], Iterable[EntryPoint]] = _installed
    seconds: float = _SECONDS

    @property
    def absent(self) -> frozenset[str]:
        """Distributions on the allow-list that have no plugin here."""
        return (self.allow or frozenset()) - {_plain(listing.distribution) for listing in self.listings()}

    def listings(self, *roles: Role) -> list[Listing]:
        """What is installed, mechanisms first, then samplers, then claims, each by name; imports none of it."""
        found = {_listing(role, entry): None for role in roles or Role for entry in self.source(role)}
        order = list(Role).index
        return sorted(
            found, key=lambda listing: (order(listing.role), listing.name, not listing.built_in, listing.target)
        )

    def statuses(self) -> Iterator[Status]:
        """Every listing, imported and validated, with the reason where it cannot be used."""
        for listing in self.listings():
            try:
                self._admit(listing)
                printed = self._checked(listing)
            except PluginError as error:
                yield Status(listing, error.reason, self._barred(listing) is not None)
            else:
                remark = f"it prints when it is imported: {printable(printed)}" if printed else None
                yield Status(listing, None, remark=remark)

    def get(self, role: Role, name: str) -> Any:
        """The validated plugin of this name.

        Raises:
            InvalidValue: for an unknown name, with the known ones.
            PluginError: for one that cannot be used, with its distribution and the reason.
        """
        candidates = [listing for listing in self.listings(role) if listing.name == name]
        if not candidates:
            known = dict.fromkeys(listing.name for listing in self.listings(role))
            remedy = f"{nearest(name, known)}`certdp plugins` lists what is installed"
            raise InvalidValue(role.word, name, f"one of: {', '.join(known)}", remedy)
        admitted = [listing for listing in candidates if self._barred(listing) is None]
        return self._validated((admitted or candidates)[0])

    def claims(self) -> tuple[list[Claim], list[Status]]:
        """All claims of admitted plugins, and the plugins whose claims cannot be used."""
        claims: dict[str, tuple[Claim, Listing]] = {}
        problems: list[Status] = []
        for listing in sorted(self.listings(Role.CLAIMS), key=lambda listing: not listing.built_in):
            try:
                found: dict[str, tuple[Claim, Listing]] = {}
                for claim in self._validated(listing):
                    taken = claims.get(claim.id) or found.get(claim.id)
                    if taken is not None:
                        raise PluginError(listing, _taken(claim, *taken))
                    found[claim.id] = claim, listing
            except PluginError as error:
                problems.append(Status(listing, error.reason, self._barred(listing) is not None))
            else:
                claims.update(found)
        return sorted((claim for claim, _ in claims.values()), key=lambda claim: claim.id), problems

    def _validated(self, listing: Listing) -> Any:
        self._admit(listing)
        if not listing.built_in and can_fork():
            self._checked(listing)
        return self._imported(listing)

    def _checked(self, listing: Listing) -> str:
        """What a plugin prints when it is imported; one of another distribution by a process of its own, if possible.

        Raises:
            PluginError: where it cannot be used.
        """
        if listing.built_in or not can_fork():
            self._imported(listing)
            return ""
        probed = probe(lambda: _fault(listing), self.seconds)
        if probed.fault:
            raise PluginError(listing, probed.fault)
        return probed.printed

    def _barred(self, listing: Listing) -> str | None:
        """Why the settings of this registry leave a plugin out, if they do."""
        if listing.built_in:
            return None
        if not self.third_party:
            return "blocked: third-party plugins are switched off"
        if self.allow is not None and _plain(listing.distribution) not in self.allow:
            return "blocked: its distribution is not on the allow-list"
        return None

    def _admit(self, listing: Listing) -> None:
        barred = self._barred(listing)
        if barred is not None:
            raise PluginError(listing, barred)
        if listing.built_in:
            return
        if not _NAME.fullmatch(listing.name):
            raise PluginError(listing, "its name is not made of lower-case words joined by hyphens, as laplace-sum is")
        rivals = [
            other.distribution
            for other in self.listings(listing.role)
            if other.name == listing.name and other != listing and self._barred(other) is None
        ]
        if rivals:
            raise PluginError(
                listing,
                f"its name clashes with the one of {', '.join(rivals)}; none but a built-in is used until "
                "one is renamed, uninstalled or left off the allow-list",
            )

    def _imported(self, listing: Listing) -> Any:
        """The validated plugin, imported by this process; what it prints meanwhile goes to stderr."""
        if listing.built_in:
            return _sound(listing)
        outcome: list[Any] = []
        failure: list[PluginError] = []

        def load() -> None:
            try:
                outcome.append(_sound(listing))
            except PluginError as error:
                failure.append(error)

        thread = threading.Thread(target=load, daemon=True)
        with output_to_stderr():
            thread.start()
            thread.join(self.seconds)
        if thread.is_alive():
            raise PluginError(listing, f"its import takes longer than {self.seconds:g} s")
        if failure:
            raise failure[0]
        return outcome[0]


def _sound(listing: Listing) -> Any:
    """A plugin that is imported and validated here."""
    try:
        plugin = EntryPoint(listing.name, listing.target, listing.role.value).load()
    except BaseException as error:  # a plugin may raise anything, SystemExit too
        raise PluginError(listing, f"its import fails with {_format_error(error)}") from error
    validate(listing, plugin)
    return plugin


def _fault(listing: Listing) -> str:
    """Why a plugin that is imported here cannot be used; empty where it can."""
    try:
        _sound(listing)
    except PluginError as error:
        return error.reason
    return ""


def _format_error(error: BaseException) -> str:
    """An exception as text, whatever its own text does."""
    try:
        text = str(error)
    except BaseException as other:
        text = f"a text that raises {type(other).__name__}"
    return f"{type(error).__name__}: {text}"


def _check_class(listing: Listing, plugin: Any) -> None:
    if not inspect.isclass(plugin):
        raise PluginError(listing, f"{listing.target} is no class but {plugin!r}")
    if not attrs.has(plugin) or plugin.__setattr__ is not Listing.__setattr__:
        raise PluginError(listing, f"class {plugin.__name__} is no frozen attrs class: decorate it with @attrs.frozen")


def _check_about(listing: Listing, plugin: Any) -> None:
    about = getattr(plugin, "about", None)
    if not isinstance(about, About):
        raise PluginError(listing, f"class {plugin.__name__} has no attribute `about` of type About")
    if about.contract != CONTRACT_VERSION:
        raise PluginError(
            listing,
            f"it is written for contract version {about.contract}; this certdp speaks {CONTRACT_VERSION}: "
            "install matching versions",
        )
    if about.name != listing.name:
        raise PluginError(listing, f"it calls itself {about.name!r} but registers as {listing.name!r}")


def _check_fields(listing: Listing, plugin: Any) -> None:
    for parameter in attrs.fields(plugin):
        if parameter.init and parameter.converter is None:
            raise PluginError(
                listing,
                f"parameter {parameter.name} has no converter: use one of certdp.plugins.contract, such as "
                "positive, so that only declared values are taken",
            )


def _property(name: str) -> Callable[[Listing, Any], None]:
    def check(listing: Listing, plugin: Any) -> None:
        if not isinstance(inspect.getattr_static(plugin, name, None), property):
            raise PluginError(listing, f"class {plugin.__name__} has no property `{name}`")

    return check


def _method(name: str, *parameters: str) -> Callable[[Listing, Any], None]:
    def check(listing: Listing, plugin: Any) -> None:
        function = inspect.getattr_static(plugin, name, None)
        wanted = f"{name}(self, {', '.join(parameters)})"
        if not inspect.isfunction(function):
            raise PluginError(listing, f"class {plugin.__name__} has no method {wanted}")
        signature = inspect.signature(function)
        try:
            signature.bind(*("self", *parameters))
        except TypeError:
            raise PluginError(listing, f"its method is {name}{signature}; the contract wants {wanted}") from None

    return check


def _has(plugin: Any, name: str) -> bool:
    return inspect.getattr_static(plugin, name, None) is not None


def _check_released(listing: Listing, plugin: Any) -> None:
    """A mechanism releases from a sample of records, or is a sanitiser of sampled keys, which are made of elements."""
    if _has(plugin, "reporting") or plugin.about.unit == ELEMENT:
        _check_keyed(listing, plugin)
        _method("reporting", "inclusion")(listing, plugin)
    else:
        _property("loss")(listing, plugin)
        _method("release", "sample", "coins")(listing, plugin)


def _check_rate(listing: Listing, plugin: Any) -> None:
    """A sampler states its rate, strata or batches, or makes a rate for the loss, or states how it keeps keys."""
    if _has(plugin, "inclusion") or plugin.about.unit == ELEMENT:
        _check_keyed(listing, plugin)
        _property("inclusion")(listing, plugin)
    elif _has(plugin, "epoch"):
        _property("epoch")(listing, plugin)
    elif _has(plugin, "strata"):
        _property("strata")(listing, plugin)
    elif _has(plugin, "rate_for"):
        _method("rate_for", "loss")(listing, plugin)
    else:
        _property("rate")(listing, plugin)


def _check_keyed(listing: Listing, plugin: Any) -> None:
    if plugin.about.unit != ELEMENT:
        raise PluginError(listing, f"its data are keyed, so its unit must be ELEMENT, not {plugin.about.unit!r}")


def _check_claims(listing: Listing, plugin: Any) -> None:
    if not isinstance(plugin, tuple) or not all(isinstance(claim, Claim) for claim in plugin):
        raise PluginError(listing, f"{listing.target} is no tuple of claims")


_CHECKS: dict[Role, tuple[Callable[[Listing, Any], None], ...]] = {
    Role.MECHANISM: (_check_class, _check_about, _check_fields, _check_released),
    Role.SAMPLER: (_check_class, _check_about, _check_fields, _check_rate),
    Role.CLAIMS: (_check_claims,),
}


def validate(listing: Listing, plugin: Any) -> None:
    """Check what can be seen of a plugin without building it.

    Raises:
        PluginError: where it does not keep the contract, with the reason.
    """
    for check in _CHECKS[listing.role]:
        try:
            check(listing, plugin)
        except PluginError:
            raise
        except BaseException as error:  # looking at a plugin may run its code
            raise PluginError(listing, f"its validation fails with {_format_error(error)}") from error


def origin(plugin: object, registry: Registry | None = None) -> tuple[str, str]:
    """Distribution and version that a plugin instance comes from; its top-level module and "unregistered" otherwise."""
    return origin_of_class(type(plugin), registry)


def origin_of_class(kind: type, registry: Registry | None = None) -> tuple[str, str]:
    """Distribution and version that a plugin class comes from, as `origin`."""
    target = f"{kind.__module__}:{kind.__qualname__}"
    for listing in (registry or Registry()).listings(Role.MECHANISM, Role.SAMPLER):
        if listing.target == target:
            return listing.distribution, listing.version
    return kind.__module__.partition(".")[0], "unregistered"
