"""Risks of the same runs by certdp and by riskcal: who lies outside the proven interval, and by how much.

The false-negative rate β of the best attacker at three false-positive rates, and the membership advantage. riskcal
reads them off the loss distribution of dp-accounting, at its defaults. Exact answers come from closed forms in
mpmath at 40 digits, which share no code with certdp. The runs are those of `peer_accuracy.py` and ten of sampled
Laplace noise.

Run: python benchmarks/peer_risk.py ask PYTHON PEER.json       PYTHON: an interpreter that has riskcal
     python benchmarks/peer_risk.py prove OWN.json             certdp's intervals
     python benchmarks/peer_risk.py compare PEER.json OWN.json the tables of docs/accuracy.md, printed
     python benchmarks/peer_risk.py time PYTHON                the table of docs/benchmarks.md, printed
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from peer_accuracy import Case, cases, event, google_event, google_relation, into_file, named, rows, timed_answer

RATES = ("0.0001", "0.01", "0.1")
KEYS = (*RATES, "advantage")


def runs() -> Iterator[Case]:
    yield from cases()
    for rate in (0.01, 0.1):
        for noise, steps in ((0.5, 2), (1.0, 2), (1.0, 10), (4.0, 10), (4.0, 100)):
            yield {"mechanism": "sampled laplace", "rate": rate, "noise": noise, "steps": steps}


def riskcal(case: Case) -> list[Any]:
    """β at each false-positive rate, and the membership advantage."""
    import dp_accounting as google
    from dp_accounting.pld import PLDAccountant
    from riskcal.analysis import get_advantage_from_pld, get_beta_from_pld

    if case["mechanism"] == "sampled laplace":
        once = google.PoissonSampledDpEvent(case["rate"], google.LaplaceDpEvent(case["noise"]))
        asked: Any = google.SelfComposedDpEvent(once, case["steps"])
    else:
        asked = google_event(case)
    accountant = PLDAccountant(google_relation(case))
    accountant.compose(asked)
    found = [float(get_beta_from_pld(accountant._pld, float(rate))) for rate in RATES]
    return [*found, float(get_advantage_from_pld(accountant._pld))]


def record_answers(target: Path) -> None:
    """What riskcal says, into a file."""
    importlib.import_module("riskcal")  # once, before the processes fork
    found: list[dict[str, Any]] = []
    for case in runs():
        found.append({"case": case, **timed_answer(riskcal, case)})
        print(found[-1], flush=True)
    versions = {package: importlib.metadata.version(package) for package in ("riskcal", "dp-accounting")}
    target.write_text(json.dumps({"versions": versions, "answers": found}), "utf-8")


def prove(target: Path) -> None:
    """certdp's intervals, into a file that grows."""

    def proven(case: Case) -> dict[str, Any]:
        start = time.process_time()
        return {"found": intervals(case), "seconds": time.process_time() - start}

    into_file(target, runs(), proven)


def intervals(case: Case) -> list[list[float]]:
    """certdp's intervals of β at each false-positive rate, and of the membership advantage."""
    import certdp
    from certdp.accounting.relations import ADD_REMOVE, REPLACE
    from certdp.interoperation import Laplace, PoissonSampled, SelfComposed

    if case["mechanism"] == "sampled laplace":
        asked: Any = SelfComposed(PoissonSampled(case["rate"], Laplace(case["noise"])), case["steps"])
    else:
        asked = event(case)
    risk = certdp.risk(asked.run(REPLACE if case["mechanism"] == "response" else ADD_REMOVE))
    found = [1 - risk.true_positive_rate(rate) for rate in RATES]
    return [[value.lower_float, value.upper_float] for value in (*found, risk.advantage)]


TIMED: tuple[Case, ...] = (
    {"mechanism": "gaussian", "noise": 1.0, "steps": 1},
    {"mechanism": "laplace", "noise": 10.0, "steps": 30},
    *(
        {"mechanism": "sampled gaussian", "rate": rate, "noise": noise, "steps": steps}
        for rate, noise, steps in ((0.01, 1.0, 10), (0.01, 1.0, 1000), (0.01, 1.0, 10_000), (0.5, 4.0, 1000))
    ),
    {"mechanism": "sampled laplace", "rate": 0.1, "noise": 1.0, "steps": 10},
)


def times(answer: Callable[[Case], Any]) -> list[tuple[float, Any]]:
    """CPU seconds of all four rates of the runs that are timed, the least of three, and the rates."""
    found = []
    for case in TIMED:
        spent = []
        for _ in range(3):
            start = time.process_time()
            answer(case)
            spent.append(time.process_time() - start)
        found.append((min(spent), answer(case)))
    return found


def time_both(interpreter: str) -> None:
    """The table of times, printed; β at 0.01 beside."""
    said = subprocess.run([interpreter, __file__, "--time"], check=True, capture_output=True, text=True).stdout
    table = []
    for case, (own, ends), (theirs, values) in zip(TIMED, times(intervals), json.loads(said), strict=True):
        (lower, upper), value = ends[1], values[1]
        table.append(
            [
                f"{case['mechanism']}, {named(case)}",
                f"[{lower:.9f}, {upper:.9f}]",
                f"{own:.2g}",
                f"{value:.9f}",
                f"{theirs:.2g}",
                f"{theirs / own:.2g}",
            ]
        )
    print(*rows(["run", "β at 0.01, certdp", "CPU s", "riskcal", "CPU s", "ratio"], table), sep="\n")


# Exact answers, without certdp.


