"""Is a plugin right? Laws that every mechanism, sampler and claim must keep, with a search for witnesses against each.

`check` runs them all; `parametrize` makes a pytest test of each. Nothing private of a plugin is looked at.
"""

from .check import AUDIT_TRIALS, EXAMPLES, check
from .conformance import Conformance, Outcome, Verdict
from .pytest_cases import LawTest, parametrize

__all__ = ["AUDIT_TRIALS", "EXAMPLES", "Conformance", "LawTest", "Outcome", "Verdict", "check", "parametrize"]
