"""Other methods next to the library's own on one train/test split, and the metrics of all."""
