"""What the checker says about a certificate."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Refused(Exception):
    """A reason why a certificate does not stand; `check` turns it into a verdict."""


class NotProven(Refused):
    """A refusal for the sole reason that a number is too small for what is proven in its place."""

    def __init__(self, reason: str, proven: Fraction | None) -> None:
        """Say why, and what is proven of one record in its place; None where nothing is."""
        super().__init__(reason)
        self.proven = proven


class Outcome(Enum):
    """The three answers of the checker."""

    HOLDS = "holds"
    """Proven here, from the formulas of certdp's own mechanisms and samplers with admissible options."""
    HOLDS_ASSUMING_PROFILE = "holds assuming the profile"
    """The same, but for what is taken from an author: a loss, a rate, or what a release of constants cost."""
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The claim of a certificate, as shown beside its verdict."""

    theorem: str
    guarantee: str
    unit: str
    whom: str
    """For whom it speaks: one of that unit, or a group of several; of users with their number of records."""
    together: int
    """How many records or elements of one user, or of one group, may change at once."""
    relation: str
    audience: str
    epsilon: tuple[float | None, float] | None
    """Certified enclosure of the supremum of ψ over `domain`; the lower end is None where none is claimed."""
    bound: tuple[Fraction, Fraction] | None
    """The upper ends of epsilon and delta that were proven, exactly; None where no epsilon is claimed."""
    domain: str | None
    distributions: tuple[str, ...]
    """Of which the mechanisms and samplers come, each once."""
    assumptions: tuple[tuple[str, str], ...]
    """What the proof uses, by name and value: each value is the one it was used with."""
    beside: tuple[tuple[str, str], ...]
    """What the file states beside that: the proof does not use it, and nothing of it was checked."""
    notion: str
    """In which it is stated."""
    parameters: tuple[tuple[str, Fraction], ...]
    """The numbers of that notion that were proven, exactly, by name; none where only a profile is claimed."""


@dataclass(frozen=True, kw_only=True)
class Artefacts:
    """The files that were released with a certificate, and the coins they were drawn with: as its author states."""

    coins: str
    files: tuple[tuple[str, str], ...]
    """Each by its name and its digest."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of a check, and why.

    Guarantees: the outcome is not REFUSED only if the file is canonical, its profile is the one that the
    theorem gives for its inputs, the theorem's premises were proven, and every number of the claim was proven.
    It is HOLDS only if every mechanism and sampler is certdp's own, so that loss and rate are the formulas proven for
    its options, and no released constant is used; otherwise `reason` names each thing that is taken from an author,
    whatever evidence that author states. `claim` has all assumptions. An owner's figures are proven where
    `data_compared`.
    """

    outcome: Outcome
    reason: str
    data_compared: bool = False
    claim: Claim | None = None
    artefacts: Artefacts | None = None
    proven: Fraction | None = None
    """Where the only thing wrong is a number that is too small: what is proven of one record in its place, or about as
    much; of (epsilon, delta) a delta at that epsilon. Other numbers may be too small as well."""

    @property
    def accepted(self) -> bool:
        """Whether the certificate holds, possibly assuming the profile."""
        return self.outcome is not Outcome.REFUSED

    def __repr__(self) -> str:
        """Give the outcome, and the reason within three lines."""
        return f"<Verdict: {self.outcome.value}: {_plain(self.reason[:180])}>"

    def __str__(self) -> str:
        """Give the verdict in a few lines of ASCII."""
        lines = [f"{self.outcome.value}: {self.reason}"]
        if self.claim is not None:
            lines.append(f"claim: {self.claim.guarantee}, by {self.claim.theorem}")
            lines.append(f"audience: {self.claim.audience}")
            if self.claim.epsilon is not None:
                lower, upper = self.claim.epsilon
                ends = f"[{'null' if lower is None else lower}, {upper}]"
                lines.append(f"epsilon: {ends} over {self.claim.domain}")
            elif not self.claim.parameters:
                lines.append("epsilon: none claimed, for want of a public domain; the profile alone")
            else:
                lines.append(f"epsilon: none claimed, but {self.claim.notion} privacy over {self.claim.domain}")
        lines.append(f"data: {'compared' if self.data_compared else 'not compared'}")
        if self.claim is not None:
            lines.append("assuming:")
            lines += map(_assumption_line, self.claim.assumptions)
            if self.claim.beside:
                lines += [
                    "stated beside that, unchecked and not used by the proof:",
                    *map(_assumption_line, self.claim.beside),
                ]
        if self.artefacts is not None:
            lines.append(f"released with it, as stated, with coins of the {self.artefacts.coins}:")
            lines += map(_assumption_line, self.artefacts.files)
        return "\n".join(lines)


def _assumption_line(stated: tuple[str, str]) -> str:
    """Give an assumption in a line."""
    return "  " + " = ".join(map(_plain, filter(None, stated)))


def _plain(text: str) -> str:
    """Give a text in ASCII that does nothing to a terminal."""
    return ascii(text)[1:-1]
