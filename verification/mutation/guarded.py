"""The table of the mutation score: every module that states, checks or draws a number, with what guards it, or why not.

The modules are found, not listed: all that lies in the folders of `SCOPE`. A module is scored where a rule names guards
for it, or where the tests mirror it (`tests/<folder>/test_<module>.py`, or its folder's name before its own); or it
is left out for a stated reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import final

from attrs import frozen

from .mutants import PACKAGE, Mutant, can_be_mutated, mutants_of
from .planting import plant

_ROOT = Path(__file__).resolve().parents[2]

SCOPE = (
    "accounting/**/*",
    "mechanisms/**/*",
    "samplers/**/*",
    "plugins/contract/*",
    "verification/checker/**/*",
    "verification/oracles/dpis_estimator",
    "dpis/**/*",
    "queries/*",
    "weighted_sampling/*",
    "runs/*",
    "records/*",
    "plots/*",
    "durable/*",
    "*",
)
"""Globs on the files of the package, without their ending: what states, checks or draws numbers."""


@final
@frozen
class Guarded:
    """A module and its guards.

    Attributes:
        module: dotted name within the package.
        claims: globs on the ids of claims, in the order in which they are run; negative controls are left out.
        tests: files or folders below tests/, for what no claim can see; they are run in a checkout alone. Of all
            these guards, a mutant is shown to those that enter its function.
    """

    module: str
    claims: tuple[str, ...]
    tests: tuple[str, ...] = ()

    def plantings(self) -> Iterator[tuple[Mutant, Callable[[], None]]]:
        """Each mutant, with what plants it in this process."""
        yield from ((mutant, partial(plant, mutant)) for mutant in mutants_of(self.module))


@final
@frozen
class Rule:
    """What guards the modules that a glob names; where several rules name one, it has the guards of all.

    Or those of rules that are `alone`, where such name it: what a wider glob adds says little of it and takes long.
    """

    modules: str
    claims: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    alone: bool = False


RULES = (
    Rule(
        "accounting.sampling.theorem_6",
        ("is/theorem-6*", "is/proposition-3"),
        ("accounting/sampling/test_profiles.py",),
    ),
    Rule("accounting.amplification.psi", ("is/theorem-6*", "is/proposition-3", "amplification/pure")),
    Rule("accounting.amplification.approximate", ("amplification/approximate", "amplification/approximate-*")),
    Rule("accounting.amplification.renyi", ("amplification/renyi-*",)),
    Rule("accounting.amplification.*", (), ("accounting/amplification/test_psi.py",)),
    Rule("accounting.conversions.from_pure", ("conversions/pure-*",)),
    Rule("accounting.conversions.from_renyi", ("conversions/renyi-*", "dpis/lemma-2.5")),
    Rule("accounting.conversions.from_gaussian", ("conversions/gaussian-to-others",)),
    Rule(
        "accounting.conversions.from_zero_concentrated",
        ("conversions/zero-concentrated-to-approximate", "conversions/gaussian-to-others"),
    ),
    Rule("accounting.conversions.renyi_*", ("conversions/renyi-*", "dpis/equation-2")),
    Rule("accounting.conversions.*", ("conversions/best-order",), ("accounting/conversions",)),
    Rule("accounting.notions.pure", ("pure/*",)),
    Rule("accounting.notions.approximate", ("approximate/*",)),
    Rule("accounting.notions.renyi", ("renyi/*", "notions/*")),
    Rule("accounting.notions.zero_concentrated", ("zero-concentrated/*",)),
    Rule("accounting.notions.gaussian_dp", ("gaussian/*", "notions/*")),
    Rule("accounting.notions.*", (), ("accounting/notions",)),
    Rule(
        "accounting.sampling.releases",
        ("amplification/sample-once", "amplification/resample-each", "amplification/every-*"),
    ),
    Rule("accounting.dpis.steps", ("dpis/lemma-2.9", "dpis/equation-13")),
    Rule(
        "verification.oracles.dpis_estimator",
        ("dpis/equation-15", "dpis/second-moment", "dpis/equation-9", "dpis/equation-7"),
    ),
    Rule("accounting.dpis.allocation", ("dpis/allocation",)),
    Rule("accounting.filters.filter", ("accounting/filter-pure",)),
    Rule(
        "accounting.filters.sums",
        tuple(f"accounting/filter-{notion}" for notion in ("pure", "renyi", "zero-concentrated", "gaussian")),
    ),
    Rule("accounting.filters.approximate", ("accounting/filter-approximate",)),
    Rule("accounting.filters.odometers", ("accounting/odometer-renyi",)),
    Rule("accounting.filters.*", (), ("accounting/filters",)),
    Rule("accounting.keyed.key_sanitiser", ("pws/equation-3", "pws/lemma-4.*")),
    Rule("accounting.feasible_weights.linear", ("is/theorem-10",)),
    Rule(
        "accounting.feasible_weights.*",
        ("is/problem-7",),
        ("accounting/feasible_weights", "runs/sampled/test_targets.py"),
    ),
    Rule("accounting.feasible_weights.rates", ("is/problem-7",), ("runs/sampled/test_targets.py",)),
    Rule(
        "accounting.pairs.gaussian",
        ("pairs/gaussian", "pairs/sampled-gaussian"),
        ("accounting/pairs/test_sampled_gaussian_renyi.py",),
    ),
    Rule("accounting.pairs.bounded_range", ("selection/bounded-range",)),
    Rule("accounting.pairs.gaussian_group", ("batches/*-gaussian",), ("accounting/pairs/test_changed.py",)),
    Rule(
        "accounting.pairs.changed",
        ("batches/replace-one*", "batches/replace-laplace*"),
        ("accounting/pairs/test_changed.py",),
    ),
    Rule("accounting.pairs.response", ("pairs/randomised-response",)),
    Rule("accounting.pairs.randomised_response", ("pairs/randomised-response", "pairs/optimal-composition")),
    Rule("accounting.pairs.laplace", ("pairs/laplace",)),
    Rule("accounting.pairs.response_of_many", ("mechanisms/response",)),
    Rule("accounting.pairs.finite", ("pairs/finite", "pairs/finite-with-zeros", "pairs/composition")),
    Rule("accounting.pairs.discrete_*", ("pairs/discrete-*",)),
    Rule("accounting.pairs.falling_sums", ("pairs/discrete-*",)),
    Rule("accounting.pairs.lattice_steps", ("pairs/discrete-*",)),
    Rule("accounting.pairs.composed", ("pairs/composition",)),
    Rule(
        "accounting.pairs.*",
        (),
        ("accounting/pairs", "accounting/loss_distribution/test_transforms.py", "accounting/conversions"),
    ),
    Rule("accounting.pairs.sampled_gaussian_renyi", ("pairs/sampled-gaussian",), ("accounting/pairs",)),
    Rule(
        "accounting.sampling.agreement", (), ("accounting/sampling/test_agreement.py", "runs/test_branching_plugins.py")
    ),
    Rule("accounting.sampling.rate", (), ("accounting/sampling/test_records.py",)),
    Rule("accounting.pairs.domination", ("pairs/randomised-response-dominates",)),
    Rule("accounting.accountants.basic", ("accounting/basic-composition",)),
    Rule("accounting.accountants.advanced", ("accounting/advanced-composition",)),
    Rule("accounting.accountants.optimal", ("accounting/optimal-composition",)),
    Rule("accounting.accountants.loss_distribution", ("accounting/loss-distribution", "accounting/small-delta")),
    Rule(
        "accounting.accountants.*",
        ("accounting/every-accountant", "accounting/repetition"),
        ("accounting/accountants", "accounting/sampling/test_worst_cases.py"),
    ),
    Rule("accounting.selection.tilts", ("selection/*",), ("accounting/selection",)),
    Rule(
        "accounting.loss_distribution.mixture_transforms",
        (),
        ("accounting/loss_distribution/test_mixture_transforms.py",),
    ),
    Rule("verification.checker.vocabulary", tests=("verification/checker/test_assumptions.py",), alone=True),
    *(
        Rule(
            f"accounting.loss_distribution.{name}",
            tests=("accounting/loss_distribution/test_interpolated_steps.py",),
            alone=True,
        )
        for name in ("interpolated_steps", "step_boxes", "step_remainders")
    ),
    Rule("accounting.loss_distribution.*", ("accounting/loss-distribution",), ("accounting/loss_distribution",)),
    Rule(
        "accounting.individual.*", ("accounting/individual-*",), ("accounting/individual", "records/test_statistics.py")
    ),
    Rule("accounting.filters.spending", (), ("test_spending_states.py", "accounting/filters")),
    Rule("accounting.accountants.trade_off", ("accounting/trade-off",)),
    Rule("accounting.sampling.worst_cases", ("amplification/worse-direction",)),
    Rule("accounting.keyed.reporting.*", ("pws/algorithm-*",), ("accounting/keyed/reporting",)),
    Rule(
        "accounting.keyed.estimates.*",
        ("pws/equation-*", "pws/section-*"),
        ("accounting/keyed/estimates/test_estimates.py",),
    ),
    Rule("accounting.keyed.stability_histograms", ("pws/*",)),
    Rule("accounting.draws.*", ("noise/*",), ("accounting/draws",)),
    Rule("accounting.enclosures.*", (), ("accounting/enclosures",)),
    Rule("accounting.expressions.*", (), ("accounting/expressions",)),
    Rule("accounting.enclosures.arguments", (), ("accounting/notions", "accounting/conversions", "accounting/filters")),
    Rule("accounting.bulk.sampled_gaussian", (), ("accounting/kernels/test_sampled_gaussian_kernel.py",)),
    Rule("accounting.bulk.parts", (), ("accounting/bulk/test_arrays.py",)),
    Rule("accounting.sampling.worst_cases", (), ("runs/sampled/test_costs.py", "runs/sampled/test_records.py")),
    Rule("accounting.accountants.composed_runs", (), ("runs/sampled/test_costs.py", "runs/test_plan.py")),
    Rule("accounting.enclosures.corners", (), ("accounting/pairs", "accounting/amplification/test_psi.py")),
    Rule("accounting.derivation", (), ("accounting/test_derivation_and_guarantees.py",)),
    Rule("accounting.stored.packing", (), ("accounting/stored/test_packing.py", "records/test_parts.py")),
    Rule("accounting.stored.*", (), ("accounting/stored", "accounting/filters/test_states.py")),
    Rule("accounting.guarantees", (), ("accounting/test_derivation_and_guarantees.py", "accounting/notions")),
    Rule("accounting.relations", (), ("accounting/amplification/test_psi.py",)),
    Rule(
        "accounting.sampling.drawing", (), ("accounting/sampling/test_rate.py", "accounting/amplification/test_psi.py")
    ),
    Rule(
        "accounting.sampling.batches",
        ("batches/fixed-*", "batches/truncated-*"),
        ("samplers/test_batches.py", "samplers/test_shuffled.py", "accounting/sampling"),
    ),
    Rule("mechanisms.*", ("mechanisms/*",), ("mechanisms",)),
    Rule("mechanisms.lloyd", ("is/proposition-13", "is/proposition-12")),
    Rule("mechanisms.above_threshold", ("selection/above-threshold",)),
    Rule("mechanisms.report_noisy_max", ("selection/noisy-max",)),
    Rule("mechanisms.pws_*", ("pws/equation-3",)),
    Rule("samplers.*", ("samplers/rates",), ("samplers",)),
    Rule("samplers.coreset", ("is/theorem-15-sensitivity", "is/lightweight-distribution", "is/coreset-size")),
    Rule("plugins.contract.*", (), ("plugins/contract", "mechanisms", "samplers")),
    Rule("verification.checker*", (), ("verification/checker/test_forgeries.py",)),
    Rule("verification.checker.homogeneous", (), ("verification/checker/test_checker_constrained.py",)),
    Rule("verification.checker.options", (), ("verification/checker/test_forged_options.py",)),
    Rule("verification.checker.approximate.cover", (), ("verification/checker/test_checker_domain.py",)),
    Rule(
        "verification.checker.approximate.*",
        (),
        (
            "verification/checker/approximate/test_run.py",
            "verification/checker/approximate/test_methods.py",
            "verification/checker/test_checker_contour.py",
            "verification/certificates/test_approximate.py",
        ),
    ),
    Rule(
        "verification.checker.keyed.*",
        (),
        ("verification/checker/test_checker_keyed.py", "verification/certificates/test_keyed.py"),
    ),
    Rule("dpis.*", ("dpis/*",), ("dpis",)),
    Rule("queries.*", (), ("queries",)),
    Rule("weighted_sampling.*", (), ("weighted_sampling",)),
    Rule("runs.stratified", (), ("samplers/test_strata.py",)),
    Rule("plugins.contract.strata", (), ("samplers/test_strata.py",)),
    Rule("samplers.strata", (), ("samplers/test_strata.py",)),
    Rule("samplers.norm_strata", (), ("samplers/test_strata.py",)),
    Rule("runs.allocated", (), ("samplers/test_random_allocation.py",)),
    Rule("runs.places", (), ("runs/test_places.py",)),
    Rule("samplers.shuffled_batches", (), ("samplers/test_shuffled_batches.py",)),
    Rule("accounting.sampling.epochs", (), ("accounting/sampling/test_epochs.py",)),
    Rule("runs.ex_post", (), ("runs/test_released.py",)),
    Rule("runs.worst_ends", (), ("runs/test_released.py", "runs/sampled/test_records.py")),
    Rule("runs.run", (), ("runs/sampled/test_records.py", "runs/sampled/test_costs.py", "runs/test_plan.py")),
    Rule("records.sums", (), ("records/test_sums.py",)),
    Rule("records.*", (), ("records", "runs/sampled/test_records.py")),
    Rule("runs.digests", (), ("ledger/test_paying.py",)),
    Rule("runs.partial", (), ("records/test_parts.py",)),
    Rule("runs.declared", (), ("runs/sampled/test_records.py", "runs/test_released.py")),
    Rule("runs.sampled", (), ("runs/sampled/test_costs.py", "runs/sampled/test_targets.py", "runs/test_released.py")),
    Rule(
        "runs.certificates",
        (),
        (
            "verification/certificates/test_writing.py",
            "verification/certificates/test_approximate.py",
            "verification/certificates/test_notions.py",
        ),
    ),
)

EXCLUDED = {
    "*_kernels*": "Machine code made by Numba, which cannot be exchanged; tests hold each kernel against enclosures.",
    "dpis.torch.*": "Needs PyTorch, which need not be installed; `make test-torch` runs its tests.",
    "dpis.torch": "Needs PyTorch, which need not be installed; `make test-torch` runs its tests.",
    "dpis.pictures": "Draws pictures of numbers that are computed elsewhere.",
    "dpis.claims": "Claims about training: they are guards, and the negative controls are their mutants.",
    "runs.*_claims": "Claims about runs: they are guards, and the negative controls are their mutants.",
    "weighted_sampling.*pictures": "Draws pictures of numbers that are computed elsewhere.",
    "plots.canvas": "Draws pictures of numbers that are computed elsewhere.",
    "plots.ledgers": "Draws pictures of numbers that are computed elsewhere.",
    "plots.records": "Draws pictures of numbers that are computed elsewhere.",
    "plots.runs": "Draws pictures of numbers that are computed elsewhere.",
    "plots.claims": "Draws pictures of numbers that are computed elsewhere.",
    "__main__": "Starts the command line.",
    "verification.checker.__main__": "Starts the checker.",
    "verification.checker.interrupted": "Says what a signal does to the checker as a program.",
}
"""Globs of modules that have no score, each with the reason."""


@cache
def modules() -> tuple[str, ...]:
    """All modules in scope, by dotted names within the package, in order; those without anything to mutate too."""
    import sys

    face = Path(next(iter(sys.modules[PACKAGE].__path__)))
    found = dict[str, None]()
    for pattern in SCOPE:
        top, _, rest = pattern.partition("/")
        folder, rest = (face / top, rest) if rest else (face, top)  # a glob does not go through a link
        for file in sorted(folder.glob(f"{rest}.py")):
            parts = file.relative_to(face).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = None
    return tuple(name for name in found if name)


def reason(module: str) -> str | None:
    """Why a module has no score; None where it has one, or should have."""
    return next((why for pattern, why in EXCLUDED.items() if fnmatchcase(module, pattern)), None)


def tests_folder() -> Path | None:
    """The folder of tests, in a checkout."""
    folder = _ROOT / "tests"
    return folder if folder.is_dir() else None


def guards_of(module: str) -> Guarded:
    """A module with the guards of all rules that name it, and with the tests that mirror it."""
    named = [rule for rule in RULES if fnmatchcase(module, rule.modules)]
    rules = [rule for rule in named if rule.alone] or named
    folder, _, name = module.rpartition(".")
    path = tuple(filter(None, folder.split(".")))
    mirrors = ["/".join((*path, f"test_{told}.py")) for told in (name, "_".join((*path[-1:], name)))]
    tests = tests_folder()
    mirrored = [mirror for mirror in mirrors if tests is not None and (tests / mirror).is_file()]
    claims = [claim for rule in rules for claim in rule.claims]
    files = [*mirrored, *(test for rule in rules for test in rule.tests)]
    return Guarded(module, tuple(dict.fromkeys(claims)), tuple(dict.fromkeys(files)))


@cache
def guarded() -> tuple[Guarded, ...]:
    """Return every module whose mutants are scored."""
    found = (guards_of(module) for module in modules() if reason(module) is None and can_be_mutated(module))
    return tuple(each for each in found if each.claims or each.tests)


def unplaced() -> tuple[str, ...]:
    """Modules with something to mutate that have neither guards nor a reason to be left out."""
    placed = {each.module for each in guarded()}
    return tuple(m for m in modules() if m not in placed and reason(m) is None and can_be_mutated(m))
