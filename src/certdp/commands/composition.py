"""What every command that composes a mechanism and a sampler reads: the two plugins and the run's public domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.losses import Loss
from ..accounting.rates import Rate
from ..plugins.contract import AnySampler, Mechanism, Sampler, build, options
from ..plugins.registry import Registry, Role, origin
from ..sampled import declared_loss, drawing_of, stating

_RUN_OPTIONS = ("radius", "dimension")


@frozen(kw_only=True)
class Composition:
    """A mechanism, a sampler and the options of the run, as given.

    Attributes:
        mechanism: built from its options.
        sampler: built from its options.
        run: the run's own options by name: radius, dimension.
    """

    mechanism: Mechanism
    sampler: AnySampler
    run: Mapping[str, str]

    @property
    def stating_sampler(self) -> Sampler:
        """The sampler, where it states its rate.

        Raises:
            InvalidValue: for a sampler that solves for its rate.
        """
        return stating(self.sampler)


def composed(
    mechanism: str, sampler: str, given: list[str], *, third_party: bool, allow: list[str] | None
) -> Composition:
    """The plugins by their registered names, built from KEY=VALUE texts.

    Raises:
        InvalidValue: for an option that nobody declares, that two declare, or with an inadmissible value.
        PluginError: for a plugin that is unknown or cannot be used.
    """
    registry = Registry(third_party=third_party, allow=allow)
    kinds = {
        Role.MECHANISM: registry.get(Role.MECHANISM, mechanism),
        Role.SAMPLER: registry.get(Role.SAMPLER, sampler),
    }
    sorted_options = _sorted(given, kinds)
    result = Composition(
        mechanism=build(kinds[Role.MECHANISM], "mechanism", sorted_options["mechanism"]),
        sampler=build(kinds[Role.SAMPLER], "sampler", sorted_options["sampler"]),
        run=sorted_options["run"],
    )
    _declared(result.mechanism, "mechanism", "loss", lambda: declared_loss(result.mechanism))
    _declared(result.sampler, "sampler", "rate", lambda: drawing_of(result.mechanism, result.sampler))
    return result


def _declared(
    plugin: Mechanism | AnySampler, role: str, attribute: str, declaration: Callable[[], Loss | Rate]
) -> None:
    """Compute what a plugin declares; an accident in its code is reported as its own."""
    try:
        declaration()
    except CertdpError:
        raise
    except Exception as error:  # third-party code may raise anything
        raise InvalidValue(
            role,
            plugin.about.name,
            f"a {role} whose {attribute} can be computed from its options",
            f"It raises {type(error).__name__}: {error}. Report that to distribution {origin(plugin)[0]}",
        ) from error


def _sorted(given: list[str], kinds: Mapping[Role, type]) -> dict[str, dict[str, str]]:
    """Each KEY=VALUE with the one of mechanism, sampler and run that declares KEY.

    What describes the run's public domain goes to the mechanism as well where that declares it; a sampler's own is
    always written out, as in `sampler.radius`, because it may be in another norm.
    """
    declared = {
        "mechanism": [option.name for option in options(kinds[Role.MECHANISM])],
        "sampler": [option.name for option in options(kinds[Role.SAMPLER])],
        "run": list(_RUN_OPTIONS),
    }
    result: dict[str, dict[str, str]] = {role: {} for role in declared}
    for text in given:
        key, sign, value = text.partition("=")
        if not sign or not key or not value:
            raise InvalidValue("option", text, "KEY=VALUE", "Write it like --option scale=1")
        prefix, dot, rest = key.partition(".")
        owners = [role for role, names in declared.items() if key in names]
        if dot and prefix in declared:
            owners, key = [prefix] if rest in declared[prefix] else [], rest
        if not owners:
            known = "; ".join(f"{role}: {', '.join(names) or 'none'}" for role, names in declared.items())
            raise InvalidValue("option", text, f"a declared option ({known})", "Use one of these names")
        if "run" in owners:
            owners = [owner for owner in owners if owner != "sampler"]
        elif len(owners) > 1:
            raise InvalidValue(
                "option", text, "one owner", "Write " + " or ".join(f"{owner}.{key}={value}" for owner in owners)
            )
        for owner in owners:
            if key in result[owner]:
                raise InvalidValue("option", text, f"one value for {owner}.{key}", "Give it once")
            result[owner][key] = value
    return result
