"""Forecasts of series in time: sums of processes whose hidden states form a Markov chain."""
