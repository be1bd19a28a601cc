"""A number is an int, a float, text or a Fraction, and what it is read as is exact."""

from fractions import Fraction

from certdp.accounting.exact import exact, ratio_text
from certdp.accounting.norms import Norm

tenth: Fraction = exact("0.1", parameter="rate")
text: str = ratio_text(tenth)

ell: Norm = Norm.of("3/2")
same: Norm = Norm.of(Norm.LINF)
order: Fraction | None = Norm(1.5).order

Norm(None)  # E: mypy=arg-type pyright=reportArgumentType
Norm.of(None)  # E: mypy=arg-type pyright=reportArgumentType
Norm.L1.order = Fraction(2)  # E: mypy=misc pyright=reportAttributeAccessIssue
exact(None)  # E: mypy=arg-type pyright=reportArgumentType
exact(0.1j)  # E: mypy=arg-type pyright=reportArgumentType
rounded: float = exact("0.1")  # E: mypy=assignment pyright=reportAssignmentType
ratio_text(0.1)  # E: mypy=arg-type pyright=reportArgumentType
