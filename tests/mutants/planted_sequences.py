"""Bugs of features of sequences, each with the test that must notice it."""

from features import test_sequence_features as laws
from mutants.registry import plant_edits

from bochner.features.sequence_maps import SignatureLevels, WindowMeans

plant_edits(
    SignatureLevels,
    "_block",
    laws.check_signature,
    levels_updated_upwards=("range(depth, 0, -1)", "range(1, depth + 1)"),
    one_factor_for_all_levels=("waves[k - 1][:, t, None]", "waves[0][:, t, None]"),
    frequencies_counted_once_too_often=("float(m) ** (k - 1)", "float(m) ** k"),
    weights_not_rooted=("np.sqrt(self.weights[k] *", "self.weights[k] * np.sqrt("),
    last_points_lost=("steps(int(ends.max()), step)", "steps(int(ends.max()) - 1, step)"),
)
plant_edits(
    SignatureLevels,
    "_increments",
    laws.check_dependent_frequencies,
    orders_lost=("waves[..., self.orders[k]]", "waves"),
)
plant_edits(
    SignatureLevels,
    "_block",
    laws.check_pauses,
    shorter_sequences_return_to_their_start=(
        "np.minimum(times, ends[:, None])",
        "times % (ends[:, None] + 1)",
    ),
)
plant_edits(
    WindowMeans,
    "features",
    laws.check_windows,
    sums_for_means=("means /= counts[:, None]", "pass"),
)
