"""What several commands ask alike: classes whose fields are options that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from .options import Allow, Array, Columns, DivideBy, ThirdParty, Transpose

if TYPE_CHECKING:
    from ..data import Reading
    from ..plugins.registry import Registry


@frozen(kw_only=True)
class Admission:
    """Whose plugins are admitted."""

    third_party: ThirdParty = True
    allow: Allow = None

    @property
    def registry(self) -> Registry:
        """The plugins that are admitted."""
        from ..plugins.registry import Registry

        return Registry(third_party=self.third_party, allow=self.allow)


@frozen(kw_only=True)
class FileOptions:
    """How a file of records is read."""

    array: Array = None
    transpose: Transpose = False
    divide_by: DivideBy = "1"
    column: Columns = None

    @property
    def reading(self) -> Reading:
        """What the file is read by."""
        from ..data import Reading

        return Reading(array=self.array, transpose=self.transpose, divide_by=self.divide_by, columns=self.column)
