"""ε of the same runs by certdp and by its peers: who lies outside the proven interval, and by how much.

Peers: dp-accounting (Rényi and loss distribution), Opacus (Rényi, Gaussian, PRV), prv-accountant, autodp; those that
are installed. Each is asked with its defaults and, where it has any, with better settings. Exact answers come from
closed forms in mpmath at 60 digits, which share no code with certdp. Cases that take a peer longer than LIMIT seconds
or more than MEMORY bytes are recorded as such.

Run: python benchmarks/peer_accuracy.py PYTHON DATA.json       ask the peers, PYTHON being an interpreter that has them
     python benchmarks/peer_accuracy.py DATA.json PAGE.md      write the page of docs/ from their answers
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
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

DELTAS = (1e-2, 1e-5, 1e-10, 1e-15)
LIMIT, MEMORY = 60, 6 * 2**30
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


def asked(peer: Callable[[Case], list[Value]], case: Case) -> dict[str, Any]:
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


def ask_peers(target: Path) -> None:
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
                known.append({"peer": name, "case": case, **asked(peer, case)})
        target.write_text(json.dumps({"versions": versions, "answers": known}), "utf-8")
        print(case, flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--ask", target]:
            ask_peers(Path(target))
        case [interpreter, data] if data.endswith(".json"):
            subprocess.run([interpreter, __file__, "--ask", data], check=True)
        case _:
            raise SystemExit(__doc__)
