"""`python -m certdp.verification.planted`: the table of planted faults, in Markdown."""

from . import PLANTED, catch, table


def main() -> None:
    """Catch each fault and print the table.

    Raises:
        SystemExit: with 1 where some fault is not caught within 10^6 runs.
    """
    found = {fault.id: catch(fault) for fault in PLANTED}
    print(table(one for one in found.values() if one is not None))
    missed = [name for name, one in found.items() if one is None]
    if missed:
        raise SystemExit(f"not caught within 10^6 runs: {', '.join(missed)}")


if __name__ == "__main__":
    main()
