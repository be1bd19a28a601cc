"""`certdp plugins show`: what a mechanism or a sampler is, and the options that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from attrs import asdict, frozen

from ...accounting.errors import InvalidValue
from ...plugins.contract import Option
from ...plugins.contract import options as options_of
from ...plugins.registry import Role
from ..answer import Answer
from ..answering import application
from ..page import Page
from ..requests import Admission

_ROLES = (Role.MECHANISM, Role.SAMPLER)


@frozen(kw_only=True)
class PluginDescription(Answer):
    """What a plugin is and which options it takes.

    Attributes:
        role: mechanism or sampler.
        plugin: its class.
    """

    role: Role
    plugin: Any

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        about = self.plugin.about
        return {
            "role": self.role.word,
            "name": about.name,
            "summary": self._summary,
            "unit": about.unit.name,
            "relations": [relation.name for relation in about.relations],
            "evidence": about.evidence.value,
            "citation": about.citation,
            "options": [asdict(option) for option in self._options],
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        about = self.plugin.about
        page.bold(f"{self.role.word} {about.name}")
        page.print(self._summary, 2)
        relations = ", ".join(relation.name for relation in about.relations)
        page.print(f"unit {about.unit.name}, relation {relations}; {about.evidence.value}: {about.citation}", 2)
        rows = [(one.name, "needed" if one.required else "optional", one.help) for one in self._options]
        page.table(("--option", "", "meaning"), rows)

    @property
    def _options(self) -> list[Option]:
        return options_of(self.plugin)

    @property
    def _summary(self) -> str:
        return (self.plugin.__doc__ or "").strip().partition("\n")[0]


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A mechanism or a sampler.", show_default=False)],
    *,
    admission: Admission,
) -> PluginDescription:
    """What a mechanism or a sampler is, and the options that it takes: --option KEY=VALUE of every command."""
    registry = admission.registry
    known = {listing.name: listing.role for listing in registry.listings(*_ROLES)}
    if name not in known:
        raise InvalidValue("name", name, f"one of {', '.join(sorted(known))}", "Choose one of them")
    return PluginDescription(role=known[name], plugin=registry.get(known[name], name))


command = application(show)
