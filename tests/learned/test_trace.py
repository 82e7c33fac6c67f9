"""The trace: what is recorded is what is kept, summarised."""

import numpy as np
import pytest

from bochner.learned.trace import Trace, effective_sample_size, split_rhat

NAMES = ("log_evidence", "log_posterior", "acceptance_pcn", "n_components_used", "step_size")


def records(n_chains=3, n_iterations=40, names=NAMES):
    rng = np.random.default_rng(0)
    return {name: rng.random((n_chains, n_iterations)) for name in names}


def test_kept_is_what_follows_burn_in():
    given = records()
    trace = Trace(given, 15)
    assert (trace.n_chains, trace.n_iterations, trace.n_burn_in) == (3, 40, 15)
    for name in NAMES:
        np.testing.assert_array_equal(trace.kept(name), given[name][:, 15:])
    with pytest.raises(KeyError, match="no record 'nothing'; there are log_evidence"):
        trace.kept("nothing")


def test_summary():
    given = records()
    summary = Trace(given, 15).summary()
    assert list(summary) == list(NAMES)
    for name in NAMES:
        kept = given[name][:, 15:]
        mean = kept.sum() / kept.size
        variance = ((kept - mean) ** 2).sum() / (kept.size - 1)
        assert summary[name].mean == pytest.approx(mean)
        assert summary[name].sd == pytest.approx(variance**0.5)
        assert summary[name].rhat == split_rhat(kept)
        assert summary[name].ess == effective_sample_size(kept)


@pytest.mark.parametrize(
    ("given", "n_burn_in", "message"),
    [
        ({}, 0, "at least one; got {}"),
        ({"a": np.ones(3)}, 0, r"'a' must have shape \(n_chains, n_iterations\), got \(3,\)"),
        ({"a": np.ones((0, 3))}, 0, r"'a' must have shape .* got \(0, 3\)"),
        ({"a": np.ones((2, 3)), "b": np.ones((2, 4))}, 0, r"'b': \(2, 4\)"),
        ({"a": [[1.0, np.nan]]}, 0, "'a' must be finite"),
        ({"a": np.ones((2, 3))}, 4, "from 0 to the number of iterations, 3, got 4"),
        ({"a": np.ones((2, 3))}, -1, "got -1"),
        ({"a": np.ones((2, 3))}, 1.5, "integer"),
    ],
    ids=["none", "vector", "no-chain", "shapes", "nan", "burn-in", "negative", "fraction"],
)
def test_refusals(given, n_burn_in, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Trace(given, n_burn_in)
