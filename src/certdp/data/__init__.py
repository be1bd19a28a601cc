"""Records in files: npy, npz, CSV with a header or Parquet, each also compressed with xz; whole or in chunks."""

from .example import example_records as example_records
from .reading import Reading as Reading
from .reading import refuse_without_file as refuse_without_file
from .records import Records as Records
from .records import open_records as open_records
from .records import read_records as read_records
