"""Moves of a Markov chain over frequencies, one file each."""
