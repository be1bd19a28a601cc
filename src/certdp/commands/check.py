"""`certdp check`: verify a certificate with the independent checker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

import typer
from attrs import frozen
from rich.console import Console

from ..accounting.errors import InvalidValue
from ..accounting.expressions.floats import Floats
from ..data import Reading, read_records, refuse_without_file
from ..verification import checker
from ..verification.checker import check, read_file
from .output import Output


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


def print_schema(certificate: Path | None, data: Path | None, reading: Reading, output: Output) -> None:
    """Print the JSON Schema of certificates of all kinds, and nothing else: it checks no file.

    Raises:
        InvalidValue: for a file, or how to read one.
    """
    for name, path in (("certificate", certificate), ("data", data)):
        if path is not None:
            raise InvalidValue(name, str(path), "no file beside --schema", "Check the certificate without --schema")
    refuse_without_file(reading)
    schema = resources.files(checker).joinpath("certificate.schema.json").read_text("utf-8")
    typer.echo(schema, nl=False, file=output.console.file)


def run(certificate: Path | None, data: Path | None, reading: Reading, output: Output) -> None:
    """Check, print the verdict, and fail where the certificate is refused."""
    if certificate is None:
        raise InvalidValue("certificate", "nothing", "the file of a certificate", "Name it: certdp check FILE")
    if data is None:
        refuse_without_file(reading)
    try:
        text = read_file(certificate)
    except OSError as error:
        raise InvalidValue("certificate", str(certificate), "a readable file", error.strerror or str(error)) from None
    verdict = check(text, None if data is None else _Rows(read_records(data, reading)))
    claim = verdict.claim
    result = {
        "certificate": str(certificate),
        "verdict": verdict.outcome.value,
        "reason": verdict.reason,
        "data_compared": verdict.data_compared,
        "theorem": None if claim is None else claim.theorem,
        "guarantee": None if claim is None else claim.guarantee,
        "audience": None if claim is None else claim.audience,
        "epsilon": None if claim is None or claim.epsilon is None else list(claim.epsilon),
        "domain": None if claim is None else claim.domain,
        "assumptions": None if claim is None else [{"name": n, "value": v} for n, v in claim.assumptions],
        "not_used": None if claim is None else [{"name": n, "value": v} for n, v in claim.beside],
    }

    def for_people(console: Console) -> None:
        console.print(str(verdict), markup=False, soft_wrap=True)

    output.show(result, for_people)
    if not verdict.accepted:
        output.fail()
