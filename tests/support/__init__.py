"""What several tests build, forge or draw: one module for each purpose."""
