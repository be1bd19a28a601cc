"""`certdp statement`: what a certificate promises, for people and for the registry of deployments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from attrs import Attribute, fields, frozen

from ..accounting.errors import InvalidValue
from ..durable.files import write_whole
from ..verification.checker.policy import exit_status
from ..verification.reports.registry import CuratorType, Deployment, ProductType, TrustModel, as_registry
from ..verification.reports.statement import Statement, as_markdown, as_text, sections, statement_of
from .answer import Answer, path_as_json
from .answering import application
from .options import AnyOutput
from .outputs import check_places
from .page import Page
from .sign import read_small


class Format(Enum):
    """How a statement is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    REGISTRY = "registry-yaml"


@frozen(kw_only=True)
class DeploymentOptions:
    """What no certificate knows of a deployment."""

    name: Annotated[str | None, typer.Option(metavar="NAME", help="Registry: the name of the data product.")] = None
    curator: Annotated[str | None, typer.Option(metavar="WHO", help="Registry: who publishes it.")] = None
    curator_type: Annotated[CuratorType | None, typer.Option(help="Registry: what kind of body that is.")] = None
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="Registry: of the data product.")] = None
    intended_use: Annotated[str | None, typer.Option(metavar="TEXT", help="Registry: what it is for.")] = None
    product_type: Annotated[
        ProductType | None,
        typer.Option(
            metavar="TYPE", help=f"Registry: what is published: {', '.join(one.value for one in ProductType)}."
        ),
    ] = None
    region: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Registry: what region the data describe, or whose laws apply.")
    ] = None
    published: Annotated[
        datetime | None,
        typer.Option(metavar="YYYY-MM-DD", formats=["%Y-%m-%d"], help="Registry: when it was published first."),
    ] = None
    author: Annotated[str | None, typer.Option(metavar="WHO", help="Registry: who fills in the record.")] = None
    trust_model: Annotated[TrustModel | None, typer.Option(help="Registry: whom the people in the data trust.")] = None

    @property
    def deployment(self) -> Deployment:
        """The deployment that the options describe.

        Raises:
            InvalidValue: where one is missing that the registry requires.
        """
        for one in self._given(False):
            if one.name != "trust_model":
                remedy = "The registry requires it, and no certificate says it"
                raise InvalidValue(one.name.replace("_", "-"), None, "what describes the deployment", remedy)
        values = {one.name: getattr(self, one.name) for one in fields(type(self))}
        return Deployment(**{**values, "published": values["published"].date()})

    def refuse(self) -> None:
        """Refuse any of the options, where no record for the registry is written."""
        for one in self._given(True):
            name = one.name.replace("_", "-")
            raise InvalidValue(name, getattr(self, one.name), "nothing without --format registry-yaml", "Leave it out")

    def _given(self, wanted: bool) -> list[Attribute[object]]:
        return [one for one in fields(type(self)) if (getattr(self, one.name) is not None) is wanted]


@frozen(kw_only=True)
class Stated(Answer):
    """The statement of a certificate.

    Attributes:
        certificate: the file.
        statement: what it promises.
        written: the statement in the format that was asked for.
        output: where it was written to, or None.
    """

    certificate: Path
    statement: Statement
    written: str
    output: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        found = self.statement
        return {
            "certificate": str(self.certificate),
            "digest": found.digest,
            "verdict": found.verdict.outcome.value,
            "variant": found.variant.value,
            "epsilon": None if found.epsilon is None else [None, found.epsilon],
            "delta": found.delta,
            "notion": found.claim.notion,
            "parameters": {name: str(end) for name, end in found.claim.parameters},
            "unit": found.claim.unit,
            "relation": found.claim.relation,
            "sections": [{"title": one.title, "rows": [list(row) for row in one.rows]} for one in sections(found)],
            "output": path_as_json(self.output),
        }

    @property
    def exit_code(self) -> int:
        """0, or 3 where something is taken from an author."""
        return exit_status(self.statement.verdict, ())

    def show(self, page: Page) -> None:
        """Show the statement as it was asked for, or where it was written."""
        if self.output is None:
            page.copy(self.written.rstrip("\n"))
        else:
            page.files({"statement": self.output})


def statement(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate for publication.")],
    format: Annotated[
        Format, typer.Option(help="For people, or a record for the registry of deployments.")
    ] = Format.TEXT,
    output: AnyOutput = None,
    *,
    about: DeploymentOptions,
) -> Stated:
    """Say in words what a certificate promises, what it rests on, and what it does not speak of.

    The certificate is checked first. `registry-yaml` is a record for the Differential Privacy Deployments Registry,
    with the certificate as its evidence; the options that it needs say what no certificate knows.
    Exit codes: 0, 3 where something is taken from an author, 2 for a certificate that is refused and other bad input.
    """
    check_places(certificate, {"output": output})
    if format is not Format.REGISTRY:
        about.refuse()
    deployment = about.deployment if format is Format.REGISTRY else None
    found = statement_of(read_small("certificate", certificate))
    if deployment is not None:
        written = as_registry(found, deployment)
    else:
        written = as_markdown(found) if format is Format.MARKDOWN else as_text(found)
    if output is not None:
        write_whole(output, written.encode("utf-8"))
    return Stated(certificate=certificate, statement=found, written=written, output=output)


command = application(statement)
