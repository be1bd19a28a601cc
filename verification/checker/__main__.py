"""Check a certificate: `python -m certdp.verification.checker CERTIFICATE`.

Exit status: 0 it holds (also assuming the profile), 1 it is refused, 2 it cannot be read.
"""

import sys
from pathlib import Path

from . import check, read_file


def main(arguments: list[str]) -> int:
    """Print the verdict on the one file named."""
    if len(arguments) != 1:
        print("usage: python -m certdp.verification.checker CERTIFICATE", file=sys.stderr)
        return 2
    try:
        text = read_file(Path(arguments[0]))
    except (OSError, ValueError) as error:
        print(f"cannot read {arguments[0]!a}: {error!a}", file=sys.stderr)
        return 2
    verdict = check(text)
    print(verdict)
    return 0 if verdict.accepted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
