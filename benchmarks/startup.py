"""CPU time of fresh processes: importing certdp beside importing NumPy, first answers, and the commands to start with.

Contenders take turns. Each figure is user plus system time of one process, the least and the median over all rounds;
ratios are to `import numpy`. Byte code is cached; machine code of kernels is too, but for the rows that say otherwise.
With the interpreter of an environment that has dp-accounting, that answers the same question.
Run: python benchmarks/startup.py [ROUNDS [PEER_PYTHON]]
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

_PSI = ("--mechanism laplace-sum --sampler importance", "scale=1", "rate=0.3", "norm=1", "radius=5")
_EPSILON = ("--mechanism gaussian-sum --sampler poisson", "noise_multiplier=1", "rate=0.01")
_TARGETS = {
    "import certdp": "≤ 1.2 of import numpy",
    "certdp --help": "< 0.5 s",
    "first answer": "≤ 0.6 s",
    "first answer, kernels compiled": "≤ 2 s",
}
_FIRST = """
import certdp
from certdp import Delta, Public
certdp.SampledRun(
    mechanism=certdp.GaussianSum(noise_multiplier=Public(1)),
    sampler=certdp.Poisson(rate=Public("0.01")),
    releases=certdp.ResampleEach(1000),
).epsilon(Delta("1e-5"))
"""
_PEER = """
import dp_accounting
from dp_accounting import pld
event = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
pld.PLDAccountant().compose(event, 1000).get_epsilon(1e-5)
"""


@dataclass(frozen=True)
class Contender:
    """Arguments of an interpreter, and whether it starts without machine code."""

    arguments: list[str]
    python: str = sys.executable
    cold: bool = False


def contenders(folder: Path, peer: str | None) -> dict[str, Contender]:
    """The processes by name; a command writes the certificate that `check` reads after it."""
    command = ["-m", "certdp"]
    first, second = str(folder / "psi.json"), str(folder / "epsilon.json")
    psi = ["psi", *_stated(*_PSI), "--certificate", first]
    epsilon = ["epsilon", *_stated(*_EPSILON), *["--steps", "1000", "--resample", "each", "--delta", "1e-5"]]
    epsilon += ["--certificate", second]
    found = {
        "no import": Contender(["-c", "pass"]),
        "import numpy": Contender(["-c", "import numpy"]),
        "import certdp": Contender(["-c", "import certdp"]),
        "from certdp import …": Contender(["-c", "from certdp import Importance, LaplaceSum, NormBall, SampledRun"]),
        "first answer": Contender(["-c", _FIRST]),
        "first answer, kernels compiled": Contender(["-c", _FIRST], cold=True),
        "certdp --help": Contender([*command, "--help"]),
        "certdp psi --help": Contender([*command, "psi", "--help"]),
        "certdp psi": Contender([*command, *psi]),
        "certdp check": Contender([*command, "check", first]),
        "certdp epsilon": Contender([*command, *epsilon]),
        "certdp epsilon, kernels compiled": Contender([*command, *epsilon], cold=True),
        "certdp check, of that": Contender([*command, "check", second]),
    }
    return found | ({"dp-accounting, first answer": Contender(["-c", _PEER], peer)} if peer else {})


def _stated(words: str, *options: str) -> list[str]:
    return [*words.split(), *(part for option in options for part in ("--option", option))]


def cpu_seconds(contender: Contender, cache: Path) -> float:
    """User plus system time of one interpreter, its output discarded."""
    cache = cache / "cold" if contender.cold else cache / "warm"
    for kept in cache.rglob("*.o") if contender.cold else ():
        kept.unlink()
    actions = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": str(cache), "XDG_CACHE_HOME": str(cache)}
    child = os.posix_spawn(
        contender.python, [contender.python, *contender.arguments], environment, file_actions=actions
    )
    _, status, usage = os.wait4(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(contender.arguments)} ended with exit status {code}")
    return usage.ru_utime + usage.ru_stime


def main(rounds: int, peer: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache")
        runs = contenders(Path(folder), peer)
        for contender in runs.values():  # byte code is compiled and cached here
            cpu_seconds(contender, cache)
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, contender in runs.items():
                times[name].append(cpu_seconds(contender, cache))
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
