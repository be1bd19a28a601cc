"""The exceptions that certdp raises on purpose; each says what to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from functools import wraps
from typing import Any, Self, TypeVar, cast

T = TypeVar("T", bound=Callable[..., Any])


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

    def placed(self, where: str) -> Self:
        """Return the same error, which also says where."""
        return type(self)(self.parameter, f"{self.formatted_value}, {where}", self.admissible, self.remedy)


class InvalidType(InvalidValue, TypeError):
    """A value of a type that the parameter does not admit."""


def restated(error: InvalidValue, *, parameter: str | None = None, remedy: str | None = None) -> InvalidValue:
    """Return the same error, of the same type, with another parameter to blame or another remedy."""
    return error.restated(parameter or error.parameter, remedy or error.remedy)


def nearest(word: str, known: Iterable[str]) -> str:
    """A question for who may have mistyped a name, with a space behind; empty where no known one comes close."""
    close = get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f"Did you mean {' or '.join(close)}? " if close else ""


def require_callable(parameter: str, value: object) -> None:
    """Raise InvalidType unless it can be called: before anything is paid that would be lost by the call."""
    if not callable(value):
        raise InvalidType(parameter, type(value).__name__, "a function", "Give the function itself, or leave it out")


def known_keywords(called: T) -> T:
    """A decorator: a call with an argument of an unknown name, one too many or one too few says what the call takes.

    Args:
        called: a function, or a class whose own `__init__` is held to its arguments.

    Raises:
        InvalidType: by what it returns, for such calls; it is a TypeError as Python's own, and shows no value.
    """
    hold: Callable[[Any], Any] = _with_held_init if inspect.isclass(called) else _held
    return cast("T", hold(called))


def _with_held_init(kind: Any) -> Any:
    kind.__init__ = _held(kind.__init__, kind.__name__)
    return kind


def _held(function: Any, name: str = "") -> Any:
    called = name or function.__name__
    parameters = [*inspect.signature(function).parameters.values()]
    taken = [parameter for parameter in parameters if parameter.name not in ("self", "cls")]
    named = [p.name for p in taken if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    known = frozenset(named)
    most = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    closed = not any(p.kind is p.VAR_KEYWORD for p in taken)
    counted = not any(p.kind is p.VAR_POSITIONAL for p in taken)
    admissible = f"arguments of {called}: {', '.join(named) or 'none'}"
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        (p.name, p.kind is not p.KEYWORD_ONLY, place)
        for place, p in enumerate(parameters)
        if p.default is p.empty and p.kind not in open_ended
    ]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if closed and not known.issuperset(kwargs):
            unknown = next(key for key in kwargs if key not in known)
            raise InvalidType(unknown, "an argument of this name", admissible, nearest(unknown, named).strip())
        if counted and len(args) > most:
            further, form = len(args) - most, ", ".join(f"{key}=…" for key in named)
            raise InvalidType("arguments", f"{further} without a name", admissible, f"Write {called}({form})")
        missing = [key for key, by_place, at in needed if key not in kwargs and not (by_place and at < len(args))]
        if missing:
            form = ", ".join(f"{key}=…" for key in missing)
            raise InvalidType(missing[0], "nothing", admissible, f"State it: {called}({form})")
        return function(*args, **kwargs)

    return call


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
