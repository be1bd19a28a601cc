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
    Guarded(
        "accounting.importance_sampling",
        ("is/theorem-6*", "is/proposition-3"),
        ("accounting/test_profiles.py::test_a_profile_states_how_far_the_drawn_rate_may_be_from_the_declared_one",),
    ),
    Guarded("accounting.amplification.psi", ("is/theorem-6*", "is/proposition-3", "amplification/pure"), ()),
    Guarded("accounting.amplification.approximate", ("amplification/approximate", "amplification/approximate-*"), ()),
    Guarded("accounting.amplification.renyi", ("amplification/renyi-*",), ()),
    Guarded(
        "accounting.conversions.from_pure", ("conversions/pure-*",), ("accounting/conversions/test_conclusions.py",)
    ),
    Guarded(
        "accounting.conversions.from_renyi",
        ("conversions/renyi-*", "dpis/lemma-2.5"),
        ("accounting/conversions/test_conclusions.py",),
    ),
    Guarded("accounting.notions.pure", ("pure/*",), ()),
    Guarded(
        "accounting.notions.approximate",
        ("approximate/*",),
        (
            "accounting/notions/test_notions.py::test_the_group_law_at_epsilon_0_is_its_limit",
            "accounting/notions/test_notions.py::test_a_delta_that_may_be_0_grows_with_the_group",
            "accounting/notions/test_notions.py::test_groups_of_the_other_notions",
            "accounting/notions/test_notions.py::test_no_delta_is_above_1",
            "accounting/notions/test_notions.py::test_the_least_delta_at_a_smaller_epsilon_is_exact",
        ),
    ),
    Guarded(
        "accounting.notions.renyi",
        ("renyi/*", "notions/*"),
        (
            "accounting/notions/test_notions.py::test_no_loss_has_every_order",
            "accounting/notions/test_notions.py::test_renyi_groups_lower_the_order",
            "accounting/notions/test_notions.py::test_renyi_groups_that_the_order_does_not_admit",
            "accounting/notions/test_notions.py::test_what_a_renyi_bound_entails",
            "accounting/notions/test_notions.py::test_an_uncertain_loss_leaves_higher_orders_undecided",
            "accounting/notions/test_notions.py::test_a_tau_that_may_be_0_grows_with_the_group",
            "accounting/notions/test_notions.py::test_losses_that_may_be_0_are_composed",
        ),
    ),
    Guarded(
        "accounting.notions.zero_concentrated",
        ("zero-concentrated/*",),
        ("accounting/notions/test_notions.py::test_groups_of_the_other_notions",),
    ),
    Guarded(
        "accounting.notions.gaussian_dp",
        ("gaussian/*", "notions/*"),
        (
            "accounting/notions/test_notions.py::test_groups_of_the_other_notions",
            "accounting/notions/test_notions.py::test_losses_that_may_be_0_are_composed",
        ),
    ),
    Guarded(
        "accounting.releases",
        ("amplification/sample-once", "amplification/resample-each", "amplification/every-record-drawn"),
        (),
    ),
    Guarded(
        "accounting.dpis",
        ("dpis/lemma-2.9", "dpis/equation-13"),
        (
            "accounting/test_dpis.py::test_rate_and_shift_are_exact",
            "accounting/test_dpis.py::test_a_smaller_gradient_costs_less",
            "accounting/test_dpis.py::test_the_pair_costs_what_the_step_costs",
            "accounting/test_dpis.py::test_the_norm_sum",
            "accounting/test_dpis.py::test_a_norm_sum_below_the_largest_batch_is_refused",
            "accounting/test_dpis.py::test_without_sampling_it_is_the_gaussian_mechanism",
        ),
    ),
    Guarded(
        "accounting.dpis_estimator",
        ("dpis/equation-15", "dpis/second-moment", "dpis/equation-9", "dpis/equation-7"),
        (),
    ),
    Guarded(
        "accounting.filters.filter",
        ("accounting/filter-pure",),
        ("accounting/filters/test_filters.py::TestEveryFilter",),
    ),
    Guarded(
        "accounting.filters.sums",
        tuple(f"accounting/filter-{notion}" for notion in ("pure", "renyi", "zero-concentrated", "gaussian")),
        (
            "accounting/filters/test_filters.py::TestEveryFilter",
            "accounting/filters/test_filters.py::test_a_gaussian_budget_is_squared_without_rounding",
        ),
    ),
    Guarded(
        "accounting.filters.approximate",
        ("accounting/filter-approximate",),
        (
            "accounting/filters/test_filters.py::TestApproximate",
            "accounting/filters/test_filters.py::TestEveryFilter",
        ),
    ),
    Guarded("accounting.conversions.from_gaussian", ("conversions/gaussian-to-others",), ()),
    Guarded(
        "accounting.conversions.from_zero_concentrated",
        ("conversions/zero-concentrated-to-approximate", "conversions/gaussian-to-others"),
        (
            "accounting/conversions/test_conclusions.py",
            "accounting/conversions/test_best_order.py::test_the_search_begins_where_the_classical_bound_is_least",
            "accounting/conversions/test_best_order.py::test_a_delta_of_one_allows_everything",
            "accounting/conversions/test_best_order.py::test_where_no_binary64_says_where_to_begin",
        ),
    ),
    Guarded(
        "accounting.key_reporting",
        ("pws/equation-3", "pws/lemma-4.*"),
        (
            "accounting/test_key_reporting.py::test_where_reporting_is_certain_no_exponential_is_asked_for",
            "accounting/test_key_reporting.py::test_few_bits_enclose_too",
            "accounting/test_key_reporting.py::test_a_crossover_that_few_bits_leave_open",
            "accounting/test_key_reporting.py::test_frequencies_beyond_binary64_without_epsilon",
        ),
    ),
    Guarded(
        "accounting.conversions.renyi_moment",
        (
            "conversions/renyi-to-approximate-attained",
            "conversions/renyi-to-approximate-large-delta",
            "conversions/renyi-to-approximate",
            "dpis/equation-2",
        ),
        (
            "accounting/conversions/test_from_renyi.py::test_edges",
            "accounting/conversions/test_from_renyi.py::test_epsilon_is_that_of_the_tangent_chosen",
            "accounting/conversions/test_from_renyi.py::test_delta_is_that_of_the_tangent_chosen",
            "accounting/conversions/test_from_renyi.py::test_the_more_precise_argument_decides",
            "accounting/conversions/test_from_renyi.py::test_no_loss_is_certain_of_a_delta_of_one",
        ),
    ),
    Guarded(
        "accounting.feasible_weights.linear",
        ("is/theorem-10",),
        tuple(
            f"accounting/feasible_weights/test_linear_weights.py::{test}"
            for test in (
                "test_loss_at_the_target_has_weight_one",
                "test_no_loss_is_never_drawn_or_has_the_cap",
                "test_what_limits_a_weight_is_told",
                "test_losses_above_the_target_by_rounding_have_weight_one",
                "test_what_the_kernel_is_given_lies_below",
                "test_the_gap_is_the_largest_of_all_threads",
                "test_the_gap_of_enclosures_is_the_distance_to_the_root",
                "test_a_cap_a_hair_beyond_the_root_is_not_used",
                "test_enclosures_keep_to_the_cap_and_to_the_largest_weight",
                "test_the_reciprocal_is_never_above",
                "test_the_least_target_and_the_extreme_caps",
                "test_no_records",
                "test_refusals",
            )
        ),
    ),
    Guarded(
        "accounting.pairs.gaussian",
        ("pairs/gaussian",),
        (
            "accounting/pairs/test_laws_against_arb.py::test_renyi_of_two_normal_laws",
            "accounting/pairs/test_composed_and_density.py::test_repetitions_multiply",
            "accounting/pairs/test_every_pair.py::test_a_pair_of_equal_laws_loses_nothing",
            "accounting/loss_distribution/test_transforms.py::test_pairs_know_their_transforms",
        ),
    ),
    Guarded(
        "accounting.pairs.randomised_response",
        ("pairs/randomised-response",),
        (
            "accounting/pairs/test_laws_against_arb.py::test_moments_beyond_any_exponent",
            "accounting/pairs/test_laws_against_arb.py::test_zero_concentrated_costs_are_mean_losses",
            "accounting/pairs/test_laws_against_arb.py::test_the_gaussian_cost_of_a_pure_loss_meets_the_response",
            "accounting/pairs/test_estimates.py::test_of_the_largest_parameter",
            "accounting/pairs/test_every_pair.py::test_a_pair_of_equal_laws_loses_nothing",
            "accounting/pairs/test_composed_and_density.py::test_repetitions_multiply",
        ),
    ),
    Guarded(
        "accounting.pairs.laplace",
        ("pairs/laplace",),
        (
            "accounting/pairs/test_laws_against_arb.py::test_moments_beyond_any_exponent",
            "accounting/pairs/test_laws_against_arb.py::test_zero_concentrated_costs_are_mean_losses",
            "accounting/pairs/test_laws_against_arb.py::test_at_its_pure_loss_and_beyond_a_pair_has_no_delta",
            "accounting/pairs/test_estimates.py::test_of_the_largest_parameter",
            "accounting/pairs/test_every_pair.py::test_a_pair_of_equal_laws_loses_nothing",
        ),
    ),
    Guarded(
        "accounting.pairs.repeated_response",
        ("pairs/optimal-composition",),
        (
            *(
                f"accounting/pairs/test_laws_against_arb.py::{test}"
                for test in (
                    "test_few_and_many_responses",
                    "test_responses_with_next_to_no_loss_keep_their_digits",
                    "test_a_hair_below_the_pure_loss_of_many_responses",
                    "test_no_rounding_takes_delta_above_one",
                    "test_other_losses_of_independent_responses",
                    "test_responses_at_and_beyond_their_pure_loss_have_no_delta",
                )
            ),
            "accounting/pairs/test_composed_and_density.py::test_repetitions_multiply",
            "accounting/pairs/test_every_pair.py::test_a_pair_of_equal_laws_loses_nothing",
            "accounting/pairs/test_laws_against_arb.py::test_the_sum_serves_a_hundred_thousand_responses",
            "accounting/pairs/test_laws_against_arb.py::test_more_responses_are_composed_on_a_lattice",
        ),
    ),
    Guarded(
        "accounting.pairs.finite",
        ("pairs/finite", "pairs/finite-with-zeros", "pairs/composition"),
        tuple(
            f"accounting/pairs/test_finite_pair.py::{test}"
            for test in (
                "test_the_hockey_stick_is_half_of_what_absolute_differences_exceed",
                "test_delta_has_the_bits_of_the_pair_and_is_at_most_one",
                "test_other_costs_are_those_of_the_larger_pure_loss",
                "test_a_repetition_is_exact_as_long_as_its_fractions_are_short",
                "test_a_zero_that_faces_a_probability_leaves_only_delta",
                "test_common_zeros_count_for_nothing",
                "test_a_rate_that_is_not_one_number_is_amplified",
                "test_outputs_of_equal_ratio_are_merged_first",
                "test_huge_orders_and_tiny_differences",
                "test_a_repetition_is_exact_as_long_as_it_is_small",
                "test_long_tables_that_mirror_each_other_repeat_as_randomised_response",
            )
        ),
    ),
    Guarded(
        "accounting.dpis_allocation",
        ("dpis/allocation",),
        ("accounting/test_dpis_allocation.py",),
    ),
    Guarded("accounting.filters.odometers", ("accounting/odometer-renyi",), ("accounting/filters/test_odometers.py",)),
    Guarded(
        "accounting.sampling",
        (),
        (
            "accounting/test_sampling.py",
            "accounting/test_records.py::test_the_declared_rounding_of_norms_covers_that_of_the_kernels",
            "accounting/test_records.py::test_exact_rates_have_no_rounding",
        ),
    ),
    Guarded(
        "accounting.domination",
        ("pairs/randomised-response-dominates",),
        tuple(
            f"accounting/test_domination.py::{test}"
            for test in (
                "test_within_a_family_the_smaller_parameter_is_dominated",
                "test_what_is_known_across_families",
                "test_a_response_covers_the_larger_loss_of_both_directions",
                "test_rounding_leaves_it_undecided",
            )
        ),
    ),
    Guarded(
        "accounting.clipping",
        (),
        tuple(
            f"accounting/test_clipping.py::{test}"
            for test in (
                "test_the_largest_float_within_the_radius",
                "test_a_record_inside_is_left_alone",
                "test_without_a_domain_every_record_is_used_as_it_is",
                "test_the_share_of_the_radius_that_is_scaled_to",
                "test_no_record_is_scaled_twice",
                "test_the_ends_of_binary64",
            )
        ),
    ),
    Guarded("accounting.grouped_steps", (), ("accounting/test_grouped_steps.py",)),
    Guarded(
        "accounting.accountants.basic", ("accounting/basic-composition",), ("accounting/accountants/test_basic.py",)
    ),
    Guarded(
        "accounting.accountants.advanced",
        ("accounting/advanced-composition",),
        ("accounting/accountants/test_advanced.py",),
    ),
    Guarded("verification.checker.likeness", (), ("verification/checker/test_likeness.py",)),
)
