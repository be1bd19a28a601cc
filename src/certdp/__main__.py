"""The command `certdp`."""

from __future__ import annotations

import io
import sys

from .interruption import install


def main() -> None:
    """Run the command line."""
    install()  # before anything that takes time to import
    from .commands.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ψ on a terminal that does not know it
    app()


if __name__ == "__main__":
    main()
