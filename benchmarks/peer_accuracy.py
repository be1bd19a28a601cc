"""ε of the same runs by certdp and by its peers: who lies outside the proven interval, and by how much.

Peers: dp-accounting (Rényi and loss distribution), Opacus (Rényi, Gaussian, PRV), prv-accountant, autodp; those that
are installed. Each is asked with its defaults and, where it has any, with better settings. Exact answers come from
closed forms in mpmath at 60 digits, which share no code with certdp. Cases that take a peer longer than LIMIT seconds
or more than MEMORY bytes are recorded as such.

Run: python benchmarks/peer_accuracy.py ask PYTHON PEERS.json          PYTHON: an interpreter that has the peers
     python benchmarks/peer_accuracy.py prove OWN.json                 certdp's intervals
     python benchmarks/peer_accuracy.py compare PEERS.json OWN.json    docs/accuracy.md, from both
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import math
import multiprocessing
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

DELTAS = (1e-2, 1e-5, 1e-10, 1e-15)
LIMIT, MEMORY = 20, 6 * 2**30
Case: TypeAlias = dict[str, Any]
Value: TypeAlias = tuple[float | None, float] | str
"""What a peer calls its lower bound (None where it has none) and its upper bound, or its value; or why it has none."""


def cases() -> Iterator[Case]:
    """The grid; dp-accounting's names for the mechanisms' parameters."""
    for steps, noise in ((1, 1.0), (1000, math.sqrt(1000)), (100_000, math.sqrt(100_000)), (100_000, 2000.0), (1, 0.2)):
        yield {"mechanism": "gaussian", "noise": noise, "steps": steps}
    for noise, steps in ((1.0, 1), (10.0, 1), (10.0, 30), (100.0, 1000), (1.0, 30)):
        yield {"mechanism": "laplace", "noise": noise, "steps": steps}
    for noise, steps in ((0.5, 1), (0.5, 10), (0.8, 10), (0.8, 100), (0.98, 1000)):
        yield {"mechanism": "response", "noise": noise, "steps": steps}
    for rate in (1e-4, 1e-2, 0.1, 0.5, 1.0):
        for noise in (0.5, 1.0, 4.0):
            for steps in (1, 10, 1000, 10_000, 100_000):
                yield {"mechanism": "sampled gaussian", "rate": rate, "noise": noise, "steps": steps}


# The peers. Each returns its values at DELTAS; imports happen where the peer runs.


def each(value: Callable[[float], tuple[float | None, float]]) -> list[Value]:
    """At each δ."""
    found: list[Value] = []
    for delta in DELTAS:
        try:
            found.append(value(delta))
        except Exception as error:  # a peer's own
            found.append(f"{type(error).__name__}: {error}"[:200])
    return found


def google_event(case: Case) -> Any:
    import dp_accounting as google

    match case:
        case {"mechanism": "gaussian" | "sampled gaussian", "noise": noise}:
            event: Any = google.GaussianDpEvent(noise)
        case {"mechanism": "laplace", "noise": noise}:
            event = google.LaplaceDpEvent(noise)
        case {"mechanism": "response", "noise": noise}:
            event = google.RandomizedResponseDpEvent(noise, 2)
    rate = case.get("rate", 1)
    return google.SelfComposedDpEvent(event if rate == 1 else google.PoissonSampledDpEvent(rate, event), case["steps"])


def google_relation(case: Case) -> Any:
    from dp_accounting.privacy_accountant import NeighboringRelation

    return NeighboringRelation.REPLACE_ONE if case["mechanism"] == "response" else NeighboringRelation.ADD_OR_REMOVE_ONE


def dense_orders() -> list[float]:
    import numpy as np

    default = np.concatenate([np.arange(1.1, 12, 0.1), np.arange(2, 257)])
    return [float(order) for order in np.unique(np.concatenate([default, 1 + np.geomspace(1e-3, 510, 250)]))]


def google_renyi(case: Case, orders: list[float] | None = None) -> list[Value]:
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders, google_relation(case))
    accountant.compose(google_event(case))
    return each(lambda delta: (None, float(accountant.get_epsilon(delta))))


def google_renyi_dense(case: Case) -> list[Value]:
    return google_renyi(case, dense_orders())


def google_distribution(case: Case, interval: float = 1e-4) -> list[Value]:
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(google_relation(case), interval)
    accountant.compose(google_event(case))
    return each(lambda delta: (None, float(accountant.get_epsilon(delta))))


def google_distribution_fine(case: Case) -> list[Value]:
    return google_distribution(case, 1e-5)


def opacus_accountants() -> ModuleType:
    """opacus.accountants without torch: they need the rest of opacus for an annotation alone."""
    if "opacus" not in sys.modules:
        found = importlib.util.find_spec("opacus")
        assert found is not None
        package, optimizers = ModuleType("opacus"), ModuleType("opacus.optimizers")
        package.__path__ = list(found.submodule_search_locations or ())
        vars(optimizers)["DPOptimizer"] = object
        sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    return importlib.import_module("opacus.accountants")


def opacus(case: Case, kind: str, **settings: Any) -> list[Value]:
    accountant = opacus_accountants().create_accountant(kind)
    accountant.history = [(case["noise"], case.get("rate", 1.0), case["steps"])]
    return each(lambda delta: (None, float(accountant.get_epsilon(delta, **settings))))


def opacus_renyi(case: Case) -> list[Value]:
    return opacus(case, "rdp")


def opacus_renyi_dense(case: Case) -> list[Value]:
    return opacus(case, "rdp", alphas=dense_orders())


def opacus_gaussian(case: Case) -> list[Value]:
    return opacus(case, "gdp")


def opacus_prv(case: Case) -> list[Value]:
    return opacus(case, "prv")


def microsoft(case: Case, error: float) -> list[Value]:
    import prv_accountant as prv

    match case:
        case {"mechanism": "gaussian", "noise": noise}:
            variable = prv.privacy_random_variables.GaussianMechanism(noise)
        case {"mechanism": "laplace", "noise": noise}:
            variable = prv.privacy_random_variables.LaplaceMechanism(1 / noise)
        case {"mechanism": "sampled gaussian", "noise": noise, "rate": rate}:
            variable = prv.PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=rate)

    def at(delta: float) -> tuple[float, float]:
        accountant = prv.PRVAccountant(
            prvs=variable, max_self_compositions=case["steps"], eps_error=error, delta_error=delta / 1000
        )
        lower, _, upper = accountant.compute_epsilon(delta, case["steps"])
        return float(lower), float(upper)

    return each(at)


def microsoft_coarse(case: Case) -> list[Value]:
    return microsoft(case, 0.1)


def microsoft_fine(case: Case) -> list[Value]:
    return microsoft(case, 0.01)


def autodp(case: Case) -> list[Value]:
    from autodp.mechanism_zoo import ExactGaussianMechanism, GaussianMechanism, LaplaceMechanism, RandresponseMechanism
    from autodp.transformer_zoo import AmplificationBySampling, ComposeGaussian, Composition

    composition = Composition()
    match case:
        case {"mechanism": "gaussian", "noise": noise}:
            mechanism, composition = ExactGaussianMechanism(sigma=noise), ComposeGaussian()
        case {"mechanism": "laplace", "noise": noise}:
            mechanism = LaplaceMechanism(b=noise)
        case {"mechanism": "response", "noise": noise}:
            mechanism = RandresponseMechanism(p=1 - noise / 2)
        case {"noise": noise, "rate": rate}:
            mechanism = GaussianMechanism(sigma=noise)
            mechanism.neighboring = "add_remove"
            if rate < 1:
                mechanism = AmplificationBySampling()(mechanism, rate, improved_bound_flag=True)
    run = composition([mechanism], [case["steps"]])
    return each(lambda delta: (None, float(run.get_approxDP(delta))))


ALL = ("gaussian", "laplace", "response", "sampled gaussian")
NORMAL = ("gaussian", "sampled gaussian")
PEERS: dict[str, tuple[str, tuple[str, ...], Callable[[Case], list[Value]]]] = {
    "dp-accounting Rényi": ("dp-accounting", ALL, google_renyi),
    "dp-accounting Rényi, more orders": ("dp-accounting", ALL, google_renyi_dense),
    "dp-accounting PLD": ("dp-accounting", ALL, google_distribution),
    "dp-accounting PLD, interval 1e-5": ("dp-accounting", ALL, google_distribution_fine),
    "Opacus Rényi": ("opacus", NORMAL, opacus_renyi),
    "Opacus Rényi, more orders": ("opacus", NORMAL, opacus_renyi_dense),
    "Opacus GDP": ("opacus", NORMAL, opacus_gaussian),
    "Opacus PRV": ("opacus", NORMAL, opacus_prv),
    "prv-accountant, error 0.1": ("prv-accountant", ("gaussian", "laplace", "sampled gaussian"), microsoft_coarse),
    "prv-accountant, error 0.01": ("prv-accountant", ("gaussian", "laplace", "sampled gaussian"), microsoft_fine),
    "autodp Rényi": ("autodp", ALL, autodp),
}


def limited(peer: Callable[[Case], list[Value]], case: Case, answer: Any) -> None:
    """Ask a peer, in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    try:
        with open("/dev/null", "w") as nowhere:
            sys.stdout = nowhere  # autodp reports its searches
            answer.send({"values": peer(case)})
    except Exception as error:
        answer.send({"error": f"{type(error).__name__}: {error}"[:200]})


