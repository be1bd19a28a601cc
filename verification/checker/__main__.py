"""Check a certificate: `python -m certdp.verification.checker CERTIFICATE`, beside demands such as `--max-epsilon 1`.

Exit status: 0 it holds, 3 it holds assuming the profile, 1 it is refused or a demand is not met, 2 it cannot be read.
"""

import argparse
import os
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Final

from . import check, digest_of, read_file
from .policy import PROVED, RELATIONS, UNITS, Policy, exit_status

_NUMBER: Final = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?|[0-9]+/0*[1-9][0-9]*")


def _number(text: str) -> Fraction:
    if len(text) > 1000 or not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f'{text!a} is no number of at least 0 such as "0.1", "1e-9" or "2/3"')
    return Fraction(text)


def _count(text: str) -> int:
    if len(text) > 20 or not re.fullmatch(r"[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text!a} is no whole number of at least 1")
    return int(text)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m certdp.verification.checker", description=__doc__)
    parser.add_argument("certificate", metavar="CERTIFICATE", type=Path)
    parser.add_argument("--require", choices=[PROVED], help="refuse what holds only assuming the profile")
    parser.add_argument("--max-epsilon", type=_number, metavar="E", help="without --max-delta, delta must be 0")
    parser.add_argument("--max-delta", type=_number, metavar="D")
    parser.add_argument("--unit", choices=UNITS, help="whom the claim must be about")
    parser.add_argument(
        "--min-contributions",
        type=_count,
        metavar="N",
        help="how many records of one user it must cover; needed with --unit user",
    )
    parser.add_argument("--relation", choices=RELATIONS, help="the change of the data that it must be about")
    parser.add_argument(
        "--distribution",
        action="append",
        default=[],
        metavar="NAME",
        help="where every mechanism and sampler must come from; repeatable",
    )
    parser.add_argument(
        "--artefact",
        action="append",
        default=[],
        metavar="FILE",
        type=Path,
        help="a file that must be one of those released with the certificate; repeatable",
    )
    given = parser.parse_args(arguments)
    if given.unit == "user" and given.min_contributions is None:
        parser.error("--unit user needs --min-contributions: any claim about users holds for so many records of each")
    return given


def main(arguments: list[str]) -> int:
    """Print the verdict on the one file named, and which demands it meets."""
    given = _arguments(arguments)
    path = given.certificate
    try:
        text, artefacts = read_file(path), []
        for path in given.artefact:
            artefacts.append((path.name, digest_of(path)))
    except (OSError, ValueError) as error:
        print(f"cannot read {str(path)!a}: {error!a}", file=sys.stderr)
        return 2
    policy = Policy(
        proved=given.require == PROVED,
        max_epsilon=given.max_epsilon,
        max_delta=given.max_delta,
        unit=given.unit,
        min_contributions=given.min_contributions,
        relation=given.relation,
        distributions=tuple(given.distribution),
        artefacts=tuple(artefacts),
    )
    verdict = check(text)
    demands = policy.demands(verdict)
    try:
        print(verdict, *demands, sep="\n", flush=True)
    except BrokenPipeError:  # whoever reads has read enough; nothing is flushed again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exit_status(verdict, demands)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
