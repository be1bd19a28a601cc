"""How far apart both proven ends of ε are, over plans drawn at random.

A plan composes one to five kinds of releases: Gaussian, Laplace and discrete Laplace noise, each on all records or on
Poisson samples. Noise multipliers, rates, counts and δ are drawn from wide ranges, by the logarithm. The gap is
(upper − lower)/upper. Nothing is left out: what has no lower end counts as a gap of 1. Prints the table of
docs/accuracy.md. Run: python benchmarks/random_plans.py [PLANS [SEED [FILE]]]; what FILE holds is not run again.
"""

from __future__ import annotations

import json
import math
import sys
import time
from fractions import Fraction
from pathlib import Path
from random import Random

from attrs import asdict, frozen

from certdp import Delta
from certdp.interoperation import Composed, DiscreteLaplace, Event, Gaussian, Laplace, PoissonSampled, SelfComposed

PLANS, SEED = 500, 1
MOST_KINDS = 5
NARROW = 1e-3
WORST = 10


@frozen(order=True)
class Result:
    """What was found of one plan."""

    gap: float
    lower: float
    upper: float
    delta: str
    seconds: float
    plan: str


def short(low: float, high: float, random: Random) -> Fraction:
    """A number of three digits, drawn by its logarithm."""
    drawn = math.exp(random.uniform(math.log(low), math.log(high)))
    return Fraction(f"{drawn:.3g}")


def releases(random: Random) -> tuple[Event, str]:
    """Releases of one kind, and what they are in words."""
    kind = random.choice(("gaussian", "laplace", "discrete laplace"))
    noise = short(0.5, 50, random)
    event: Event = (
        Gaussian(noise)
        if kind == "gaussian"
        else Laplace(noise)
        if kind == "laplace"
        else DiscreteLaplace(1 / noise, random.randint(1, 3))
    )
    words = f"{kind} {float(noise):g}" + (f" × {event.sensitivity}" if isinstance(event, DiscreteLaplace) else "")
    if random.random() < 0.6:
        rate = min(short(1e-4, 1, random), Fraction(1))
        event, words = PoissonSampled(rate, event), f"{words}, q = {float(rate):g}"
    count = int(short(1, 10_000, random))
    return SelfComposed(event, count), f"{count:,} of {words}"


def result(random: Random) -> Result:
    """Both ends of ε of one plan."""
    drawn = [releases(random) for _ in range(random.randint(1, MOST_KINDS))]
    delta = str(Fraction(f"{10 ** random.uniform(-10, -2):.1g}").limit_denominator(10**12))
    run = Composed([event for event, _ in drawn]).run()
    start = time.process_time()
    found = run.epsilon(Delta(delta)).epsilon
    seconds = time.process_time() - start
    lower = found.lower or 0.0
    gap = (found.upper - lower) / found.upper if found.upper > 0 else 0.0
    return Result(gap, lower, found.upper, f"{float(Fraction(delta)):.0e}", seconds, "; ".join(w for _, w in drawn))


def results(plans: int, seed: int, file: Path | None) -> list[Result]:
    """All plans' results; those that a file has are read, others are added to it, one line each."""
    lines = file.read_text().splitlines() if file is not None and file.exists() else []
    known = {(line.pop("seed"), line.pop("number")): Result(**line) for line in map(json.loads, lines)}
    for number in range(plans):
        if (seed, number) in known:
            continue
        one = known[seed, number] = result(Random(f"{seed} {number}"))
        if one.gap > NARROW:
            print(f"{number}: {one}", file=sys.stderr, flush=True)
        if file is not None:
            with file.open("a") as to:
                to.write(json.dumps({"seed": seed, "number": number, **asdict(one)}) + "\n")
    return [known[seed, number] for number in range(plans)]


def main(plans: int | str = PLANS, seed: int | str = SEED, file: str = "") -> None:
    """Draw the plans, and print what is worst."""
    found = sorted(results(int(plans), int(seed), Path(file) if file else None), reverse=True)
    narrow = sum(one.gap <= NARROW for one in found)
    seconds = sorted(one.seconds for one in found)
    print(f"{narrow} of {len(found)} plans (seed {seed}) have a gap of at most {NARROW:g}.")
    print(f"CPU seconds of an ε: median {seconds[len(found) // 2]:.2g}, most {seconds[-1]:.2g}.\n")
    print("| gap | ε | δ | plan |\n|--:|---|--:|---|")
    for one in found[:WORST]:
        print(f"| {one.gap:.1g} | [{one.lower:.7g}, {one.upper:.7g}] | {one.delta} | {one.plan} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
