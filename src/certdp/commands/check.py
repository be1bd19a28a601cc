"""`certdp check`: verify a certificate with the independent checker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from attrs import frozen

from ..accounting.errors import InvalidValue
from ..verification import checker
from ..verification.checker import Verdict
from ..verification.checker import check as checked
from ..verification.checker.intervals import upper_float
from ..verification.checker.policy import Demand, Policy, exit_status
from .answer import Answer
from .answering import application
from .demands import PolicyRequest, SignatureRequest
from .options import AnyDataSet
from .page import Page
from .requests import FileOptions
from .sign import read_small

if TYPE_CHECKING:
    from ..accounting.exact import Floats


@frozen(eq=False)
class _Rows:
    """Rows as the checker takes them: plain Python floats."""

    records: Floats

    @property
    def columns(self) -> int:
        return int(self.records.shape[1])

    def __iter__(self) -> Iterator[Sequence[float]]:
        for row in self.records:
            yield row.tolist()


@frozen(kw_only=True)
class Checked(Answer):
    """The verdict of the independent checker, and what is demanded of a certificate.

    Attributes:
        certificate: the file.
        verdict: what the checker says.
        demands: what is demanded beside it, met or not.
    """

    certificate: Path
    verdict: Verdict
    demands: tuple[Demand, ...]

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        verdict, claim = self.verdict, self.verdict.claim
        return {
            "certificate": str(self.certificate),
            "verdict": verdict.outcome.value,
            "reason": verdict.reason,
            "data_compared": verdict.data_compared,
            "theorem": None if claim is None else claim.theorem,
            "guarantee": None if claim is None else claim.guarantee,
            "unit": None if claim is None else claim.unit,
            "relation": None if claim is None else claim.relation,
            "audience": None if claim is None else claim.audience,
            "epsilon": None if claim is None or claim.epsilon is None else list(claim.epsilon),
            "delta": None if claim is None or claim.bound is None else upper_float(claim.bound[1]),
            "notion": None if claim is None else claim.notion,
            "parameters": None if claim is None else {name: str(end) for name, end in claim.parameters},
            "domain": None if claim is None else claim.domain,
            "distributions": None if claim is None else list(claim.distributions),
            "assumptions": None if claim is None else [{"name": n, "value": v} for n, v in claim.assumptions],
            "not_used": None if claim is None else [{"name": n, "value": v} for n, v in claim.beside],
            "artefacts": None
            if verdict.artefacts is None
            else {"coins": verdict.artefacts.coins, "files": dict(verdict.artefacts.files)},
            "demands": [{"demand": d.name, "wanted": d.wanted, "found": d.found, "met": d.met} for d in self.demands],
        }

    def show(self, page: Page) -> None:
        """Show the verdict in the checker's own words, which round to the safe side."""
        for line in (self.verdict, *self.demands):
            page.copy(str(line))

    @property
    def exit_code(self) -> int:
        """0 holds, 3 holds assuming the profile, 1 refused or a demand is not met."""
        return exit_status(self.verdict, self.demands)


@frozen
class Schema(Answer):
    """The JSON Schema of certificates of all kinds.

    Attributes:
        text: as the checker has it.
    """

    text: str

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        schema: Mapping[str, object] = json.loads(self.text)
        return schema

    def show(self, page: Page) -> None:
        """Show the schema on the page, for people."""
        page.copy(self.text.rstrip("\n"))


def check(
    certificate: Annotated[
        Path | None, typer.Argument(metavar="CERTIFICATE", help="The certificate to verify.")
    ] = None,
    data: AnyDataSet = None,
    *,
    file: FileOptions,
    demanded: PolicyRequest,
    signed: SignatureRequest,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of certificates alone.")] = False,
) -> Answer:
    """Verify a certificate again, without the code that made it, and hold it against what is demanded.

    Exit codes: 0 it holds, 3 it holds assuming the profile (something is taken from an author), 1 it is refused or a
    demand is not met, 2 bad input.
    """
    policy = demanded.policy
    signed.check()
    if schema:
        if signed.signed_by is not None or policy != Policy():
            raise InvalidValue("schema", "beside a demand", "alone", "Check the certificate without --schema")
        for name, path in (("certificate", certificate), ("data", data)):
            if path is not None:
                files = ", ".join(map(str, path)) if isinstance(path, list) else str(path)
                raise InvalidValue(name, files, "no file beside --schema", "Check the certificate without --schema")
    if certificate is None and not schema:
        raise InvalidValue("certificate", "nothing", "the file of a certificate", "Name it: certdp check FILE")
    if data is None and file != FileOptions():
        from ..data import refuse_without_file

        refuse_without_file(file.reading)
    if certificate is None:
        return Schema(resources.files(checker).joinpath("certificate.schema.json").read_text("utf-8"))
    text = read_small("certificate", certificate)
    verdict = checked(text, None if data is None else _read(data, file))
    demands = (*policy.demands(verdict), *signed.demands(certificate, text))
    return Checked(certificate=certificate, verdict=verdict, demands=demands)


def _read(data: list[Path], file: FileOptions) -> _Rows:
    from ..data import read_records

    return _Rows(read_records(data, file.reading))


command = application(check, about_data=True)
