"""CPU time of fresh processes: importing certdp beside importing NumPy, and what a user starts with beside a peer.

Contenders take turns. Each figure is user plus system time of one process, the least and the median over all rounds;
ratios are to `import numpy`. "First" finds no machine code on disk, "later" what an earlier process kept; byte code is
there, as pip leaves it. Run by an interpreter that certdp is installed for:
python benchmarks/startup.py [ROUNDS [PYTHON, an interpreter with dp-accounting]]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

_OPTIONS = ("scale=1", "rate=0.3", "norm=1", "radius=5")
_RUN = (
    "--mechanism",
    "gaussian-sum",
    "--sampler",
    "poisson",
    "--option",
    "noise_multiplier=1",
    "--option",
    "rate=0.01",
)
_ANSWER = """
import certdp
from certdp import Delta, Public
run = certdp.SampledRun(
    mechanism=certdp.GaussianSum(noise_multiplier=Public(1)),
    sampler=certdp.Poisson(rate=Public("0.01")),
    releases=certdp.ResampleEach(1000),
)
print(run.epsilon(Delta("1e-5")).epsilon.upper)
"""
_PEER = """
import dp_accounting
from dp_accounting.pld import PLDAccountant
step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
print(PLDAccountant().compose(step, 1000).get_epsilon(1e-5))
"""
_FIRST = "first: "
_TARGETS = {
    "import certdp": "≤ 1.2 of import numpy",
    "certdp --help": "< 0.5 s",
    "first: README's ε": "≤ 2 s",
    "README's ε": "≤ 0.6 s",
    "first: certdp epsilon": "≤ 2 s",
    "certdp epsilon": "≤ 0.6 s",
    "certdp epsilon of one Laplace release": "≤ 0.6 s",
    "certdp check of it": "≤ 0.6 s",
    "certdp check": "≤ 0.6 s",
}


def contenders(folder: Path, peer: str | None) -> dict[str, list[str]]:
    """Interpreter and arguments for each contender; those that write certificates come before those that read them."""
    command = [sys.executable, "-m", "certdp"]
    psi = [*command, "psi", "--mechanism", "laplace-sum", "--sampler", "importance"]
    psi += [part for option in _OPTIONS for part in ("--option", option)]
    epsilon = [*command, "epsilon", *_RUN, "--steps", "1000", "--resample", "each", "--delta", "1e-5"]
    one_release = [*command, "epsilon", "--mechanism", "laplace-sum", "--sampler", "full"]
    one_release += ["--option", "scale=1", "--option", "radius=1"]
    answer = [sys.executable, "-c", _ANSWER]
    runs = {
        "no import": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import certdp": [sys.executable, "-c", "import certdp"],
        "from certdp import …": [
            sys.executable,
            "-c",
            "from certdp import Importance, LaplaceSum, NormBall, SampledRun",
        ],
        f"{_FIRST}README's ε": answer,
        "README's ε": answer,
        "dp-accounting's ε": [] if peer is None else [peer, "-c", _PEER],
        "certdp --help": [*command, "--help"],
        f"{_FIRST}certdp epsilon": epsilon,
        "certdp epsilon": epsilon,
        "certdp epsilon of one Laplace release": one_release,
        "certdp epsilon --certificate": [*epsilon, "--certificate", str(folder / "epsilon.json")],
        "certdp check of it": [*command, "check", str(folder / "epsilon.json")],
        f"{_FIRST}certdp psi": psi,
        "certdp psi --certificate": [*psi, "--certificate", str(folder / "psi.json")],
        "certdp check": [*command, "check", str(folder / "psi.json")],
    }
    return {name: arguments for name, arguments in runs.items() if arguments}


def cpu_seconds(arguments: list[str], kept: Path) -> float:
    """User plus system time of one interpreter, its output discarded; machine code is kept in that folder."""
    actions = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    child = os.posix_spawn(arguments[0], arguments, environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(arguments)} ended with exit status {code}")
    return usage.ru_utime + usage.ru_stime


def main(rounds: int, peer: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = contenders(Path(folder), peer)
        times: dict[str, list[float]] = {name: [] for name in runs}
        for turn in range(rounds + 1):
            for name, arguments in runs.items():
                kept = f"first-{turn}-{name}".replace("/", "") if name.startswith(_FIRST) else "later"
                seconds = cpu_seconds(arguments, Path(folder, kept))
                if turn:  # byte code is compiled before, and what is kept for later processes
                    times[name].append(seconds)
    table = Table(title=f"CPU seconds of a fresh process, {rounds} rounds; ratios to import numpy")
    table.add_column("process")
    for heading in ("least", "ratio", "median", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("target")
    for name, seen in times.items():
        cells: list[str] = []
        for summary in (min, median):
            own = summary(seen)
            cells += [f"{own:.3f}", f"{own / summary(times['import numpy']):.2f}"]
        table.add_row(name, *cells, _TARGETS.get(name, ""))
    Console().print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15, sys.argv[2] if len(sys.argv) > 2 else None)
