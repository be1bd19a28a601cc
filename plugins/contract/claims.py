"""What a claim is: a statement of a paper tied to a closed form, an independent solve and a domain of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import field, frozen

from ...accounting.errors import InvalidValue

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Case: TypeAlias = Mapping[str, Any]
"""One case of a claim: its inputs by name."""


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
    """

    id: str = field(validator=_identifier)
    statement: str
    says: str
    cases: Callable[[], SearchStrategy[Case]]
    examine: Callable[[Case], Finding]
    expectation: Expectation = Expectation.HOLDS
    erratum: str | None = None
