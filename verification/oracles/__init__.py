"""What checks are compared against: written out from definitions, sharing no code with the library."""