def timed_answer(peer: Callable[[Case], list[Value]], case: Case) -> dict[str, Any]:
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=limited, args=(peer, case, theirs))
    start = time.perf_counter()
    process.start()
    theirs.close()
    try:
        found = mine.recv() if mine.poll(LIMIT) else {"error": f"more than {LIMIT} s"}
    except EOFError:
        found = {"error": "died, as for lack of memory"}
    if process.is_alive():
        process.kill()
    process.join()
    return {**found, "seconds": round(time.perf_counter() - start, 2)}


def record_answers(target: Path) -> None:
    """Every installed peer about every case, into a file that grows as they answer."""
    versions = {}
    for package in {package for package, _, _ in PEERS.values()}:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    for module in ("numpy", "scipy.stats", "scipy.signal", "dp_accounting.pld", "dp_accounting.rdp", "prv_accountant"):
        if importlib.util.find_spec(module.partition(".")[0]):
            importlib.import_module(module)  # once, before the processes fork
    known = json.loads(target.read_text("utf-8"))["answers"] if target.is_file() else []
    done = {(answer["peer"], json.dumps(answer["case"])) for answer in known}
    for case in cases():
        for name, (package, mechanisms, peer) in PEERS.items():
            wanted = package in versions and case["mechanism"] in mechanisms
            if wanted and (name, json.dumps(case)) not in done:
                known.append({"peer": name, "case": case, **timed_answer(peer, case)})
        target.write_text(json.dumps({"versions": versions, "answers": known}), "utf-8")
        print(case, flush=True)


