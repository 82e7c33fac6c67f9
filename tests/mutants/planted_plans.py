"""Bugs planted in the predicted costs of fits, and the tests that must notice them."""

from cluster import test_planning as tests
from mutants.registry import changes, replaces

from bochner.distributed import ridge_cost
from bochner.distributed.cost import PassCost
from bochner.distributed.table_cost import TableFit


def check_moved():
    tests.test_bytes_moved_are_those_of_an_engine("cholesky")


@replaces(PassCost, "moved_sums", check_moved, name="every_sum_moves")
@property
def every_sum_moves(self):
    return float(self.n_partitions)


@changes(
    ridge_cost.RidgeFit,
    "_visit_bytes",
    lambda: tests.test_memory_of_kept_features(),
)
def features_are_not_kept(bytes_of, self, plan, one):
    return bytes_of(self, ridge_cost.replace(plan, keep=False), one)


@changes(TableFit, "_landmarks", lambda: tests.test_time_grows_linearly_with_many_rows("table"))
def variances_for_nothing(landmarks, self, effort):
    seconds, memory = landmarks(self, effort)
    return seconds - self._variance(), memory
