"""A sample with true frequencies, as `certdp pws sample` and `merge` answer it: for the data's owner alone.

Whatever happens to the data between sampling and sanitising, only what `certdp pws sanitise` writes is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from ...accounting.errors import InvalidValue
from ...weighted_sampling.threshold_samples import ThresholdSample
from ..answer import Answer
from ..outputs import check_places
from ..page import Page
from .scheme import check_new, check_sample_place, sample_places

NOTICE = "computed from the data, with true frequencies: for the data's owner only, not for publication"


@frozen(kw_only=True)
class DrawnSample(Answer):
    """A sample that was written.

    Attributes:
        sample: keys with true frequencies.
        output: where it is.
    """

    sample: ThresholdSample
    output: Path

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        statement = self.sample.statement.to_json()
        return {
            "is_private": False,
            "sampler": statement["sampler"],
            "rule": statement["rule"],
            "coins": statement["coins"],
            "sanitisable": self._refusal is None,
            "output": str(self.output),
            "private": {"notice": NOTICE, "sampled": len(self.sample)},
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        statement = self.sample.statement.to_json()
        how = f": {len(self.sample):,} keys by {statement['rule']['name']}, {statement['coins']} coins"
        page.bold("not private", how, indent=0)
        page.print(NOTICE, 2)
        refusal = self._refusal
        private = "certdp pws sanitise makes it private"
        page.print(private if refusal is None else f"It cannot be made private: {refusal}", 2)
        page.files({"sample": self.output})

    @property
    def _refusal(self) -> str | None:
        """Why no sanitiser makes the sample private; None where one does."""
        try:
            self.sample.require_sanitisable()
        except InvalidValue as refused:
            return refused.remedy
        return None


def check_output(source: Path | list[Path], place: Path, overwrite: bool) -> None:
    """Refuse a place that no sample can be written to, before any work is done."""
    for name, path in sample_places(place).items():
        check_new(name, path, overwrite)
    check_sample_place(place)
    check_places(source, sample_places(place))
