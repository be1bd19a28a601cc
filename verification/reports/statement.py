"""A statement for people, made from a certificate: what is promised, for whom, by which proof, and what is not said.

Its headings follow NIST SP 800-226 (Near, Darais, Lefkovitz, Howarth 2025): the privacy parameters and the unit of
privacy; the mechanism and its correctness; and the rest, which a guarantee stands on and no certificate speaks of.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from typing import final

from attrs import frozen

from ...accounting.errors import InvalidValue
from ...accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..checker import Claim, Outcome, Verdict, check
from ..checker.intervals import upper_float
from ..checker.statement import exactly, in_decimals

_PUBLIC = "public"
_CHANGES = {
    ADD_REMOVE.name: "they differ in one {whom}, which is in one of them",
    REPLACE.name: "they differ in one {whom}, which is another in each",
    ZERO_OUT.name: "they differ in one {whom}, which counts as nothing in one of them",
}
NOT_SAID = (
    ("trust model", "who sees the data before the mechanism, and who is trusted with them"),
    ("security", "access to the data, to the coins and to the owner's files; side channels such as the time taken"),
    ("data collection", "how the data came together, and whether a person is in one unit alone"),
    ("preprocessing", "what was looked at, chosen or tuned on these data before, and what that cost"),
    ("other releases", "what else was released of the same data: the losses add up"),
    ("unprotected quantities", "what was published beside, without noise"),
    ("utility and bias", "how far the output is from the data, and for whom"),
)
"""What a certificate does not speak of, and whoever publishes has to."""


class Variant(Enum):
    """The variant of differential privacy, as the registry of deployments names it."""

    PURE = "Pure DP"
    APPROXIMATE = "Approximate DP"
    ZERO_CONCENTRATED = "Zero-concentrated DP"
    RENYI = "Renyi DP"
    CUSTOM = "Custom"


_VARIANTS = {"zero-concentrated": Variant.ZERO_CONCENTRATED, "renyi": Variant.RENYI}
_FROM_BELOW = "bayes-risk"


@final
@frozen(kw_only=True)
class Statement:
    """What a certificate promises.

    Attributes:
        digest: SHA-256 of the certificate.
        verdict: what the checker says of it: it was accepted.
        claim: its claim.
        epsilon: upper end of ε, rounded up; None in a notion without one.
        delta: upper end of δ, rounded up; None in a notion without one.
    """

    digest: str
    verdict: Verdict
    claim: Claim
    epsilon: float | None
    delta: float | None

    @property
    def variant(self) -> Variant:
        """The notion as the registry names it: pure where δ is 0, else approximate; custom without a name there."""
        if self.delta is None:
            return _VARIANTS.get(self.claim.notion, Variant.CUSTOM)
        return Variant.PURE if self.delta == 0 else Variant.APPROXIMATE

    @property
    def title(self) -> str:
        """What is promised, in a line; and that something of it is taken from an author, where it is."""
        return f"Privacy statement{self.assuming}: {self.claim.guarantee}"

    @property
    def assuming(self) -> str:
        """Words for what is taken from an author; none where all is proven."""
        return "" if self.verdict.outcome is Outcome.HOLDS else ", assuming what its author states"

    @property
    def change(self) -> str:
        """What is different between neighbouring data sets."""
        return _CHANGES[self.claim.relation].format(whom=self.claim.whom)


def statement_of(certificate: bytes) -> Statement:
    """The statement of a publishable certificate, which is checked here.

    Raises:
        InvalidValue: for a certificate that is refused, that is for the data's owner, or that claims a profile alone.
    """
    verdict = check(certificate)
    claim = verdict.claim
    if not verdict.accepted or claim is None:
        raise InvalidValue("certificate", verdict.reason, "a certificate that the checker accepts", "Make it anew")
    if claim.audience != _PUBLIC:
        remedy = "It holds figures of the data: make one without --data"
        raise InvalidValue("certificate", f"one for {claim.audience}", "one for publication", remedy)
    if not claim.parameters:
        remedy = "It states a profile over no public domain: name a radius, and make it anew"
        raise InvalidValue("certificate", "one that claims no ε", "one that claims an ε", remedy)
    epsilon, delta = (None, None) if claim.bound is None else map(upper_float, claim.bound)
    digest = f"sha256:{sha256(certificate).hexdigest()}"
    return Statement(digest=digest, verdict=verdict, claim=claim, epsilon=epsilon, delta=delta)


@final
@frozen
class Section:
    """A part of a statement.

    Attributes:
        title: its heading.
        rows: names and what is said of them.
    """

    title: str
    rows: tuple[tuple[str, str], ...]


def sections(stated: Statement) -> tuple[Section, ...]:
    """A statement in parts, for whichever page it is written on."""
    return tuple(
        Section(title, tuple((_plain(name), _plain(value)) for name, value in rows)) for title, rows in _parts(stated)
    )


def _plain(text: str) -> str:
    """A text in ASCII that does nothing to a terminal: parts of it are whatever an author wrote."""
    return ascii(text)[1:-1]


def _parts(stated: Statement) -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    yield "Privacy parameters and unit of privacy", _parameters(stated)
    yield "Mechanism and proof", _proof(stated)
    yield "The proof assumes", iter(stated.claim.assumptions)
    if stated.claim.beside:
        yield "Stated beside, unchecked and not used by the proof", iter(stated.claim.beside)
    if stated.verdict.artefacts is not None:
        yield "Released with it, as its author states", iter(stated.verdict.artefacts.files)
    yield "Not in the certificate, and for the publisher to say", iter(NOT_SAID)


def _parameters(stated: Statement) -> Iterator[tuple[str, str]]:
    claim = stated.claim
    yield "guarantee", claim.guarantee
    yield "variant", stated.variant.value
    for name, end in claim.parameters:
        yield name, _end(name, end)
    yield "unit of privacy", claim.whom
    yield "neighbouring data sets", stated.change
    yield "over", str(claim.domain)


def _end(name: str, end: Fraction) -> str:
    if name == "order":
        return exactly(end)
    return f"at least {in_decimals(end, up=False)}" if name == _FROM_BELOW else f"at most {in_decimals(end)}"


def _proof(stated: Statement) -> Iterator[tuple[str, str]]:
    yield "theorem", stated.claim.theorem
    yield "mechanisms and samplers of", ", ".join(stated.claim.distributions)
    yield "verdict of the checker", f"{stated.verdict.outcome.value}: {stated.verdict.reason}"
    yield "certificate", f"{stated.digest}; anyone can check it: certdp check FILE"


def as_text(stated: Statement) -> str:
    """A statement in lines."""
    return "\n".join(_text_lines(stated)) + "\n"


def _text_lines(stated: Statement) -> Iterator[str]:
    yield _plain(stated.title)
    for section in sections(stated):
        yield ""
        yield section.title
        yield from (f"  {name}: {value}" if value else f"  {name}" for name, value in section.rows)


def as_markdown(stated: Statement) -> str:
    """A statement in Markdown: a table for each part."""
    return "\n".join(_markdown_lines(stated)) + "\n"


def _markdown_lines(stated: Statement) -> Iterator[str]:
    yield f"# {_cell(stated.title)}"
    for section in sections(stated):
        yield ""
        yield f"## {section.title}"
        yield ""
        yield "| what | stated |"
        yield "|---|---|"
        yield from (f"| {_cell(name)} | {_cell(value)} |" for name, value in section.rows)


def _cell(text: str) -> str:
    """A text in Markdown that is shown as it is, whatever its author wrote."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_{}[]()<>#|!&~$" else letter for letter in text)
    return " ".join(escaped.split())
