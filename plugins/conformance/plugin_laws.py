"""Laws of every mechanism and sampler, whatever it does: identity, public constants, the same answers each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import attrs

from ...accounting.errors import CertdpError
from ...accounting.provenance import Private
from ..contract import Case, Finding, build, stated
from .constants import Setup
from .law import Law, broken, kept

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class HasSetups(Protocol):
    """What a law here needs to know."""

    @property
    def setups(self) -> tuple[Setup, ...]:
        """Public constants to try the plugin with."""
        ...


S = TypeVar("S", bound=HasSetups)


def of_setups(subject: HasSetups) -> SearchStrategy[Case]:
    """Return one case for each choice of constants."""
    from hypothesis import strategies

    return strategies.fixed_dictionaries({"constants": strategies.sampled_from(subject.setups)})


def _states_its_options(_: HasSetups, case: Case) -> Finding:
    """What it states of itself makes the same plugin again."""
    setup: Setup = case["constants"]
    plugin = setup.build()
    text = stated(plugin)
    again = stated(build(setup.plugin, "plugin", text))
    return kept() if again == text else broken(f"{again}, built from {text}", text)


def _takes_declared_values(_: HasSetups, case: Case) -> Finding:
    """A value that is private, or of no stated provenance, is refused."""
    setup: Setup = case["constants"]
    for parameter in attrs.fields(setup.plugin):
        name = parameter.alias or parameter.name
        if not parameter.init or name not in setup.options:
            continue
        for value, kind in ((Private(setup.options[name]), "a Private value"), (1.5, "a bare float")):
            try:
                parameter.converter(value)
            except (CertdpError, TypeError):
                continue
            return broken(f"{name} takes {kind}", "Public and Released values alone")
    return kept()


LAWS: tuple[Law[HasSetups], ...] = (
    Law(
        name="options",
        says="built again from the constants that it states, it states the same",
        cases=of_setups,
        examine=_states_its_options,
    ),
    Law(
        name="provenance",
        says="its parameters take declared values alone",
        cases=of_setups,
        examine=_takes_declared_values,
    ),
)
