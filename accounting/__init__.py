"""Units, relations, notions, enclosures, expressions, amplification and bulk kernels."""
