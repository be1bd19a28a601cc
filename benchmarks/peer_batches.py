"""ε of batches that are no plain Poisson samples: certdp, dp_accounting, PLD_accounting and shuffling's own code.

Random allocation, truncated and fixed batches, groups, replaced records, trees, selection and shuffled answers. All
run in one process, each call in a fork of it, on one thread; CPU time, the least of CALLS calls. Forks begin with what
was imported and compiled, and with nothing computed. Peers run with their defaults, PLD_accounting also at finer
settings; what takes more than LIMIT seconds of the processor is ended. Prints what docs/accuracy.md has of it.

Run: python benchmarks/peer_batches.py PYTHON [NAME…], an interpreter with dp-accounting, PLD_accounting[performance]
and what certdp depends on; certdp is imported from this checkout. For shuffled answers `computeamplification.py`
of apple/ml-shuffling-amplification must lie in a folder of PYTHONPATH. A NAME is that of a table.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

CALLS, LIMIT = 3, 60
DELTA = "1e-5"
RECORDS, RATE, STEPS = 1000, 0.01, 1000
Ends: TypeAlias = tuple[float | None, float]
"""A lower end, None where none is stated, and an upper end."""
Call: TypeAlias = Callable[[], Ends]


# certdp.


def proven(run: Any, delta: str) -> Ends:
    import certdp

    found = run.epsilon(certdp.Delta(delta)).epsilon
    return found.lower, found.upper


def sampled(sampler: Any, steps: int, **options: Any) -> Any:
    import certdp

    mechanism = certdp.GaussianSum(noise_multiplier=certdp.Public(1))
    releases = certdp.ResampleEach(steps)
    return certdp.SampledRun(mechanism=mechanism, sampler=sampler, releases=releases, **options)


def poisson(steps: int, **options: Any) -> Ends:
    import certdp

    return proven(sampled(certdp.Poisson(rate=certdp.Public(str(RATE))), steps, **options), DELTA)


def truncated(size: int, **options: Any) -> Ends:
    from certdp import Public
    from certdp.samplers.truncated_poisson import TruncatedPoisson

    batches = TruncatedPoisson(rate=Public(str(RATE)), batch_size=Public(size), data_size=Public(RECORDS))
    return proven(sampled(batches, STEPS, **options), DELTA)


def fixed(size: int, steps: int) -> Ends:
    from certdp import Public
    from certdp.samplers.fixed_batches import FixedBatches

    return proven(sampled(FixedBatches(batch_size=Public(size), data_size=Public(RECORDS)), steps), DELTA)


def allocated(noise: int, batches: int, epochs: int, delta: str) -> Ends:
    from certdp import AllocatedRun, GaussianSum, Public, RandomAllocation

    sampler = RandomAllocation(batches=Public(batches))
    mechanism = GaussianSum(noise_multiplier=Public(noise))
    return proven(AllocatedRun(mechanism=mechanism, sampler=sampler, epochs=epochs), delta)


def described(event: Any, delta: str, relation: str = "ADD_OR_REMOVE_ONE") -> Ends:
    """An event of dp_accounting, as certdp reads it."""
    from certdp.interoperation import read_event, relation_named

    return proven(read_event(event).run(relation_named(relation)), delta)


def shuffled(users: int, local: int, delta: str) -> Ends:
    """Answers of any ε₀-DP randomiser."""
    from certdp.accounting.enclosures import Enclosure
    from certdp.accounting.pairs import ShuffledPair
    from certdp.accounting.relations import Direction

    level = Enclosure.of(local)
    found = ShuffledPair(level, users, (-level).exp()).smallest_epsilon(Enclosure.of(delta), Direction.REMOVE)
    return float(found.lower), float(found.upper)


# Its peers.


def google(event: Any, relation: str = "ADD_OR_REMOVE_ONE", delta: str = DELTA) -> Ends:
    """dp_accounting's loss-distribution accountant."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(NeighboringRelation[relation])
    accountant.compose(event)
    return None, float(accountant.get_epsilon(float(delta)))


