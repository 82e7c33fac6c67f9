"""Default settings on tables, next to other methods at theirs."""
