"""What a change of the data loses about several records, or about one that another takes the place of.

Legend: S is a sample of the other records, L_x the density ratio of the outputs on S with x and on S, and
A_x = 1 - q + qL_x that of the law in which x is drawn with its rate q; X <= Y in the convex order where
E(X - g)+ <= E(Y - g)+ for every g >= 0, at equal means. That (P, Q) dominates what x loses says that A_x <= A in that
order, A = dP/dQ under Q.

Replaced records. Given S, two data sets have the divergence E(A_x - g·A_x')+. The function (a - gb)+ is submodular, so
that over all joint laws it is largest where one falls as the other rises (Lorentz 1953; Tchen 1980); there it is the
largest of the integrals of F_x(u) - g·F_x'(1 - u) from t to 1, F the quantile functions, and each part grows in the
convex order. So A at u against A at 1 - u, u uniform, dominates in both orientations.

Normal noise. A rises in z ~ N(0, 1): of one record it is 1 - q + q·e^(sz - s²/2), and -z turns it round. Of k records
A is the mean of L_G over the subsets G that may be drawn; |G| of them lose what |G|·s does (Dong, Roth, Su 2022,
Theorem 2.14), each L_G <= e^(|G|sz - (|G|s)²/2), and a sum is below that of copies that rise together. With the largest
rate and shift of all records that is the sum over j of C(k, j)q^j(1 - q)^(k-j)·e^(jsz - (js)²/2). Where all are drawn
it is one normal law, at k·s, and 2k·s from the one turned round. Whatever has a mu in Gaussian privacy has groups so.
Pure losses of replaced records, and Laplace noise, are in `finite`; of losses in an interval the pure one counts.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from ..budget import Budget
from ..intervals import Arithmetic, upper_end
from ..verdict import Refused
from .batches import drawn_together
from .cover import Corner
from .factors import GAUSSIAN, LAPLACE, MIXTURE, PURE, Batches, Change, Factor
from .finite import exchanged, laplace, pure
from .notions import gaussian_square, price_of_square

RELATIONS: Final = ("add-remove", "replace", "zero-out")
MOST_RECORDS: Final = 64
ONE_RECORD: Final = Change()
_ARITHMETIC: Final = Arithmetic(192)


def change_of(claim: Mapping[str, Any], declared: str, drawn: Mapping[str, Any] | None = None) -> Change:
    """Give the change of the data that a claim is about, as one of records for which a loss is declared.

    On a Poisson sample zeroing out a record leaves what removing it does. `drawn` is how batches are drawn as a whole.

    Raises:
        Refused: where a loss about replaced records is to say something about another change, and for a change about
            which nothing is known of such batches.
    """
    relation, records = claim["relation"], claim.get("contributions", 1)
    if drawn is not None and "number" in drawn:
        return _of_epochs(claim, declared, drawn)
    if drawn is not None:
        most, size = drawn["most"], drawn["data_size"]
        if declared != "add-remove" or records != 1:
            raise Refused("batches drawn as a whole are known about one record, by what is lost where it is removed")
        if most is None and relation == "add-remove":
            raise Refused("batches of a fixed size tell the number of records: nothing is known of removing one")
        batches = Batches(most, size, drawn["bounded"], kept=relation != "add-remove")
        return Change(1, relation == "replace", batches)
    if declared == relation and records == 1:
        return ONE_RECORD
    if declared != "add-remove":
        raise Refused("a loss that is declared for replaced records says nothing about another change of the data")
    return Change(records, relation == "replace")


def _of_epochs(claim: Mapping[str, Any], declared: str, drawn: Mapping[str, Any]) -> Change:
    """Give the change where a record enters batches of an epoch; shuffled ones keep the records' number.

    Where records are allocated apart from each other zeroing out one leaves what removing it does.
    """
    relation, kept = claim["relation"], drawn["data_size"] is not None
    unknown = "add-remove" if kept else "replace"
    if declared != "add-remove" or claim.get("contributions", 1) != 1 or relation == unknown:
        raise Refused(
            "epochs of batches are known about one record: zeroed out, added or removed, or where the number of "
            "records is stated zeroed out or replaced"
        )
    entered = drawn.get("participations", 1)
    batches = Batches(size=drawn["data_size"], kept=kept, number=drawn["number"], participations=entered)
    return Change(1, relation == "replace", batches)


def by_changes(changes: Sequence[Change]) -> str:
    """Say by what else a claim about these changes follows."""
    drawn = [(change, change.batches) for change in changes]
    ends = (
        (any(change.records > 1 for change in changes), "comonotone density ratios of a user's records"),
        (
            any(change.replaced and (batches is None or batches.most is not None) for change, batches in drawn),
            "countermonotone density ratios of replaced records",
        ),
        (
            any(batches is not None and batches.number is None for _, batches in drawn),
            "advanced joint convexity of batches drawn as a whole",
        ),
        (
            any(batches is not None and batches.number is not None and batches.size is None for _, batches in drawn),
            "the mean of the density ratios of an epoch's batches",
        ),
        (
            any(batches is not None and batches.participations > 1 for _, batches in drawn),
            "blocks of batches, one of each of which is entered",
        ),
    )
    return "".join(f" and {end}" for used, end in ends if used)


def joined(corners: Sequence[Corner], change: Change) -> list[Corner]:
    """Give what bounds all records that change at once: these may lie in different cells."""
    if change == ONE_RECORD:
        return list(corners)
    parameters, rates = zip(*corners, strict=True)
    return [Corner(tuple(map(max, zip(*parameters, strict=True))), max(rates))]


def changed(factor: Factor, change: Change, budget: Budget) -> Factor:
    """Give what releases lose about a change, from what they lose about one record that is added or removed.

    Raises:
        Refused: for a family of which that is not known.
    """
    if change == ONE_RECORD or factor.null:
        return factor
    factor = pure(factor if change.batches is None else laplace(factor))
    if change.batches is not None:
        drawn = drawn_together(factor._replace(change=change))
        return drawn if drawn.change.batches is not None else changed(drawn, change._replace(batches=None), budget)
    if factor.family in (LAPLACE, PURE):
        if change.records == 1:
            return exchanged(factor)
        budget.spend(price_of_square(factor))
        square = gaussian_square(factor._replace(rate=Fraction(1), samples=1), _ARITHMETIC)
        factor = factor._replace(family=GAUSSIAN, parameter=upper_end(_ARITHMETIC.sqrt(square)), together=1)
    if factor.family != GAUSSIAN:
        raise Refused(f"what losses of the family {factor.family} say about this change of the data is not known")
    if factor.sampled:
        return factor._replace(family=MIXTURE, change=change)
    return factor._replace(parameter=factor.parameter * change.reach)
