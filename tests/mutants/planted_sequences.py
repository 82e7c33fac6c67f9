"""Bugs of features of sequences, each with the test that must notice it."""

from experimental import test_sequence_features as laws
from mutants.registry import plant_edits

from bochner.experimental.sequence_maps import SignatureLevels, WindowMeans

plant_edits(
    SignatureLevels,
    "_block",
    laws.assert_signature,
    steps_in_their_own_sums=("(sums - added)", "sums"),
    one_factor_for_all_levels=("self._increments(k,", "self._increments(0,"),
    frequencies_counted_once_too_often=("float(m) ** k", "float(m) ** (k + 1)"),
    weights_not_rooted=("np.sqrt(self.weights[k + 1] *", "self.weights[k + 1] * np.sqrt("),
    last_points_lost=("steps(int(ends.max()), step)", "steps(int(ends.max()) - 1, step)"),
)
plant_edits(
    SignatureLevels,
    "_increments",
    laws.assert_dependent_frequencies,
    orders_lost=("waves[..., self.orders[k]]", "waves"),
)
plant_edits(
    SignatureLevels,
    "_block",
    laws.assert_pauses,
    shorter_sequences_return_to_their_start=(
        "np.minimum(times, ends[:, None])",
        "times % (ends[:, None] + 1)",
    ),
)
plant_edits(
    SignatureLevels,
    "_block",
    laws.assert_blocks,
    blocks_forgotten=("levels[k] += sums[:, -1]", "levels[k] = sums[:, -1]"),
)
plant_edits(
    WindowMeans,
    "features",
    laws.assert_windows,
    sums_for_means=("means /= counts[:, None]", "pass"),
)
