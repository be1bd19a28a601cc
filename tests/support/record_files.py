"""Files of records, as bytes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet


def npy(matrix: Any) -> bytes:
    """An array as a .npy file."""
    stream = io.BytesIO()
    np.save(stream, matrix)
    return stream.getvalue()


def parquet_of(**columns: Any) -> bytes:
    """Columns as a Parquet file."""
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()
