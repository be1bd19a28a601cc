"""Notions do not mix: bounds, guarantees and conversions each say what they take and give."""

from fractions import Fraction

from certdp.accounting.conversions import (
    Conversion,
    best_order,
    gaussian_to_approximate,
    pure_to_renyi,
    pure_to_zero_concentrated,
    renyi_to_approximate,
    renyi_to_approximate_at,
    zero_concentrated_to_renyi,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import Guarantee, compose, for_groups
from certdp.accounting.notions import RENYI, Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.relations import AddRemove, Record, Replace
from certdp.accounting.units import Delta, Epsilon, Order

one = Enclosure.of(1)

Approximate(one, one)
Approximate(1.0, one)  # E: mypy=arg-type pyright=reportArgumentType
Approximate(one)  # E: mypy=call-arg pyright=reportCallIssue
Renyi(Fraction(2), one)
Renyi(2.0, one)  # E: mypy=arg-type pyright=reportArgumentType
Renyi(one, one)  # E: mypy=arg-type pyright=reportArgumentType
ZeroConcentrated(0.5)  # E: mypy=arg-type pyright=reportArgumentType
GaussianDP(1)  # E: mypy=arg-type pyright=reportArgumentType
neutral: Renyi = RENYI.nothing
other: Pure = RENYI.nothing  # E: mypy=assignment pyright=reportAssignmentType


def conversions(
    pure: Guarantee[Pure, AddRemove, Record],
    renyi: Guarantee[Renyi, AddRemove, Record],
    concentrated: Guarantee[ZeroConcentrated, AddRemove, Record],
    gaussian: Guarantee[GaussianDP, AddRemove, Record],
    replacing: Guarantee[GaussianDP, Replace, Record],
    delta: Delta,
) -> None:
    compose(renyi, pure_to_renyi(pure, Order(2)))
    compose(renyi, pure)  # E: mypy=misc pyright=reportArgumentType
    compose(concentrated, gaussian)  # E: mypy=misc pyright=reportArgumentType
    compose(concentrated, pure_to_zero_concentrated(pure))
    for_groups(renyi, 2).implies(Renyi(Fraction(2), one))
    renyi.implies(Pure(one))  # E: mypy=arg-type pyright=reportArgumentType
    renyi_to_approximate(renyi, delta)
    renyi_to_approximate(renyi, Epsilon(1))  # E: mypy=arg-type pyright=reportArgumentType
    renyi_to_approximate(renyi, 1e-5)  # E: mypy=arg-type pyright=reportArgumentType
    renyi_to_approximate(pure, delta)  # E: mypy=arg-type pyright=reportArgumentType
    renyi_to_approximate_at(renyi, delta)  # E: mypy=arg-type pyright=reportArgumentType
    zero_concentrated_to_renyi(concentrated, Delta("0.5"))  # E: mypy=arg-type pyright=reportArgumentType
    replaced = gaussian_to_approximate(replacing, delta)
    compose(replaced, renyi_to_approximate(renyi, delta))  # E: mypy=misc pyright=reportArgumentType
    best_order(lambda order: one * order, one)
    best_order(lambda order: one, delta)  # E: mypy=arg-type pyright=reportArgumentType


def concluded(conversion: Conversion[Pure, Renyi], pure: Guarantee[Pure, AddRemove, Record]) -> None:
    conversion.conclude(pure, Renyi(Fraction(2), one))
    conversion.conclude(pure, Pure(one))  # E: mypy=arg-type pyright=reportArgumentType
