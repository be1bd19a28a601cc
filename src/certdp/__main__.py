"""The command `certdp`. Nothing is imported before its first line has said what SIGINT does."""

# The part of signal that every Python has loaded when it starts: the rest takes a while.
import _signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

UNFORESEEN = 70
"""The exit code of a fault of certdp itself: no verdict has it."""


def main() -> None:
    """Run the command line."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # else whoever began this has it ignored
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # as yet there is nothing to take away
    from .durable.interruption import install

    install()
    import atexit
    import gc
    import io
    import sys

    atexit.register(gc.freeze)  # nothing is looked for in what ends anyway
    gc.set_threshold(50_000, 20, 50)  # modules stay: looking through them again and again is a tenth of a command

    try:
        from .commands.app import app

        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # ψ on a terminal that does not know it
        app()
    except Exception:  # whatever it is, Python would end with 1, which is a verdict
        import traceback

        traceback.print_exc()
        sys.exit(UNFORESEEN)


if __name__ == "__main__":
    main()
