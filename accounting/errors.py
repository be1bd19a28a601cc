"""The exceptions that certdp raises on purpose; each says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from typing import Self


class CertdpError(Exception):
    """Base class of every exception that certdp raises on purpose."""


class InvalidValue(CertdpError, ValueError):
    """A value outside what a parameter admits.

    Attributes:
        parameter: name of the offending parameter.
        value: the value as given (its `repr` is shown, shortened).
        admissible: what would have been accepted.
        remedy: what to do about it.
    """

    def __init__(self, parameter: str, value: object, admissible: str, remedy: str = "") -> None:
        self.parameter = parameter
        self.value = value
        self.admissible = admissible
        self.remedy = remedy
        super().__init__(parameter, value, admissible, remedy)

    @property
    def formatted_value(self) -> str:
        """The offending value as text, at most 160 characters."""
        text = str(self.value) if isinstance(self.value, str | Fraction) else repr(self.value)
        return text if len(text) <= 160 else text[:157] + "..."

    def __str__(self) -> str:
        message = f"{self.parameter}: got {self.formatted_value}; admissible: {self.admissible}"
        return f"{message}. {self.remedy}" if self.remedy else message

    def restated(self, parameter: str, remedy: str) -> Self:
        """Return the same error about another parameter, or with another remedy."""
        return type(self)(parameter, self.value, self.admissible, remedy)


class InvalidType(InvalidValue, TypeError):
    """A value of a type that the parameter does not admit."""


def restated(error: InvalidValue, *, parameter: str | None = None, remedy: str | None = None) -> InvalidValue:
    """Return the same error, of the same type, with another parameter to blame or another remedy."""
    return error.restated(parameter or error.parameter, remedy or error.remedy)


def nearest(word: str, known: Iterable[str]) -> str:
    """A question for who may have mistyped a name, with a space behind; empty where no known one comes close."""
    close = get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f"Did you mean {' or '.join(close)}? " if close else ""


@contextmanager
def blamed_on(**names: str) -> Iterator[None]:
    """Have errors name what the user wrote, such as an option, in place of the parameter that its value reached.

    Args:
        names: what to name, by parameter; errors about others pass as they are.
    """
    try:
        yield
    except InvalidValue as error:
        if error.parameter not in names:
            raise
        raise restated(error, parameter=names[error.parameter]) from None


class OutsideDomain(CertdpError, ArithmeticError):
    """An operation on an enclosure that reaches outside the function's domain (log of 0, division by 0)."""


class Undecided(CertdpError, ArithmeticError):
    """A comparison of enclosures that no admissible precision could decide."""
