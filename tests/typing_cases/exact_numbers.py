"""A number is an int, a float, text or a Fraction, and what it is read as is exact."""

from fractions import Fraction

from certdp.accounting.exact import exact, ratio_text

tenth: Fraction = exact("0.1", parameter="rate")
text: str = ratio_text(tenth)

exact(None)  # E: mypy=arg-type pyright=reportArgumentType
exact(0.1j)  # E: mypy=arg-type pyright=reportArgumentType
rounded: float = exact("0.1")  # E: mypy=assignment pyright=reportAssignmentType
ratio_text(0.1)  # E: mypy=arg-type pyright=reportArgumentType
