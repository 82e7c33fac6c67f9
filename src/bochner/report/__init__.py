"""Pictures: results in, figure out, no computation."""
