"""Numbers as people read them: to a few digits, rounded to the safe side, or to all of them."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING

from attrs import frozen

from ..accounting.display import EXACT_UP_TO, shorten

if TYPE_CHECKING:
    from ..accounting.exact import Number

_DIGITS = 6


@frozen
class Numbers:
    """How numbers are written.

    >>> Numbers().most(5.0000000000000115), Numbers().least(0.12345678), Numbers(full=True).most(0.12345678)
    ('5.00001', '0.123456', '0.12345678')

    Attributes:
        full: write every digit of binary64, not six.
    """

    full: bool = False

    def most(self, upper: float | Fraction | None) -> str:
        """An upper bound: at least `upper`, of which None stands for one beyond binary64."""
        if upper is None or isinf(upper):
            return "none within binary64"
        if self.full:
            from ..accounting.enclosures import Enclosure

            return _plain(repr(Enclosure.of(Fraction(upper)).upper_float))
        return _rounded(Fraction(upper), ROUND_CEILING)

    def least(self, lower: float | Fraction) -> str:
        """A lower bound: at most `lower`."""
        if self.full:
            from ..accounting.enclosures import Enclosure

            return _plain(repr(Enclosure.of(lower).lower_float))
        return _rounded(Fraction(lower), ROUND_FLOOR)

    def between(self, lower: float, upper: float) -> str:
        """An interval that holds [lower, upper]."""
        return f"[{self.least(lower)}, {self.most(upper)}]"

    def about(self, value: float | Fraction) -> str:
        """A number that nothing is proven about, or whose rounding harms nobody: to the nearest."""
        return _plain(repr(float(value)) if self.full else f"{float(value):.{_DIGITS}g}")

    def stated(self, number: Number) -> str:
        """A number that was stated: exactly, but for one of very many digits."""
        from ..accounting.exact import exact

        value = exact(number)
        try:
            nearest = repr(float(value))
        except OverflowError:
            return self.words(str(value))
        return _plain(nearest) if Fraction(nearest) == value else self.words(str(value))

    def words(self, text: str) -> str:
        """A text of exactly stated numbers: those of very many digits are shortened, and marked where rounded."""
        return text if self.full else shorten(text, EXACT_UP_TO)

    def most_or_stated(self, upper: float, asked: Number) -> str:
        """An upper bound, or the number asked about where it is the one that was rounded up to the bound."""
        from ..accounting.enclosures import Enclosure
        from ..accounting.exact import exact

        same = Enclosure.of(exact(asked)).upper_float == upper
        return self.stated(asked) if same else self.most(upper)


def _rounded(value: Fraction, rounding: str) -> str:
    context = Context(prec=_DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    text = repr(float(rounded))
    return _plain(text) if Decimal(text) == rounded else str(rounded)


def _plain(text: str) -> str:
    return text.removesuffix(".0")
