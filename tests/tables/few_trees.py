"""Fewer trees for tests of tables whose predictions may be rough."""

from dataclasses import replace

from bochner.tables import learner


def boost_briefly(patch):
    """Fit eight trees of fifteen bins in place of hundreds: with weights, bins take as long."""
    few = {"max_iter": 8, "max_bins": 15}
    brief = tuple(replace(b, few={**b.few, **few}) for b in learner.BOOSTINGS)
    patch.setattr(learner, "BOOSTINGS", brief)
