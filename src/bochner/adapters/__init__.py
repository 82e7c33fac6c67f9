"""Models and features for other libraries."""
