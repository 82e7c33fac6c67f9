"""Markov chains over frequencies: evidence, proposals, priors and the driver of chains."""
