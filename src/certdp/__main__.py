"""The command `certdp`."""

from __future__ import annotations

from .commands.app import app


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
