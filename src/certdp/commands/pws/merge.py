"""`certdp pws merge`: samples of data without a common key become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...weighted_sampling.threshold_samples import ThresholdSample
from ...weighted_sampling.threshold_samples import merge as merged
from ..answering import application
from ..options import Output, Overwrite
from .drawn import DrawnSample, check_output


def merge(
    first: Annotated[Path, typer.Argument(metavar="A", help="A sample of `certdp pws sample`.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="One by the same scheme, of data without a common key.")],
    output: Output,
    overwrite: Overwrite = False,
) -> DrawnSample:
    """Merge samples of two data sets without a common key: not private, for the data's owner."""
    for source in (first, second):
        check_output(source, output, overwrite)
    sample = merged(ThresholdSample.read(first), ThresholdSample.read(second))
    sample.write(output, overwrite=overwrite)
    return DrawnSample(sample=sample, output=output)


command = application(merge, about_data=True)
