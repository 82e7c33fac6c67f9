"""Models whose features and solver are given by the names of their own parameters."""

from bochner import FourierFeatures
from bochner.linear.solver_plan import RidgeSolver

OF_FEATURES = ("scheme", "weights", "decomposition", "pairs", "masses")
OF_SOLVERS = ("tol", "memory_limit")


def flat(kind, *args, **parameters):
    """A ridge model, with parameters of FourierFeatures and RidgeSolver among its own."""
    parameters |= dict(zip(("kernel", "n_components", "alpha"), args, strict=False))
    names = kind().get_params(deep=False)
    inner = {name for name in parameters if name in OF_FEATURES or name not in names}
    inner -= set(OF_SOLVERS)
    solver = {name: parameters.pop(name) for name in OF_SOLVERS if name in parameters}
    if solver:
        parameters["solver"] = RidgeSolver(parameters.get("solver", "auto"), **solver)
    if inner:
        short = [name for name in ("kernel", "n_components", "length_scale") if name in names]
        features = {name: parameters.pop(name, names[name]) for name in short}
        features |= {name: parameters.pop(name) for name in inner - set(short)}
        parameters["features"] = FourierFeatures(**features)
    return kind(**parameters)
