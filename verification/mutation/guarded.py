"""The modules whose mutants are run, each with what guards it: the formulas that guarantees rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import final

from attrs import frozen

from .mutants import Mutant, mutants_of
from .planting import plant


@final
@frozen
class Guarded:
    """A module and its guards.

    Attributes:
        module: dotted name within the package.
        claims: globs on the ids of claims, in the order in which they are run; negative controls are left out.
        tests: files below tests/, for what no claim can see; they are run in a checkout alone.
    """

    module: str
    claims: tuple[str, ...]
    tests: tuple[str, ...] = ()

    def plantings(self) -> Iterator[tuple[Mutant, Callable[[], None]]]:
        """Each mutant, with what plants it in this process."""
        yield from ((mutant, partial(plant, mutant)) for mutant in mutants_of(self.module))


GUARDED = (
    Guarded("accounting.notions.pure", ("pure/*",), ("accounting/notions/test_notions.py",)),
    Guarded("accounting.notions.zero_concentrated", ("zero-concentrated/*",), ("accounting/notions/test_notions.py",)),
    Guarded("accounting.notions.gaussian_dp", ("gaussian/*", "notions/*"), ("accounting/notions/test_notions.py",)),
    Guarded(
        "accounting.filters.sums",
        (
            "accounting/filter-pure",
            "accounting/filter-renyi",
            "accounting/filter-zero-concentrated",
            "accounting/filter-gaussian",
        ),
        ("accounting/filters/test_filters.py",),
    ),
    Guarded(
        "accounting.conversions.from_pure", ("conversions/pure-*",), ("accounting/conversions/test_conclusions.py",)
    ),
    Guarded(
        "accounting.conversions.from_renyi",
        ("conversions/renyi-*", "dpis/lemma-2.5"),
        ("accounting/conversions/test_conclusions.py",),
    ),
    Guarded(
        "accounting.releases",
        ("amplification/sample-once", "amplification/resample-each", "amplification/every-record-drawn"),
        (),
    ),
    Guarded(
        "samplers.coreset",
        ("samplers/rates", "is/coreset-size", "is/lightweight-distribution", "is/coreset-unbiased"),
        ("samplers/test_coreset.py",),
    ),
    Guarded("accounting.notions.renyi", ("renyi/*", "notions/*"), ("accounting/notions/test_notions.py",)),
    Guarded("accounting.notions.approximate", ("approximate/*",), ("accounting/notions/test_notions.py",)),
    Guarded(
        "accounting.dpis",
        ("dpis/equation-16", "dpis/equation-15", "dpis/lemma-2.9", "dpis/equation-21", "dpis/equation-19"),
        (
            "accounting/test_dpis.py::test_without_sampling_it_is_the_gaussian_mechanism",
            "accounting/test_dpis.py::test_the_norm_sum",
            "accounting/test_dpis.py::test_a_norm_sum_below_the_largest_batch_is_refused",
        ),
    ),
    Guarded(
        "accounting.frequency_reporting.budget",
        ("pws/algorithm-4", "pws/algorithm-5", "pws/algorithm-2"),
        ("accounting/frequency_reporting/test_budget_and_rates.py",),
    ),
    Guarded(
        "accounting.importance_sampling",
        ("is/theorem-6*", "is/proposition-3"),
        ("accounting/test_profiles.py::test_a_profile_states_how_far_the_drawn_rate_may_be_from_the_declared_one",),
    ),
    Guarded("accounting.amplification.psi", ("is/theorem-6*", "is/proposition-3", "amplification/pure"), ()),
    Guarded(
        "accounting.amplification.approximate", ("amplification/approximate", "amplification/approximate-unreached"), ()
    ),
    Guarded("accounting.amplification.renyi", ("amplification/renyi-*",), ()),
)
