"""The trace: what is recorded is what is kept, summarised, handed on and stored."""

import sys
from types import SimpleNamespace

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


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_arviz_gets_everything():
    pytest.importorskip("arviz")
    given = records()
    data = Trace(given, 15).to_arviz()
    stats = ("log_posterior", "acceptance_pcn", "step_size")
    for name in NAMES:
        group = "sample_stats" if name in stats else "posterior"
        key = "lp" if name == "log_posterior" else name
        kept, warmup = data[group][key], data[f"warmup_{group}"][key]
        assert kept.dims == warmup.dims == ("chain", "draw")
        np.testing.assert_array_equal(kept, given[name][:, 15:])
        np.testing.assert_array_equal(warmup, given[name][:, :15])


def older(posterior=None, *, sample_stats=None, warmup_posterior=None, save_warmup=None, **groups):
    named = {"posterior": posterior, "sample_stats": sample_stats}
    return {**named, "warmup_posterior": warmup_posterior, **groups}, save_warmup


def newer(data, *, save_warmup=None):
    return data, save_warmup


@pytest.mark.parametrize("from_dict", [older, newer])
def test_both_interfaces_of_arviz(from_dict, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", SimpleNamespace(from_dict=from_dict))
    given = records()
    groups, save_warmup = Trace(given, 15).to_arviz()
    assert save_warmup is True
    assert {name: set(group) for name, group in groups.items()} == {
        "posterior": {"log_evidence", "n_components_used"},
        "sample_stats": {"lp", "acceptance_pcn", "step_size"},
        "warmup_posterior": {"log_evidence", "n_components_used"},
        "warmup_sample_stats": {"lp", "acceptance_pcn", "step_size"},
    }
    np.testing.assert_array_equal(groups["sample_stats"]["lp"], given["log_posterior"][:, 15:])


def test_the_extra_is_named_without_arviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"bochner\[arviz\]"):
        Trace(records(), 15).to_arviz()