def divergence(case: Case) -> Callable[[Any], Any] | None:
    """The larger divergence D(x) of both directions in 40 digits, where there is a closed form."""
    import mpmath

    mpmath.mp.dps = 40
    noise, steps, rate = mpmath.mpf(case["noise"]), case["steps"], mpmath.mpf(case.get("rate", 1))
    match case["mechanism"]:
        case "response":
            kept, other = 1 - noise / 2, noise / 2
            counts = [(mpmath.binomial(steps, k), k) for k in range(steps + 1)]
            outcomes = [
                (many * kept**k * other ** (steps - k), many * other**k * kept ** (steps - k)) for many, k in counts
            ]
            return lambda x: mpmath.fsum(max(p - x * q, 0) for p, q in outcomes)
        case "laplace" if steps == 1:
            loss = 1 / noise

            def laplace(x: Any) -> Any:
                level = min(max(mpmath.log(x), -loss), loss)
                return max(1 - x, -mpmath.expm1((level - loss) / 2)) if x >= 1 else 1 - x + x * laplace(1 / x)

            return laplace
        case "gaussian" | "sampled gaussian" if steps == 1 or rate == 1:
            shift = mpmath.sqrt(steps) / noise

            def removed(x: Any) -> Any:
                """Of the mixture (1 − q)·N(0, 1) + q·N(shift, 1) against N(0, 1)."""
                ratio = (x - 1 + rate) / rate
                if ratio <= 0:
                    return 1 - x
                last = mpmath.log(ratio) / shift + shift / 2
                return (1 - rate - x) * mpmath.ncdf(-last) + rate * mpmath.ncdf(shift - last)

            return lambda x: max(removed(x), 1 - x + x * removed(1 / x))
    return None


def exact(case: Case) -> list[Any]:
    """β at each false-positive rate, the largest 1 − D(x) − αx, and the advantage; nothing without a closed form."""
    import mpmath

    law = divergence(case)
    if law is None:
        return []
    found = []
    for rate in map(mpmath.mpf, RATES):

        def height(log_x: Any, rate: Any = rate) -> Any:
            x = mpmath.exp(log_x)
            return 1 - law(x) - rate * x

        low, high = mpmath.mpf(-40), mpmath.mpf(40)  # of a function that rises, then falls
        while high - low > mpmath.mpf(10) ** -14:
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (first, high) if height(first) < height(second) else (low, second)
        found.append(max(height(low), 0))
    return [*found, law(mpmath.mpf(1))]


def compare(peer: Path, own: Path) -> None:
    data = json.loads(peer.read_text("utf-8"))
    answers = {json.dumps(answer["case"]): answer for answer in data["answers"]}
    proven = json.loads(own.read_text("utf-8"))
    checked, cells, summary = 0, [], []
    above: dict[str, list[float]] = {key: [] for key in KEYS}
    below: dict[str, list[float]] = {key: [] for key in KEYS}
    for entry in proven:
        case, answer = entry["case"], answers[json.dumps(entry["case"])]
        for (lower, upper), truth in zip(entry["found"], exact(case), strict=False):
            checked += 1
            if not lower - 1e-13 <= truth <= upper + 1e-13:
                raise SystemExit(f"certdp's interval [{lower}, {upper}] misses the exact value {truth}: {case}")
        for key, (lower, upper), value in zip(KEYS, entry["found"], answer.get("values", ()), strict=False):
            if value > upper:
                above[key].append(value - upper)
            elif value < lower:
                below[key].append(lower - value)
            if (value > upper + 1e-4) if key != "advantage" else value < lower - 1e-4:
                cells.append(
                    [f"{case['mechanism']}, {named(case)}", key, f"[{lower:.9f}, {upper:.9f}]", f"{value:.9f}"]
                )
    for key in KEYS:
        answered = sum("values" in answers[json.dumps(entry["case"])] for entry in proven)
        inside = answered - len(above[key]) - len(below[key])
        claims, costs = (below[key], above[key]) if key == "advantage" else (above[key], below[key])
        widths = [upper - lower for entry in proven for lower, upper in [entry["found"][KEYS.index(key)]]]
        summary.append(
            [
                "membership advantage" if key == "advantage" else f"β at {key}",
                *(str(len(side)) for side in (claims, costs)),
                str(inside),
                str(len(proven) - answered),
                *(f"{median(side):.1e}, {max(side):.1e}" if side else "" for side in (claims, costs)),
                f"{median(widths):.1e}, {max(widths):.1e}",
            ]
        )
    print(f"{len(proven)} runs, {data['versions']}; exact in {checked} of {len(proven) * len(KEYS)} cases")
    seconds = sorted(entry["seconds"] for entry in proven)
    theirs = sorted(answer["seconds"] for answer in data["answers"])
    for name, spent in (("certdp", seconds), ("riskcal", theirs)):
        middle, total = spent[len(spent) // 2], math.fsum(spent)
        print(f"{name}: seconds a run, median {middle:.3f}, most {spent[-1]:.2f}, sum {total:.1f}")
    heading = [
        "",
        "claims too little risk",
        "too much",
        "inside",
        "none",
        "too little: median, most",
        "too much: median, most",
    ]
    print(*rows([*heading, "certdp's width: median, most"], summary), sep="\n")
    print(*rows(["run", "rate", "certdp", "riskcal"], cells), sep="\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--ask", target]:
            record_answers(Path(target))
        case ["--time"]:
            print(json.dumps(times(riskcal)))
        case ["time", interpreter]:
            time_both(interpreter)
        case ["ask", interpreter, data]:
            subprocess.run([interpreter, __file__, "--ask", data], check=True)
        case ["prove", data]:
            prove(Path(data))
        case ["compare", data, own]:
            compare(Path(data), Path(own))
        case _:
            raise SystemExit(__doc__)
