"""Fewer trees for tests of tables whose predictions may be rough."""

from bochner.tables import learner


def boost_briefly(patch):
    """Fit at most eight trees in place of hundreds."""
    patch.setattr(learner, "most_trees", lambda n_samples: 8)
