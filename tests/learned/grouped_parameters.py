"""Models with a learned kernel, whose chains and inference are given by their fields."""

from dataclasses import fields, replace

from bochner import SimilarityFeatures
from bochner.learned import Chains, ExactInference


def grouped(**parameters):
    """Parameters of a model, with fields of ``Chains``."""
    chains = {
        each.name: parameters.pop(each.name) for each in fields(Chains) if each.name in parameters
    }
    return {"chains": Chains(**chains), **parameters} if chains else parameters


def similarity_features(*args, inference=None, **parameters):
    """Features with fields of the inference, those that it has."""
    inference = inference or ExactInference()
    names = ("concentration", "max_iter", "tol", "n_starts")
    given = {name: parameters.pop(name) for name in names if name in parameters}
    given = {name: value for name, value in given.items() if hasattr(inference, name)}
    return SimilarityFeatures(*args, inference=replace(inference, **given), **parameters)
