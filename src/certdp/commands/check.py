"""`certdp check`: verify a certificate with the independent checker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib import resources
from pathlib import Path

import typer
from attrs import frozen
from rich.console import Console

from ..accounting.errors import InvalidValue
from ..accounting.exact import exact
from ..accounting.expressions.floats import Floats
from ..data import Reading, read_records, refuse_without_file
from ..verification import checker
from ..verification.checker import check, read_file
from ..verification.checker.intervals import upper_float
from ..verification.checker.policy import PROVED, RELATIONS, UNITS, Policy, exit_status
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


def policy_of(
    *,
    require: str | None,
    max_epsilon: str | None,
    max_delta: str | None,
    unit: str | None,
    relation: str | None,
    distributions: tuple[str, ...],
) -> Policy:
    """What is demanded of a certificate, as it is typed.

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
    )


def _largest(name: str, text: str | None, most: int | None) -> Fraction | None:
    if text is None:
        return None
    number = exact(text, parameter=name)
    if number < 0 or (most is not None and number > most):
        raise InvalidValue(name, text, "a number ≥ 0" if most is None else f"a number in [0, {most}]")
    return number


def print_schema(certificate: Path | None, data: Path | None, reading: Reading, policy: Policy, output: Output) -> None:
    """Print the JSON Schema of certificates of all kinds, and nothing else: it checks no file.

    Raises:
        InvalidValue: for a file, how to read one, or a demand on one.
    """
    if policy != Policy():
        raise InvalidValue("schema", "beside a demand", "alone", "Check the certificate without --schema")
    for name, path in (("certificate", certificate), ("data", data)):
        if path is not None:
            raise InvalidValue(name, str(path), "no file beside --schema", "Check the certificate without --schema")
    refuse_without_file(reading)
    schema = resources.files(checker).joinpath("certificate.schema.json").read_text("utf-8")
    typer.echo(schema, nl=False, file=output.console.file)


def run(certificate: Path | None, data: Path | None, reading: Reading, policy: Policy, output: Output) -> None:
    """Check, print the verdict and what is demanded, and end with the exit code that says how it went."""
    if certificate is None:
        raise InvalidValue("certificate", "nothing", "the file of a certificate", "Name it: certdp check FILE")
    if data is None:
        refuse_without_file(reading)
    try:
        text = read_file(certificate)
    except OSError as error:
        raise InvalidValue("certificate", str(certificate), "a readable file", error.strerror or str(error)) from None
    verdict = check(text, None if data is None else _Rows(read_records(data, reading)))
    claim, demands = verdict.claim, policy.demands(verdict)
    result = {
        "certificate": str(certificate),
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
        "demands": [{"demand": d.name, "wanted": d.wanted, "found": d.found, "met": d.met} for d in demands],
    }

    def for_people(console: Console) -> None:
        console.print("\n".join(map(str, (verdict, *demands))), markup=False, soft_wrap=True)

    output.show(result, for_people)
    if code := exit_status(verdict, demands):
        output.end(code)
