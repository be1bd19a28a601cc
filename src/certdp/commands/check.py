"""`certdp check`: verify a certificate with the independent checker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ..accounting.errors import InvalidValue, blamed_on
from ..accounting.exact import Floats, exact
from ..data import read_records, refuse_without_file
from ..verification import checker
from ..verification.certificates import signatures
from ..verification.checker import Verdict, digest_of
from ..verification.checker import check as checked
from ..verification.checker.intervals import upper_float
from ..verification.checker.policy import PROVED, RELATIONS, UNITS, Demand, Policy, exit_status
from .answer import Answer
from .answering import application
from .options import AnyData
from .page import Page
from .requests import FileOptions
from .sign import read_small, signature_place


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


def policy_of(
    *,
    require: str | None,
    max_epsilon: str | None,
    max_delta: str | None,
    unit: str | None,
    relation: str | None,
    distributions: tuple[str, ...],
    artefacts: Sequence[Path] = (),
) -> Policy:
    """Return what is demanded of a certificate, from the options as typed.

    Raises:
        InvalidValue: for a word or number that no demand has.
    """
    for name, word, admissible in (
        ("require", require, (PROVED,)),
        ("unit", unit, UNITS),
        ("relation", relation, RELATIONS),
    ):
        if word is not None and word not in admissible:
            raise InvalidValue(name, word, " or ".join(admissible))
    return Policy(
        proved=require is not None,
        max_epsilon=_largest("max-epsilon", max_epsilon, None),
        max_delta=_largest("max-delta", max_delta, 1),
        unit=unit,
        relation=relation,
        distributions=distributions,
        artefacts=tuple((path.name, _digest(path)) for path in artefacts),
    )


def _digest(path: Path) -> str:
    try:
        return digest_of(path)
    except OSError as error:
        raise InvalidValue("artefact", str(path), "a readable file", error.strerror or str(error)) from None


def _largest(name: str, text: str | None, most: int | None) -> Fraction | None:
    if text is None:
        return None
    number = exact(text, parameter=name)
    if number < 0 or (most is not None and number > most):
        raise InvalidValue(name, text, "a number ≥ 0" if most is None else f"a number in [0, {most}]")
    return number


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
    data: AnyData = None,
    *,
    file: FileOptions,
    require: Annotated[
        str | None,
        typer.Option(metavar="proved", help="Fail on what holds only assuming the profile, on an author's word."),
    ] = None,
    max_epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Fail on a larger ε; without --max-delta also on a δ above 0.")
    ] = None,
    max_delta: Annotated[str | None, typer.Option(metavar="D", help="Fail on a larger δ.")] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="record|element|user", help="Fail on a claim about another unit of privacy.")
    ] = None,
    relation: Annotated[
        str | None, typer.Option(metavar="add-remove|replace", help="Fail on a claim about another change of the data.")
    ] = None,
    distribution: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Fail on mechanisms and samplers of other distributions; repeatable."),
    ] = None,
    artefact: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Fail unless this file is one of those released with the certificate; repeatable."
        ),
    ] = None,
    signed_by: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Fail unless it is signed with this public Ed25519 key, a file in PEM."),
    ] = None,
    signature: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its signature; by default beside it, its name with .sig.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of certificates alone.")] = False,
) -> Answer:
    """Verify a certificate again, without the code that made it, and hold it against what is demanded.

    Exit codes: 0 it holds, 3 it holds assuming the profile (something is taken from an author), 1 it is refused or a
    demand is not met, 2 bad input.
    """
    reading = file.reading
    policy = policy_of(
        require=require,
        max_epsilon=max_epsilon,
        max_delta=max_delta,
        unit=unit,
        relation=relation,
        distributions=tuple(distribution or ()),
        artefacts=artefact or (),
    )
    if signature is not None and signed_by is None:
        raise InvalidValue("signature", str(signature), "nothing, without --signed-by", "State whose key it is")
    if schema:
        if signed_by is not None or policy != Policy():
            raise InvalidValue("schema", "beside a demand", "alone", "Check the certificate without --schema")
        for name, path in (("certificate", certificate), ("data", data)):
            if path is not None:
                raise InvalidValue(name, str(path), "no file beside --schema", "Check the certificate without --schema")
    if certificate is None and not schema:
        raise InvalidValue("certificate", "nothing", "the file of a certificate", "Name it: certdp check FILE")
    if data is None:
        refuse_without_file(reading)
    if certificate is None:
        return Schema(resources.files(checker).joinpath("certificate.schema.json").read_text("utf-8"))
    text = read_small("certificate", certificate)
    verdict = checked(text, None if data is None else _Rows(read_records(data, reading)))
    demands = policy.demands(verdict)
    if signed_by is not None:
        demands += (_signed(certificate, text, signed_by, signature),)
    return Checked(certificate=certificate, verdict=verdict, demands=demands)


def _signed(certificate: Path, text: bytes, key: Path, signature: Path | None) -> Demand:
    """The demand that a certificate is signed with a key; a signature that is not there meets none."""
    public = read_small("signed-by", key)
    with blamed_on(key="signed-by"):
        wanted, found = signatures.fingerprint(public), None
        place = signature_place(certificate) if signature is None else signature
        if signature is not None or place.exists():
            met = signatures.is_signed_by(text, read_small("signature", place), public)
            found = wanted if met else "a signature of other bytes or of another key"
    return Demand(name="signed-by", wanted=wanted, found=found, met=found == wanted)


command = application(check, about_data=True)