def google_renyi(event: Any, relation: str = "ADD_OR_REMOVE_ONE", delta: str = DELTA) -> Ends:
    """dp_accounting's Rényi accountant, for what the other one does not take."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(neighboring_relation=NeighboringRelation[relation])
    accountant.compose(event)
    return None, float(accountant.get_epsilon(float(delta)))


def allocated_by_peer(noise: int, batches: int, epochs: int, delta: str, spacing: float | None) -> Ends:
    """PLD_accounting: its adaptive search at its default accuracy, or both bounds at one spacing of losses."""
    import PLD_accounting as peer

    if spacing is None:
        upper, lower = peer.gaussian_allocation_epsilon_range(
            delta=float(delta), sigma=noise, num_steps=batches, num_epochs=epochs
        )
        return lower, upper
    parameters = peer.PrivacyParams(sigma=noise, num_steps=batches, num_epochs=epochs, delta=float(delta))
    config = peer.AllocationSchemeConfig(loss_discretization=spacing, tail_truncation=float(delta) / 1000)
    lower, upper = (
        peer.gaussian_allocation_epsilon_configurable(params=parameters, config=config, bound_type=bound)
        for bound in (peer.BoundType.IS_DOMINATED, peer.BoundType.DOMINATES)
    )
    return lower, upper


def shuffled_by_peer(users: int, local: int, delta: str) -> Ends:
    """The numeric bounds that Feldman, McMillan and Talwar published, in a thousand steps."""
    import computeamplification

    lower, upper = (
        computeamplification.numericalanalysis(users, local, float(delta), 20, users // 1000, bound)
        for bound in (False, True)
    )
    return lower, upper


HEADING = ("case", "", "lower", "upper", "gap", "CPU s", "ratio", "upper end")

# The tables: rows of a name, what certdp is called for, and what its peers are.

Row: TypeAlias = tuple[str, Call, dict[str, Call]]


def of_allocation() -> Iterator[Row]:
    for noise, batches, epochs, delta in (
        (1, 10, 1, "1e-5"),
        (1, 100, 1, "1e-6"),
        (4, 1000, 1, "1e-5"),
        (1, 100, 10, "1e-5"),
    ):
        case = noise, batches, epochs, delta
        peers = {"default": None, "0.01": 0.01, "0.003": 0.003, "0.001": 0.001}
        yield (
            f"σ = {noise}, t = {batches}, {epochs} ×, δ = {delta}",
            partial(allocated, *case),
            {f"PLD_accounting, {name}": partial(allocated_by_peer, *case, spacing) for name, spacing in peers.items()},
        )


def of_truncated() -> Iterator[Row]:
    from dp_accounting import dp_event

    from certdp.accounting.relations import REPLACE

    for size in (30, 20, 14):
        once = dp_event.TruncatedSubsampledGaussianDpEvent(RECORDS, RATE, size, 1.0)
        event = dp_event.SelfComposedDpEvent(once, STEPS)
        yield f"at most {size}, add/remove", partial(truncated, size), {"dp_accounting PLD": partial(google, event)}
        peer = partial(google, event, "REPLACE_ONE")
        yield f"at most {size}, replace", partial(truncated, size, relation=REPLACE), {"dp_accounting PLD": peer}


def of_fixed() -> Iterator[Row]:
    from dp_accounting import dp_event

    for steps in (1, STEPS):
        once = dp_event.SampledWithoutReplacementDpEvent(RECORDS, 10, dp_event.GaussianDpEvent(1.0))
        event = dp_event.SelfComposedDpEvent(once, steps)
        peer = partial(google_renyi, event, "REPLACE_ONE")
        yield f"exactly 10, replace, {steps} ×", partial(fixed, 10, steps), {"dp_accounting Rényi": peer}


def of_groups() -> Iterator[Row]:
    from dp_accounting import dp_event
    from scipy.stats import binom

    from certdp.accounting.relations import User

    for records in (2, 8, 64):
        chances = [float(binom.pmf(j, records, RATE)) for j in range(records + 1)]
        once = dp_event.MixtureOfGaussiansDpEvent(1.0, list(map(float, range(records + 1))), chances)
        event = dp_event.SelfComposedDpEvent(once, 100)
        own = partial(poisson, 100, unit=User(contributions=records))
        yield f"{records} records, 100 ×", own, {"dp_accounting PLD": partial(google, event)}


def of_replaced() -> Iterator[Row]:
    from dp_accounting import dp_event

    from certdp.accounting.relations import REPLACE, ZERO_OUT

    for name, relation, theirs in (("replace", REPLACE, "REPLACE_ONE"), ("zero-out", ZERO_OUT, "REPLACE_SPECIAL")):
        for steps in (1, 5, 10, STEPS):
            once = dp_event.PoissonSampledDpEvent(RATE, dp_event.GaussianDpEvent(1.0))
            event = dp_event.SelfComposedDpEvent(once, steps)
            peer = partial(google, event, theirs)
            yield f"{name}, {steps} ×", partial(poisson, steps, relation=relation), {"dp_accounting PLD": peer}


def of_choices() -> Iterator[Row]:
    from dp_accounting import dp_event

    for mean, shape in ((10.0, 1.0), (10.0, 0.0), (100.0, 1.0)):
        event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(2.0), mean, shape)
        peer = partial(google_renyi, event, delta="1e-6")
        yield f"best of {mean:g}, shape {shape:g}", partial(described, event, "1e-6"), {"dp_accounting Rényi": peer}
    tree = dp_event.SingleEpochTreeAggregationDpEvent(5.0, 1000)
    yield (
        "tree of 1,000, σ = 5, zero-out",
        partial(described, tree, "1e-6", "REPLACE_SPECIAL"),
        {"dp_accounting Rényi": partial(google_renyi, tree, "REPLACE_SPECIAL", "1e-6")},
    )


def of_shuffled() -> Iterator[Row]:
    known = find_spec("computeamplification") is not None
    for local in (1, 2, 4):
        for users in (1000, 10_000):
            case = users, local, "1e-6"
            peers: dict[str, Call] = {"published": partial(shuffled_by_peer, *case)} if known else {}
            yield f"ε₀ = {local}, {users:,} users", partial(shuffled, *case), peers


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "allocation": of_allocation,
    "truncated": of_truncated,
    "fixed": of_fixed,
    "groups": of_groups,
    "replaced": of_replaced,
    "choices": of_choices,
    "shuffled": of_shuffled,
}


# Times.


def one_call(contender: Call, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    start = time.process_time()
    try:
        found: Ends | str = contender()
    except Exception as error:  # a peer's own
        found = f"{type(error).__name__}: {error}"[:150]
    answer.send((found, time.process_time() - start))


def call(contender: Call) -> tuple[Ends | str, float]:
    """The answer, or why there is none, and its CPU seconds; a fork is ended after LIMIT."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=one_call, args=(contender, theirs))
    process.start()
    theirs.close()
    found: tuple[Ends | str, float] = f"none in {LIMIT} s", float(LIMIT)
    with suppress(EOFError):  # ended by the limit, or for lack of memory
        found = mine.recv()
    process.join()
    return found


