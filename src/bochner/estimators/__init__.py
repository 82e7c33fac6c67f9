"""Estimators that follow the scikit-learn API."""
