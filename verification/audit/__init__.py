"""Empirical audits: what runs of a release prove about its ε, from below, at a stated confidence."""

from .bounds import Count, epsilon_lower_bound, fewest_runs
from .neighbours import directions, worst_neighbours
from .one_run import OneRunAudit, audit_one_run, correct_guesses, probability_of_correct_guesses
from .power import Power, power_of
from .runs import audited_releases
from .search import Pair, Searched, search_pairs
from .statistics import Event, Statistic, low_order_statistics, statistics_of
from .two_inputs import CONFIDENCE, RUNS, Audit, Releases, audit, repeated

__all__ = [
    "CONFIDENCE",
    "RUNS",
    "Audit",
    "Count",
    "Event",
    "OneRunAudit",
    "Pair",
    "Power",
    "Releases",
    "Searched",
    "Statistic",
    "audit",
    "audit_one_run",
    "audited_releases",
    "correct_guesses",
    "directions",
    "epsilon_lower_bound",
    "fewest_runs",
    "low_order_statistics",
    "power_of",
    "probability_of_correct_guesses",
    "repeated",
    "search_pairs",
    "statistics_of",
    "worst_neighbours",
]
