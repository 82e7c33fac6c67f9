"""The systems of five papers, as printed."""
