"""What SIGINT does to the checker as a program of its own: it dies of it, silently, for it has nothing to take away.

In a program that imports the checker as a library, signals are that program's own.
"""

import signal
import sys

# Python names a program "-m" while it looks for the module of the command line, of which this is a part.
if (
    sys.argv[:1] == ["-m"]
    and __package__ in sys.orig_argv
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
