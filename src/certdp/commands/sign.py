"""`certdp sign`: a signature beside a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ..accounting.errors import InvalidValue, blamed_on
from ..durable.files import write_whole
from ..verification.certificates import signatures
from ..verification.checker import read_file
from .answer import Answer
from .answering import application
from .options import AnyOutput
from .outputs import check_places
from .page import Page

SUFFIX = ".sig"


def signature_place(certificate: Path) -> Path:
    """Where the signature of a certificate lies unless something else is stated."""
    return certificate.with_name(certificate.name + SUFFIX)


@frozen(kw_only=True)
class Signed(Answer):
    """Where the signature of a certificate was written.

    Attributes:
        certificate: what was signed.
        signature: its signature.
    """

    certificate: Path
    signature: Path

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {"certificate": str(self.certificate), "signature": str(self.signature)}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.files({"signature": self.signature})


def read_small(parameter: str, path: Path) -> bytes:
    """The bytes of a certificate, a key or a signature.

    Raises:
        InvalidValue: for what cannot be read.
    """
    try:
        return read_file(path)
    except OSError as error:
        raise InvalidValue(parameter, str(path), "a readable file", error.strerror or str(error)) from None


def sign(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="The certificate to sign.")],
    signing_key: Annotated[Path, typer.Option(metavar="KEY", help="A private Ed25519 key in PEM, not encrypted.")],
    output: AnyOutput = None,
) -> Signed:
    """Sign a certificate that the checker accepts; `certdp check --signed-by` compares.

    The signature is written beside the certificate, its name with .sig, unless --output says where.
    """
    place = signature_place(certificate) if output is None else output
    check_places(None, {"output": place})
    for name, path in (("certificate", certificate), ("signing-key", signing_key)):
        if path.resolve() == place.resolve():
            raise InvalidValue("output", str(place), f"another file than the {name}", "Choose another name")
    text, key = read_small("certificate", certificate), read_small("signing-key", signing_key)
    with blamed_on(key="signing-key"):
        signature = signatures.sign(text, key)
    write_whole(place, signature)
    return Signed(certificate=certificate, signature=place)


command = application(sign)