# certdp's own.


def event(case: Case) -> Any:
    """The case as certdp reads it."""
    from certdp.interoperation import Gaussian, Laplace, PoissonSampled, RandomisedResponse, SelfComposed

    match case:
        case {"mechanism": "gaussian", "noise": noise}:
            once: Any = Gaussian(noise)
        case {"mechanism": "laplace", "noise": noise}:
            once = Laplace(noise)
        case {"mechanism": "response", "noise": noise}:
            once = RandomisedResponse(noise, 2)
        case {"noise": noise, "rate": rate}:
            once = PoissonSampled(rate, Gaussian(noise))
    return SelfComposed(once, case["steps"])


def prove(target: Path) -> None:
    """certdp's interval of every case, into a file."""
    import certdp
    from certdp.accounting.relations import ADD_REMOVE, REPLACE

    def proven(case: Case) -> dict[str, Any]:
        run = event(case).run(REPLACE if case["mechanism"] == "response" else ADD_REMOVE)
        found = []
        for delta in DELTAS:
            start = time.perf_counter()
            answer = run.epsilon(certdp.Delta(delta))
            spent = round(time.perf_counter() - start, 3)
            found.append([answer.epsilon.lower, answer.epsilon.upper, str(answer.accountant), spent])
        return {"found": found}

    into_file(target, cases(), proven)


def into_file(target: Path, asked: Iterable[Case], proven: Callable[[Case], dict[str, Any]]) -> None:
    """What is proven of each case that is not in the file yet, which grows."""
    known = json.loads(target.read_text("utf-8")) if target.is_file() else []
    done = [entry["case"] for entry in known]
    for case in asked:
        if case not in done:
            known.append({"case": case, **proven(case)})
            target.write_text(json.dumps(known), "utf-8")
            print(known[-1], flush=True)


# Exact answers, without certdp.


