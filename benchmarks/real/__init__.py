"""Real tables with categories, dates and gaps, next to other methods at their defaults."""
