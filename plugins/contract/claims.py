"""What a claim is: a statement of a paper tied to a closed form, an independent solve and a domain of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import field, frozen

from ...accounting.errors import InvalidValue

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Case: TypeAlias = Mapping[str, Any]
"""One case of a claim: its inputs by name."""

Box: TypeAlias = Mapping[str, tuple[Fraction, Fraction]]
"""The lower and the upper end of each variable by its name."""


class Expectation(Enum):
    """What the verification suite expects of a claim."""

    HOLDS = "holds"
    REJECTED = "rejected"


@final
@frozen
class Finding:
    """The outcome of one case.

    Attributes:
        holds: whether the closed form agrees with the independent solve.
        closed_form: its value, as text.
        independent: the other value, as text.
    """

    holds: bool
    closed_form: str
    independent: str


@final
@frozen(kw_only=True)
class Proof:
    """What interval subdivision came to on a whole box.

    Attributes:
        says: the inequality that was to be proven.
        box: where.
        cells: how many cells of the box were examined.
        unproven: the cell on which it failed or stayed undecided, None where it is proven on the whole box.
    """

    says: str
    box: Box
    cells: int
    unproven: Box | None = None

    @property
    def holds(self) -> bool:
        """Whether the inequality is proven at every point of the box."""
        return self.unproven is None

    def __str__(self) -> str:
        cells = f"{self.cells} cell{'' if self.cells == 1 else 's'}"
        if self.unproven is None:
            return f"{self.says}: proven on {_formatted(self.box)} ({cells})"
        return f"{self.says}: not proven on {_formatted(self.unproven)} within {_formatted(self.box)} ({cells})"


def _formatted(box: Box) -> str:
    return ", ".join(f"{name} ∈ [{low}, {high}]" for name, (low, high) in box.items())


def _identifier(_: object, __: object, value: Any) -> None:
    if not isinstance(value, str) or value.count("/") != 1 or not all(value.split("/")):
        raise InvalidValue("id", value, "source/statement, such as is/theorem-6")


@final
@frozen(kw_only=True)
class Claim:
    """A statement that the verification suite checks.

    Attributes:
        id: "source/statement", such as "is/theorem-6".
        statement: paper and number, such as "IS Theorem 6".
        says: the statement in one line.
        cases: builds the hypothesis strategy of its cases; a function, so that listing claims loads no hypothesis.
        examine: compares closed form and independent solve on one case.
        expectation: REJECTED for a negative control, which must have a witness.
        erratum: id of the misprint that a negative control reproduces.
        witness: a case that contradicts a negative control, chosen so that a person can recompute it.
        prove: proves the statement, or the inequality it rests on, on a whole box by interval subdivision.

    Raises:
        InvalidValue: for an id that is not "source/statement", for a witness of a claim that should hold, and for a
            proof of one that must be rejected.
    """

    id: str = field(validator=_identifier)
    statement: str
    says: str
    cases: Callable[[], SearchStrategy[Case]]
    examine: Callable[[Case], Finding]
    expectation: Expectation = Expectation.HOLDS
    erratum: str | None = None
    witness: Case | None = field(default=None, hash=False)
    prove: Callable[[], Proof] | None = None

    def __attrs_post_init__(self) -> None:
        rejected = self.expectation is Expectation.REJECTED
        if self.witness is not None and not rejected:
            raise InvalidValue("witness", self.witness, f"None, because {self.id} should hold")
        if self.prove is not None and rejected:
            raise InvalidValue("prove", self.prove, f"None, because {self.id} must be rejected")
