"""A model that is a weighted sum of laws, each learned and judged by rows left out."""
