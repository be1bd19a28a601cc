"""Files that appear whole or not at all, and what becomes of half-done work when a signal ends a command."""
