"""What numbers mean is a type: units, provenance, enclosures, and guarantees that come from theorems alone."""

from typing import ClassVar

from attrs import frozen

from certdp.accounting.derivation import Derivation, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import Guarantee, compose
from certdp.accounting.norms import Norm
from certdp.accounting.notions import PURE, Notion, Pure
from certdp.accounting.provenance import Private, Public, publish
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, AddRemove, Element, Record, Replace
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.profiles import PureProfile, compose_profiles, plus_cost
from certdp.accounting.units import Delta, Epsilon, Probability, Weight
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

# Units: ε is no δ, a weight is no probability, a bare float is neither


def spend(epsilon: Epsilon, delta: Delta) -> None:
    """Takes both."""


def draw(probability: Probability) -> Weight:
    return probability.weight()


spend(Epsilon(1), Delta("1e-5"))
spend(Epsilon(1), Epsilon(1))  # E: mypy=arg-type pyright=reportArgumentType
spend(Delta(1), Delta(1))  # E: mypy=arg-type pyright=reportArgumentType
spend(Delta("1e-5"), delta=Delta("1e-5"))  # E: mypy=arg-type pyright=reportArgumentType
spend(1.0, Delta("1e-5"))  # E: mypy=arg-type pyright=reportArgumentType
draw(Weight(2))  # E: mypy=arg-type pyright=reportArgumentType
ordered = Epsilon(1) < Epsilon(2)  # E: mypy=operator pyright=reportOperatorIssue
Epsilon(1) + Delta(1)  # E: mypy=operator pyright=reportOperatorIssue

# Provenance: parameters are declared or released, never computed from the records

Poisson(rate=Public(0.1))
Poisson(rate=Private(0.1))  # E: mypy=arg-type pyright=reportArgumentType
Poisson(rate=0.1)  # E: mypy=arg-type pyright=reportArgumentType
Importance(rate=Private("0.3"))  # E: mypy=arg-type pyright=reportArgumentType
NormBall(norm=Norm.L1, radius=Public(5))
NormBall(norm=Norm.L1, radius=Private(5))  # E: mypy=arg-type pyright=reportArgumentType
NormBall(norm=Norm.L1, radius=5)  # E: mypy=arg-type pyright=reportArgumentType
publish(Public(1.0))
publish(Private(1.0))  # E: mypy=arg-type pyright=reportArgumentType
publish(1.0)  # E: mypy=arg-type pyright=reportArgumentType

# Enclosures: no floats, no two-valued comparisons

one = Enclosure.of(1)
one + 1
one + 0.5  # E: mypy=operator pyright=reportOperatorIssue
0.5 * one  # E: mypy=operator pyright=reportOperatorIssue
Pure(epsilon=one)
Pure(epsilon=1.0)  # E: mypy=arg-type pyright=reportArgumentType

# Guarantees: from a theorem, and composed only with their like

why = Theorem("test", "a theorem").conclude()
bound = Pure(one)
Derivation()  # E: mypy=abstract pyright=reportAbstractUsage
Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD)  # E: mypy=call-arg pyright=reportCallIssue
Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=None)  # E: mypy=arg-type pyright=reportArgumentType
Guarantee(bound=1.0, relation=ADD_REMOVE, unit=RECORD, derivation=why)  # E: mypy=type-var pyright=reportArgumentType


@frozen
class Other:
    """A bound of a second notion."""

    notion: ClassVar[Notion["Other"]]


def compositions(
    pure: Guarantee[Pure, AddRemove, Record],
    replacing: Guarantee[Pure, Replace, Record],
    elements: Guarantee[Pure, AddRemove, Element],
    other: Guarantee[Other, AddRemove, Record],
    profile: PureProfile[AddRemove, Record],
    of_elements: PureProfile[AddRemove, Element],
) -> None:
    compose(pure, pure)
    compose(pure, replacing)  # E: mypy=misc pyright=reportArgumentType
    compose(pure, elements)  # E: mypy=misc pyright=reportArgumentType
    compose(pure, other)  # E: mypy=misc pyright=reportArgumentType
    compose(pure, 1.0)  # E: mypy=arg-type pyright=reportArgumentType
    pure.implies(Pure(one))
    pure.implies(one)  # E: mypy=arg-type pyright=reportArgumentType
    compose_profiles(profile, profile)
    compose_profiles(profile, of_elements)  # E: mypy=misc pyright=reportArgumentType
    plus_cost(profile, pure)
    plus_cost(profile, elements)  # E: mypy=misc pyright=reportArgumentType
    plus_cost(profile, other)  # E: mypy=arg-type pyright=reportArgumentType


made: Guarantee[Pure, AddRemove, Record] = Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=why)
wrong: Guarantee[Pure, Replace, Record] = made  # E: mypy=assignment pyright=reportAssignmentType
neutral: Pure = PURE.nothing
replaced = Guarantee(bound=bound, relation=REPLACE, unit=RECORD, derivation=why)
element = Guarantee(bound=bound, relation=ADD_REMOVE, unit=ELEMENT, derivation=why)
compose(made, replaced)  # E: mypy=misc pyright=reportArgumentType
compose(made, element)  # E: mypy=misc pyright=reportArgumentType
