"""CPU time of fresh processes: importing certdp beside importing NumPy, and the commands a user starts with.

Contenders take turns. Each figure is user plus system time of one process, the least and the median over all rounds;
ratios are to `import numpy`. Run: python benchmarks/startup.py [ROUNDS]
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
_TARGETS = {"import certdp": "≤ 1.2 of import numpy", "certdp --help": "< 0.5 s"}


def contenders(certificate: Path) -> dict[str, list[str]]:
    """Arguments of the interpreter for each contender; `psi` writes the certificate that `check` reads."""
    command = ["-m", "certdp"]
    psi = [*command, "psi", "--mechanism", "laplace-sum", "--sampler", "importance"]
    psi += [part for option in _OPTIONS for part in ("--option", option)]
    return {
        "no import": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "import certdp": ["-c", "import certdp"],
        "from certdp import …": ["-c", "from certdp import Importance, LaplaceSum, NormBall, SampledRun"],
        "certdp --help": [*command, "--help"],
        "certdp psi": [*psi, "--certificate", str(certificate)],
        "certdp check": [*command, "check", str(certificate)],
    }


def cpu_seconds(arguments: list[str]) -> float:
    """User plus system time of one interpreter, its output discarded."""
    actions = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    child = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(arguments)} ended with exit status {code}")
    return usage.ru_utime + usage.ru_stime


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = contenders(Path(folder, "certificate.json"))
        for arguments in runs.values():  # byte code and kernels are compiled and cached here
            cpu_seconds(arguments)
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, arguments in runs.items():
                times[name].append(cpu_seconds(arguments))
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
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
