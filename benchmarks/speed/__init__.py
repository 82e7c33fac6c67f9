"""Seconds of features, ridge regression and sampling."""
