"""The command `certdp`."""

from __future__ import annotations

import io
import sys

from .commands.app import app


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ψ on a terminal that does not know it
    app()


if __name__ == "__main__":
    main()
