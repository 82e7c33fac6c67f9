"""Comparison of the library's models with other methods on one train/test split."""
