"""`certdp pws merge`: samples of data without a common key become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...accounting.errors import InvalidValue
from ...data.files import within_file
from ...weighted_sampling.threshold_samples import ThresholdSample
from ...weighted_sampling.threshold_samples import merge as merged
from ..answering import application
from ..options import Output, Overwrite
from .drawn import DrawnSample, check_output


def merge(
    samples: Annotated[
        list[Path],
        typer.Argument(
            metavar="SAMPLES...",
            help="Samples of `certdp pws sample`, two or more, by the same scheme, of data without a common key.",
        ),
    ],
    output: Output,
    overwrite: Overwrite = False,
) -> DrawnSample:
    """Merge samples of data sets without a common key: not private, for the data's owner."""
    first, *others = samples
    if not others:
        raise InvalidValue("samples", str(first), "at least two samples", "Name them: certdp pws merge A B")
    for source in samples:
        check_output(source, output, overwrite)
    sample = ThresholdSample.read(first)
    for source in others:
        read = ThresholdSample.read(source)
        with within_file(source):
            sample = merged(sample, read)
    sample.write(output, overwrite=overwrite)
    return DrawnSample(sample=sample, output=output)


command = application(merge, about_data=True)