def timed(contenders: list[Call]) -> list[tuple[Ends | str, float]]:
    """What each answers and the least of its CPU seconds; they take turns, long ones once."""
    found = [call(contender) for contender in contenders]
    for _ in range(CALLS - 1):
        for i, contender in enumerate(contenders):
            value, least = found[i]
            if not isinstance(value, str) and least < LIMIT / 10:
                found[i] = value, min(least, call(contender)[1])
    return found


def place(value: Ends, own: Ends) -> str:
    """Where an upper end lies, seen from certdp's interval."""
    if own[0] is not None and value[1] < own[0]:
        return "below"
    return "above" if value[1] > own[1] else "inside"


def gap(value: Ends) -> str:
    return "" if value[0] is None or not value[1] else f"{(value[1] - value[0]) / value[1]:.1e}"


def figures(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    import PLD_accounting  # noqa: F401  # imports and compilation are no part of the figures

    allocated(3, 4, 2, DELTA), poisson(2), truncated(13), fixed(10, 2)
    allocated_by_peer(3, 4, 2, DELTA, None)
    for name in names or TABLES:
        print(f"\n{name}\n\n| {' | '.join(HEADING)} |\n|---|---|--:|--:|--:|--:|--:|---|")
        for case, own, peers in TABLES[name]():
            answers = timed([own, *peers.values()])
            mine, spent = answers[0]
            assert not isinstance(mine, str), mine
            for who, (value, seconds) in zip(("certdp", *peers), answers, strict=True):
                ratio = f"{seconds / spent:.3g}"
                if isinstance(value, str):
                    cells = [case, who, value, "", "", "", ratio, ""]
                else:
                    lower = "" if value[0] is None else f"{value[0]:.9g}"
                    where = "" if value is mine else place(value, mine)
                    cells = [case, who, lower, f"{value[1]:.9g}", gap(value), f"{seconds:.3g}", ratio, where]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--figures", *names]:
            figures(names)
        case [interpreter, *names]:
            one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
            source = os.pathsep.join((str(Path(__file__).parents[1] / "src"), os.environ.get("PYTHONPATH", "")))
            environment = {**os.environ, **one, "PYTHONPATH": source}
            subprocess.run([interpreter, __file__, "--figures", *names], env=environment, check=True)
        case _:
            raise SystemExit(__doc__)
