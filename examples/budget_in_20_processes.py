"""Spends one budget from 20 processes: with an account in memory, with copies of it, and with a ledger.

    python examples/budget_in_20_processes.py

The budget covers 100 costs. A filter that was forked refuses to pay; copies of its state would pay 2,000 costs; a
ledger pays exactly 100.
"""

import multiprocessing
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import certdp
from certdp.accounting.errors import InvalidType
from certdp.filters import Filter, PureFilter
from certdp.guarantees import Theorem
from certdp.notions import Pure

PROCESSES = 20
HUNDREDTH = certdp.Guarantee(
    bound=Pure(certdp.Enclosure.of("1/100")),
    relation=certdp.ADD_REMOVE,
    unit=certdp.RECORD,
    derivation=Theorem("declaration", "an example").conclude(),
)


def budget() -> PureFilter:
    """A filter that admits 100 costs."""
    return PureFilter(Pure(certdp.Enclosure.of(1)), relation=certdp.ADD_REMOVE, unit=certdp.RECORD)


def paid_by_all(pay: Callable[[str], object]) -> int:
    """How many costs are paid together by processes that pay until they are refused."""
    forks = multiprocessing.get_context("fork")
    total = forks.Value("i", 0)

    def until_refused(name: int) -> None:
        for each in count():
            try:
                pay(f"{name}: {each}")
            except (certdp.BudgetExceeded, InvalidType):
                return
            with total.get_lock():
                total.value += 1

    children = [forks.Process(target=until_refused, args=(name,)) for name in range(PROCESSES)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        if child.exitcode:
            raise RuntimeError(f"a process ended with {child.exitcode}")
    return total.value


def main() -> None:
    """Print how many costs are paid in each way."""
    shared = budget()
    print(f"one filter, forked:        {paid_by_all(lambda request: shared.spend(HUNDREDTH)):>5,} costs paid")

    state, own = shared.state(), dict[int, Filter]()

    def pay_from_a_copy(request: str) -> None:
        process = multiprocessing.current_process().pid or 0
        if process not in own:
            own[process] = Filter.from_state(state)
        own[process].spend(HUNDREDTH)

    print(f"a copy for each process:   {paid_by_all(pay_from_a_copy):>5,} costs paid")

    with tempfile.TemporaryDirectory() as folder:
        ledger = certdp.Ledger.create(Path(folder, "a.ledger"), budget(), data="an example")
        paid = paid_by_all(lambda request: ledger.pay(HUNDREDTH, request=request))
        print(f"a ledger for all of them:  {paid:>5,} costs paid")
        print(ledger.statement())


if __name__ == "__main__":
    main()
