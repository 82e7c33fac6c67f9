"""Helpers that three rooms or more need."""
