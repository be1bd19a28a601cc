"""What `certdp check` demands of a certificate beside that it holds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ..accounting.errors import InvalidValue, blamed_on
from ..verification.certificates import signatures
from ..verification.checker import digest_of
from ..verification.checker.policy import PROVED, RELATIONS, UNITS, Demand, Policy
from .options import whole_or_none
from .sign import read_small, signature_place


@frozen(kw_only=True)
class PolicyRequest:
    """What a certificate must prove, and of what; None where nothing is demanded."""

    require: Annotated[
        str | None,
        typer.Option(metavar="proved", help="Fail on what holds only assuming the profile, on an author's word."),
    ] = None
    max_epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Fail on a larger ε; without --max-delta also on a δ above 0.")
    ] = None
    max_delta: Annotated[str | None, typer.Option(metavar="D", help="Fail on a larger δ.")] = None
    unit: Annotated[
        str | None, typer.Option(metavar="record|element|user", help="Fail on a claim about another unit of privacy.")
    ] = None
    min_contributions: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Fail on a claim that covers fewer records of one user; needed with --unit user."
        ),
    ] = None
    relation: Annotated[
        str | None,
        typer.Option(metavar="add-remove|replace|zero-out", help="Fail on a claim about another change of the data."),
    ] = None
    distribution: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Fail on mechanisms and samplers of other distributions; repeatable."),
    ] = None
    artefact: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Fail unless this file is one of those released with the certificate; repeatable."
        ),
    ] = None

    @property
    def policy(self) -> Policy:
        """The demands, as the checker compares them.

        Raises:
            InvalidValue: for a word or number that no demand has, and a file that cannot be read.
        """
        for name, word, admissible in (
            ("require", self.require, (PROVED,)),
            ("unit", self.unit, UNITS),
            ("relation", self.relation, RELATIONS),
        ):
            if word is not None and word not in admissible:
                raise InvalidValue(name, word, " or ".join(admissible))
        if self.unit == "user" and self.min_contributions is None:
            remedy = "State --min-contributions N: any claim about users holds for so many records of each"
            raise InvalidValue("min-contributions", None, "with --unit user, how many records of one user", remedy)
        return Policy(
            proved=self.require is not None,
            max_epsilon=_largest("max-epsilon", self.max_epsilon, None),
            max_delta=_largest("max-delta", self.max_delta, 1),
            unit=self.unit,
            min_contributions=whole_or_none("min-contributions", self.min_contributions),
            relation=self.relation,
            distributions=tuple(self.distribution or ()),
            artefacts=tuple((path.name, _digest(path)) for path in self.artefact or ()),
        )


@frozen(kw_only=True)
class SignatureRequest:
    """Whose signature a certificate must have; None where none is demanded."""

    signed_by: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Fail unless it is signed with this public Ed25519 key, a file in PEM."),
    ] = None
    signature: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its signature; by default beside it, its name with .sig.")
    ] = None

    def check(self) -> None:
        """Before anything is read.

        Raises:
            InvalidValue: for a signature of which nobody is said to be the author.
        """
        if self.signature is not None and self.signed_by is None:
            raise InvalidValue(
                "signature", str(self.signature), "nothing, without --signed-by", "State whose key it is"
            )

    def demands(self, certificate: Path, text: bytes) -> tuple[Demand, ...]:
        """The demand on a certificate of these bytes, if there is one; a signature that is not there meets none.

        Raises:
            InvalidValue: for what is no public key, and files that cannot be read.
        """
        if self.signed_by is None:
            return ()
        public = read_small("signed-by", self.signed_by)
        with blamed_on(key="signed-by"):
            wanted, found = signatures.fingerprint(public), None
            place = signature_place(certificate) if self.signature is None else self.signature
            if self.signature is not None or place.exists():
                met = signatures.is_signed_by(text, read_small("signature", place), public)
                found = wanted if met else "a signature of other bytes or of another key"
        return (Demand(name="signed-by", wanted=wanted, found=found, met=found == wanted),)


def _digest(path: Path) -> str:
    try:
        return digest_of(path)
    except OSError as error:
        raise InvalidValue("artefact", str(path), "a readable file", error.strerror or str(error)) from None


def _largest(name: str, text: str | None, most: int | None) -> Fraction | None:
    if text is None:
        return None
    from ..accounting.exact import exact

    number = exact(text, parameter=name)
    if number < 0 or (most is not None and number > most):
        raise InvalidValue(name, text, "a number ≥ 0" if most is None else f"a number in [0, {most}]")
    return number
