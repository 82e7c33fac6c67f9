"""Series of the M3 and M4 competitions, next to the models of statsforecast."""
