"""What is proven is printed rounded to the safe side: only what is listed here is printed rounded to the nearest."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import certdp

PACKAGE = Path(certdp.__file__).parent
ROOMS = ("accounting", "mechanisms", "plugins", "samplers", "verification")
"""What the package shows from elsewhere: no walk of its folders comes there by itself."""
ROUNDS = re.compile(r"[efgEFG%]$")
MEASURED = {
    "experiments/": "figures of papers beside those that were measured",
    "verification/claims/": "what two calculations gave, beside whether they agree",
    "verification/planted/": "what was measured of faults",
    "verification/reports/": "seconds",
    "runs/constrained_claims.py": "what two calculations gave, beside whether they agree",
    "runs/released_claims.py": "what two calculations gave, beside whether they agree",
    "dpis/claims.py": "what two calculations gave, beside whether they agree",
}
"""Of which no number is anybody's guarantee."""
TO_THE_NEAREST: dict[str, dict[str, set[str]]] = {
    "estimated or measured": {
        "commands/audit.py": {"count.hits / count.trials"},
        "commands/mutants.py": {"found.killed_share"},
        "commands/pws/estimate.py": {"rank.rank", "rank.standard_error", "self.kendall"},
        "commands/verify_table.py": {"result.seconds"},
        "commands/waiting.py": {"monotonic() - start"},
        "commands/dpis/progress.py": {"figures.loss"},
        "plots/claims.py": {"share", "taken"},
        "weighted_sampling/estimation.py": {"part"},
        "weighted_sampling/report.py": {"band.expected", "self.expected", "value"},
        "verification/audit/power.py": {"self.refutable"},
        "accounting/accountants/renyi.py": {"float(order)", "near"},
        "accounting/loss_distribution/mean_ratios.py": {"error"},
    },
    "a constant of what is run, told beside the bound that holds for all its digits": {
        "commands/dpis/plan.py": {"batch", "size", "float(found.order.value)"},
        "commands/dpis/progress.py": {"epoch.noise_multiplier", "epoch.norm_sum / epoch.clip"},
        "commands/pws/estimate.py": {"one.level"},
        "dpis/trajectories.py": {"float(records)"},
        "queries/kinds.py": {"float(a)", "float(b)", "float(quantile)"},
        "queries/noise.py": {"float(self.scale)"},
        "queries/parts.py": {"100 * confidence"},
        "queries/results.py": {"100 * self.confidence"},
        "queries/tables.py": {"float(column.high or 0)", "float(column.low or 0)"},
        "runs/many_steps.py": {"least", "most"},
        "runs/run.py": {"float(row.order)", "float(self.order)"},
        "weighted_sampling/release.py": {"float(Fraction(text))"},
        "weighted_sampling/tables.py": {"float(rate)", "float(row.reported)", "loss"},
        "accounting/conversions/best_order.py": {"float(self.order)"},
        "verification/checker/approximate/methods.py": {"float(order)"},
        "verification/audit/neighbours.py": {"entry"},
        "verification/audit/statistics.py": {"self.threshold"},
        "plots/runs.py": {"tick"},
    },
    "what was refused, or how long something may take": {
        "commands/claim_runs.py": {"self.timeout"},
        "dpis/forecast.py": {"float(share * account.size)"},
        "queries/noise.py": {"float(share)"},
        "runs/calibration.py": {"float(tried.value)"},
        "runs/least_scale.py": {"float(needed)"},
        "accounting/bulk/clusters.py": {"LARGEST_STEPS * spacing"},
        "accounting/feasible_weights/linear.py": {"float(target)"},
        "accounting/feasible_weights/profiles.py": {"float(self.target)"},
        "accounting/loss_distribution/mean_ratios.py": {"_FARTHEST"},
        "mechanisms/lloyd.py": {"self._spacing"},
        "plugins/conformance/check.py": {"timeout"},
        "plugins/conformance/mechanism_releases.py": {"weight"},
        "plugins/conformance/sanitisers.py": {"float(delta)", "float(spent)"},
        "plugins/probe.py": {"seconds"},
        "plugins/registry.py": {"self.seconds"},
        "verification/running/runner.py": {"timeout"},
    },
    "rounded before, to the safe side, or asked for as the nearest": {
        "accounting/display.py": {"Decimal(text)"},
        "accounting/exact.py": {"(Decimal(value.numerator) / Decimal(value.denominator)).normalize()"},
        "commands/digits.py": {"float(value)"},
        "queries/account.py": {"math.ceil(part.upper * 10000) / 100", "upper.normalize()"},
    },
}


def packages() -> Iterator[tuple[str, ast.Module]]:
    for top in (PACKAGE, *(PACKAGE / room for room in ROOMS)):
        for path in sorted(top.rglob("*.py")):
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text("utf-8"))


def rounded_to_the_nearest(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FormattedValue(format_spec=ast.JoinedStr(values=[*_, ast.Constant(value=str(spec))])):
                if ROUNDS.search(spec):
                    yield ast.unparse(node.value)


def printed() -> dict[str, set[str]]:
    told = {
        name: set(rounded_to_the_nearest(tree)) for name, tree in packages() if not name.startswith(tuple(MEASURED))
    }
    return {name: values for name, values in told.items() if values}


def test_a_format_that_rounds_to_the_nearest_is_of_no_proven_number() -> None:
    listed: dict[str, set[str]] = {}
    for modules in TO_THE_NEAREST.values():
        for name, values in modules.items():
            listed.setdefault(name, set()).update(values)
    assert printed() == listed


def test_what_is_not_looked_at_is_there() -> None:
    names = [name for name, _ in packages()]
    assert len(names) > 500
    for place in MEASURED:
        assert any(name.startswith(place) for name in names), place


def test_a_rounded_bound_is_told() -> None:
    tree = ast.parse("f'ε ≤ {epoch.epsilon:.3f}, {share:.{digits}g}, {n:,}, {time:%H:%M} {part:.1%}'")
    assert list(rounded_to_the_nearest(tree)) == ["epoch.epsilon", "share", "part"]