def exact(case: Case, delta: float) -> Any:
    """The smallest ε in 60 digits, where a closed form gives δ(ε); None elsewhere."""
    import mpmath

    mpmath.mp.dps = 60
    noise, steps = mpmath.mpf(case["noise"]), case["steps"]
    match case:
        case {"mechanism": "gaussian"} | {"rate": 1.0}:
            shift = mpmath.sqrt(steps) / noise
            most = shift * shift + 60 * shift

            def profile(epsilon: Any) -> Any:
                above, below = mpmath.ncdf(shift / 2 - epsilon / shift), mpmath.ncdf(-shift / 2 - epsilon / shift)
                return above - mpmath.exp(epsilon) * below
        case {"mechanism": "response"}:
            kept, other = 1 - noise / 2, noise / 2
            loss = mpmath.log(kept / other)
            most = steps * loss

            levels = [(2 * k - steps) * loss for k in range(steps + 1)]
            weights = [mpmath.binomial(steps, k) * kept**k * other ** (steps - k) for k in range(steps + 1)]
            outcomes = list(zip(weights, levels, strict=True))

            def profile(epsilon: Any) -> Any:
                return mpmath.fsum(w * -mpmath.expm1(epsilon - level) for w, level in outcomes if level > epsilon)
        case {"mechanism": "laplace", "steps": 1}:
            most = 1 / noise

            def profile(epsilon: Any) -> Any:
                return -mpmath.expm1((epsilon - 1 / noise) / 2)
        case _:
            return None
    low, high = mpmath.mpf(0), most
    if profile(low) <= delta:
        return low
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > delta else (low, middle)
    return high


# The page.


def named(case: Case) -> str:
    rate = f"q = {case['rate']:g}, " if "rate" in case else ""
    noise = "p" if case["mechanism"] == "response" else "σ" if "gaussian" in case["mechanism"] else "b"
    return f"{rate}{noise} = {case['noise']:.6g}, {case['steps']:,} ×"


def formatted(lower: float | None, upper: float) -> str:
    """An interval in as many digits as its ends share, and two more."""
    if lower is None:
        return f"≤ {upper:.6g}"
    if lower == upper:
        return f"{upper:.10g}"
    if not lower:
        return f"[0, {upper:.3g}]"
    digits = min(15, max(2, 2 - math.floor(math.log10(upper / lower - 1))) if upper > lower * (1 + 1e-15) else 15)
    return f"[{lower:.{digits}g}, {upper:.{digits}g}]"


class Figure:
    """One value of a peer beside certdp's interval.

    Attributes:
        verdict: "below", "inside", "above", "infinite" or "none".
        text: as the tables show it.
        ratio: how far off: the peer's value over the nearer end.
    """

    def __init__(self, value: Value, lower: float | None, upper: float) -> None:
        self.value = value
        self.ratio = math.nan
        if isinstance(value, str):
            self.verdict, self.text = "none", "time" if "more than" in value else "–"
            return
        claim = value[1] if math.isnan(value[1]) else max(0.0, value[1])
        if math.isnan(claim) or claim == math.inf:
            self.verdict, self.text = ("infinite", "∞") if claim == math.inf else ("none", "NaN")
        elif lower is not None and claim < lower:
            self.verdict = "below"
            self.ratio = claim / lower
            self.text = f"**{percent(self.ratio)}**"
        elif claim > upper:
            self.verdict = "above"
            self.ratio = claim / upper if upper else math.inf
            self.text = percent(self.ratio)
        else:
            self.verdict, self.text, self.ratio = "inside", "=", 1.0


def percent(ratio: float) -> str:
    """How far off: as a factor where it is a large one, else in per cent."""
    if ratio == math.inf:
        return "> 0"
    off = (ratio - 1) * 100
    if ratio > 10:
        return f"×{ratio:.0f}"
    digits = 0 if abs(off) >= 10 else max(0, 1 - math.floor(math.log10(abs(off)))) if off else 0
    return f"{off:+.{min(digits, 3)}f} %" if abs(off) >= 5e-4 else f"{off:+.0e} %"


def rows(heading: list[str], cells: list[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heading)} |"
    yield f"|{'---|' * len(heading)}"
    yield from (f"| {' | '.join(row)} |" for row in cells)
    yield ""


