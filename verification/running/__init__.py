"""Running claims: which, in which process, on which cases, and what came out."""
