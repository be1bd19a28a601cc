"""Wrong mechanisms, each beside its right form: what an audit must catch, and what it must let pass.

`python -m certdp.verification.planted` prints how many runs it takes to catch each.
"""

from .catalogue import PLANTED
from .fault import Fault
from .power import Caught, catch, table

__all__ = ["PLANTED", "Caught", "Fault", "catch", "table"]