def compare(peers: Path, own: Path, page: Path) -> None:
    """Write the figures into the page, below the line that says that they are written by this script."""
    data = json.loads(peers.read_text("utf-8"))
    found_by_case = {json.dumps(entry["case"]): entry["found"] for entry in json.loads(own.read_text("utf-8"))}
    proven = {key: found_by_case[key] for key in map(json.dumps, cases()) if key in found_by_case}
    answers: dict[tuple[str, str], list[Value]] = {}
    for answer in data["answers"]:
        values = answer.get("values") or [answer["error"]] * len(DELTAS)
        answers[answer["peer"], json.dumps(answer["case"])] = [v if isinstance(v, str) else tuple(v) for v in values]
    figures: dict[tuple[str, str, float], Figure] = {}
    for (peer, case), values in answers.items():
        for (lower, upper, *_), delta, value in zip(proven.get(case, ()), DELTAS, values, strict=True):
            figures[peer, case, delta] = Figure(value, lower, upper)
    checked = 0
    for case, found in proven.items():
        for (lower, upper, *_), delta in zip(found, DELTAS, strict=True):
            truth = exact(json.loads(case), delta)
            if truth is not None:
                checked += 1
                if not (lower is None or lower <= truth) or not truth <= upper:
                    raise SystemExit(f"certdp's interval misses the exact ε: {case} at {delta}")
    lines = list(written(data["versions"], proven, figures, checked))
    before = page.read_text("utf-8").partition(MARK)[0]
    page.write_text(before + MARK + "\n\n" + "\n".join(lines).rstrip() + "\n", "utf-8")


MARK = "<!-- The rest is written by benchmarks/peer_accuracy.py. -->"


def written(
    versions: dict[str, str],
    proven: dict[str, list[Any]],
    figures: dict[tuple[str, str, float], Figure],
    checked: int,
) -> Iterator[str]:
    yield "## Who lies where"
    yield ""
    yield (
        f"{len(figures):,} figures. Versions: "
        + ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))
        + ". "
        f"certdp's interval holds the exact ε in all {checked} cases with a closed form."
    )
    yield ""
    summary = []
    for peer in PEERS:
        mine = [figure for (name, *_), figure in figures.items() if name == peer]
        count = {verdict: sum(f.verdict == verdict for f in mine) for verdict in VERDICTS}
        above = sorted(f.ratio for f in mine if f.verdict == "above")
        below = sorted(f.ratio for f in mine if f.verdict == "below")
        summary.append(
            [
                peer,
                *(str(count[verdict]) for verdict in VERDICTS),
                percent(above[len(above) // 2]) if above else "",
                percent(max((r for r in above if r < math.inf), default=1.0)) if above else "",
                percent(below[0]) if below else "",
            ]
        )
    yield from rows(["peer", *VERDICTS, "above: median", "above: most", "below: most"], summary)
    yield "## Below the proven interval"
    yield ""
    for peer in PEERS:
        low = [(key, f) for key, f in figures.items() if key[0] == peer and f.verdict == "below"]
        if low:
            low.sort(key=lambda item: item[1].ratio)
            yield f"**{peer}**: {len(low)}" + (f", of which the {SHOWN} furthest off:" if len(low) > SHOWN else ":")
            yield ""
            cells = []
            for (_, case, delta), figure in low[:SHOWN]:
                lower, upper, *_ = proven[case][DELTAS.index(delta)]
                mechanism = json.loads(case)["mechanism"]
                assert not isinstance(figure.value, str)
                claim = figure.value[1]
                cells.append(
                    [
                        f"{mechanism}, {named(json.loads(case))}",
                        f"{delta:g}",
                        formatted(lower, upper),
                        f"{claim:.10g}",
                        figure.text,
                    ]
                )
            yield from rows(["case", "δ", "certdp", "peer", "off"], cells)
    for mechanism, deltas in (
        ("gaussian", DELTAS),
        ("laplace", DELTAS),
        ("response", DELTAS),
        ("sampled gaussian", (1e-5, 1e-10)),
    ):
        peers = [peer for peer, (_, mechanisms, _) in PEERS.items() if mechanism in mechanisms]
        for delta in deltas:
            yield f"## {mechanism.capitalize()}, δ = {delta:g}"
            yield ""
            cells = []
            for case, found in proven.items():
                if json.loads(case)["mechanism"] == mechanism:
                    lower, upper, *_ = found[DELTAS.index(delta)]
                    texts = [
                        figures[peer, case, delta].text if (peer, case, delta) in figures else "" for peer in peers
                    ]
                    cells.append([named(json.loads(case)), formatted(lower, upper), *texts])
            yield from rows(["case", "certdp", *peers], cells)


VERDICTS = ("below", "inside", "above", "infinite", "none")
SHOWN = 24


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--ask", target]:
            record_answers(Path(target))
        case ["ask", interpreter, data]:
            subprocess.run([interpreter, __file__, "--ask", data], check=True)
        case ["prove", data]:
            prove(Path(data))
        case ["compare", data, own]:
            compare(Path(data), Path(own), Path(__file__).parents[1] / "docs/accuracy.md")
        case _:
            raise SystemExit(__doc__)
