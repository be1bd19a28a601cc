"""How much work one check may do."""

from .verdict import Refused


class Budget:
    """Work that may still be done; what is refused once it is spent."""

    def __init__(self, work: float, refusal: str) -> None:
        """Start with all of it."""
        self.left = work
        self._refusal = refusal

    def spend(self, work: int) -> None:
        """Take some of it, or refuse."""
        self.left -= work
        if self.left < 0:
            raise Refused(f"{self._refusal} within the work budget")
