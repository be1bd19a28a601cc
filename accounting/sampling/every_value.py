"""Bounds that hold for every value that a released parameter may take.

Basic composition allows what a release cost and the supremum, over all values r that could have been released, of
ε(r); what the one that came out costs is a reading. So a statement is made from the declarations of a plugin in which
a released parameter is replaced: by a place λ in its public range, which becomes one more side of the domain, or by
a stand-in that nothing may look at. A bound that never looked holds for every value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar, final

from attrs import frozen

from ..derivation import Assumption
from ..errors import CertdpError, InvalidValue
from ..expressions import between
from ..provenance import Declared, Public, Released

T = TypeVar("T")


class ExPost(InvalidValue):
    """A bound that moves with a released value: no guarantee, for another value could have come out."""

    @classmethod
    def about(cls, name: str) -> ExPost:
        """Return the refusal that names the parameter."""
        return cls(
            name,
            "a released value with which the bound moves",
            "a value fixed beforehand, or a released number of a public range",
            "Declare its range, Released(value, cost, within=(low, high)); or pay for the run through a filter, "
            "AdaptiveRun(filter); or read it ex post, ExPostRun(run)",
        )

    @classmethod
    def over_ranges(cls, names: str) -> ExPost:
        """The refusal where no bound is proven over a range."""
        return cls(
            names,
            "a released value over whose range no bound is proven",
            "a value fixed beforehand, or a range over which the loss is an expression",
            "Pay for the run through a filter, AdaptiveRun(filter); or read it ex post, ExPostRun(run)",
        )


@final
class AnyValue:
    """Stands for a released value without a range; a bound that does anything with it moves with the value.

    So it is neither copied nor pickled: what is done with a copy would not be known of this one.

    Attributes:
        used: whether something was done with it, also where whoever did went on as if nothing were.
    """

    _name = "value"  # of one that nothing initialised, which refuses as others do
    used = False

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self, *_: object) -> NoReturn:
        self.used = True
        raise ExPost.about(self._name)

    @property
    def __class__(self) -> type:  # what `isinstance` asks where the type says no
        self.used = True
        return AnyValue

    @__class__.setter
    def __class__(self, _: type) -> None:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse()

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ("_name", "used"):
            self._refuse()
        super().__setattr__(name, value)

    __copy__ = __deepcopy__ = __replace__ = __reduce__ = __reduce_ex__ = __getstate__ = __setstate__ = _refuse
    __getnewargs__ = __getnewargs_ex__ = __delattr__ = __dir__ = __sizeof__ = _refuse
    __hash__ = __eq__ = _refuse
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __call__ = __index__ = __int__ = __float__ = _refuse
    __str__ = __format__ = __lt__ = __le__ = __gt__ = __ge__ = __ne__ = _refuse
    __neg__ = __pos__ = __abs__ = __round__ = __floor__ = __ceil__ = __trunc__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _refuse
    __matmul__ = __rmatmul__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __complex__ = __bytes__ = __fspath__ = _refuse
    __reversed__ = __setitem__ = __delitem__ = __next__ = __enter__ = __exit__ = __await__ = _refuse

    def __repr__(self) -> str:
        self.used = True
        return f"AnyValue({self._name!r})"


def is_used(value: Declared[Any]) -> bool:
    """Whether something was done with what stands for a value without a range."""
    return type(value.value) is AnyValue and value.value.used


def is_open(value: Declared[Any]) -> bool:
    """Whether a guarantee has to hold for other values too."""
    return isinstance(value, Released) and not value.as_it_came_out


def moves(value: Declared[Any]) -> bool:
    """Whether a parameter may take other values than its own: it is open, and its range has more."""
    if not isinstance(value, Released) or value.as_it_came_out:
        return False
    return value.within is None or value.within.low < value.within.high


def released_within(name: str, value: Released[Any]) -> Assumption:
    """Return the assumption that a parameter was released, and which values it may take."""
    return Assumption(f"{name} was released", "any value" if value.within is None else f"within {value.within}")


def for_every_value(value: Declared[Any], name: str) -> Declared[Any]:
    """What stands in statements for a parameter: the value itself where it is the only one.

    Args:
        value: the parameter.
        name: its name, by which refusals and expressions know it.
    """
    if isinstance(value, Public) or value.as_it_came_out:
        return value
    if value.within is None:
        return Public(AnyValue(name))
    low, high = value.within.low, value.within.high
    return Public(low if low == high else between(low, high, name))


@frozen
class Substituted:
    """Evaluates what plugins declare about every value; any failure to do so is a refusal that names the parameter.

    Attributes:
        released: the open parameters by name.
    """

    released: Mapping[str, Released[Any]]

    def __call__(self, declare: Callable[[], T]) -> T:
        """Return what is declared, with the substitution made.

        Raises:
            ExPost: where a released value is used as no expression can be.
        """
        if not self.released:
            return declare()
        try:
            return declare()
        except ExPost:
            raise
        except (CertdpError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            without = [name for name, value in self.released.items() if value.within is None]
            refusal = ExPost.about if without else ExPost.over_ranges
            raise refusal(", ".join(without or self.released)) from error
