"""Values computed from the records, for the data's owner alone, and errors about the records themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NoReturn, Protocol, Self, TypeVar, final

from .errors import CertdpError, InvalidType, InvalidValue

S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)


class PrivateValue(InvalidType):
    """A private value on its way into a publication, a parameter or a guarantee."""


class FailedOnPrivate(CertdpError):
    """A function of a private value failed; what it said is not shown, because that may tell the value.

    Attributes:
        error: the type of its error, by name.
    """

    def __init__(self, error: str) -> None:
        self.error = error
        super().__init__(error)

    def __str__(self) -> str:
        return (
            f"a function of a Private value raised {self.error}; its message may tell the value and is withheld. "
            "For the data's owner: call the function on reveal()"
        )


class _Refused(Protocol):
    def __call__(self, _: object, /, *arguments: object, **options: object) -> NoReturn: ...


def _refused(what: str, remedy: str) -> _Refused:
    def refuse(_: object, /, *arguments: object, **options: object) -> NoReturn:
        raise PrivateValue(what, "a Private value", "Public or Released", remedy)

    return refuse


_FOR_THE_OWNER = "It was computed from the records: for the data's owner, use reveal(), or map(…) to stay private"


@final
class Private(Generic[T_co]):
    """A value computed from the records: for the data's owner, never part of a guarantee or a publication.

    `reveal` hands the value to the owner. Nothing else does: its text does not show it; comparing, hashing, ordering,
    testing, formatting, copying, pickling and conversion to an array are refused; `attrs.asdict` leaves it whole; an
    error of a function under `map` is told by its type alone.
    """

    __slots__ = ("__weakref__", "_reveal")

    def __init__(self, value: T_co) -> None:
        def reveal() -> T_co:
            return value

        self._reveal = reveal  # what walks over attributes finds no value

    def reveal(self) -> T_co:
        """Return the private value itself, for the owner of the data."""
        return self._reveal()

    def map(self, function: Callable[[T_co], S]) -> Private[S]:
        """A function of a private value is private.

        Raises:
            FailedOnPrivate: where the function raises, or would end the process, without its message or traceback.
            KeyboardInterrupt: where that interrupts the function, likewise.
            InvalidData: as the function raises it, without its traceback: it tells no value.
        """
        try:
            return Private(function(self._reveal()))
        except InvalidData as error:
            told: BaseException = error
            told.__cause__ = told.__context__ = None
        except KeyboardInterrupt:
            told = KeyboardInterrupt()
        except BaseException as error:  # whatever it is, its text and its frames may hold the value
            told = FailedOnPrivate(type(error).__qualname__)
        raise told.with_traceback(None)  # outside of the handler, so that no context leads back to it

    def __repr__(self) -> str:
        return "Private(…)"

    __str__ = __repr__

    def __format__(self, specification: str) -> str:
        if specification:
            _format(self)
        return repr(self)

    def __dir__(self) -> list[str]:
        return ["map", "reveal"]

    __eq__ = _refused("==", _FOR_THE_OWNER)
    __ne__ = _refused("!=", _FOR_THE_OWNER)
    __lt__ = _refused("<", _FOR_THE_OWNER)
    __le__ = _refused("<=", _FOR_THE_OWNER)
    __gt__ = _refused(">", _FOR_THE_OWNER)
    __ge__ = _refused(">=", _FOR_THE_OWNER)
    __hash__ = _refused("hash", _FOR_THE_OWNER)  # type: ignore[assignment]
    __bool__ = _refused("bool", _FOR_THE_OWNER)
    __array__ = _refused("an array", _FOR_THE_OWNER)
    __array_ufunc__ = None  # an array beside it asks the operators above
    __reduce_ex__ = _refused(
        "a copy or pickle",
        "Private values leave a process only in the owner's files, which are marked as such: write those",
    )


_format = _refused("a format", _FOR_THE_OWNER)


class HoldsRecords:
    """What holds records from one step of a release to the next: it is neither copied nor pickled."""

    __slots__ = ()
    __reduce_ex__ = _refused(
        "a copy or pickle of records",
        "Prepare a release where it is drawn; records leave a process only in the owner's files",
    )


class InvalidData(InvalidValue):
    """Data that are refused: the text says where and what is admissible, never what was there.

    Attributes:
        value: the place, and what is wrong there, in words that do not depend on the value.
        found: what was there, for the data's owner; None where the place says all.
    """

    def __init__(
        self, parameter: str, place: str, admissible: str, remedy: str = "", *, found: Private[object] | None = None
    ) -> None:
        super().__init__(parameter, place, admissible, remedy)
        self.found = found
        self.__suppress_context__ = True  # what a reader said before may quote the data

    def restated(self, parameter: str, remedy: str) -> Self:
        """Return the same error about another parameter, or with another remedy."""
        return type(self)(parameter, str(self.value), self.admissible, remedy, found=self.found)

    def placed(self, where: str) -> Self:
        """Return the same error, which also says where."""
        place = f"{self.formatted_value}, {where}"
        return type(self)(self.parameter, place, self.admissible, self.remedy, found=self.found)

    @property
    def formatted_finding(self) -> str | None:
        """What was found as text, for the data's owner, at most 160 characters; None where nothing was kept."""
        return None if self.found is None else InvalidValue("", self.found.reveal(), "").formatted_value
