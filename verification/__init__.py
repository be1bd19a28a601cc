"""Claims, cross-checks, certificates and their independent checker."""
