"""Nodes and numbers of an ONNX graph, all in one floating-point type."""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from bochner._base.arrays import Array, as_array
from bochner.spectral.factors import Amplitudes, CosineFactors, Envelope, separated
from bochner.spectral.frequencies import Frequencies

OPSET = 17
"""Version of ONNX's operators (2022). All that graphs need were there in version 13; runtimes of
the last years, such as onnxruntime from 1.12 on, run this one."""

_IR = 8
"""Version of the file's format that came with these operators; older runtimes refuse newer ones."""

_LARGEST_FILE = 2**31 - 2**20
"""Bytes of numbers that fit into a file: protobuf messages are less than 2 GiB. A MiB is for the
nodes, which take less than 100 KiB."""


class Graph:
    """An ONNX graph that is built node by node; values are referred to by name.

    Parameters
    ----------
    n_inputs : int
        Columns of the input, ``graph.rows``, whose number of rows is open.
    dtype : float32 or float64
        Type of the input and of all real numbers.
    """

    rows = "X"

    def __init__(self, n_inputs: int, dtype: DTypeLike) -> None:
        self._onnx = _imported()
        self.dtype = np.dtype(dtype)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._bytes = 0
        self._outputs: list[Any] = []
        self._inputs = [self._described(self.rows, self.dtype, (n_inputs,))]

    def __call__(self, operator: str, *inputs: ArrayLike, **attributes: object) -> str:
        """Add a node, and return the name of its output; arrays among inputs become constants."""
        output = f"{operator.lower()}_{len(self._nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self._nodes.append(self._onnx.helper.make_node(operator, names, [output], **attributes))
        return output

    def output(
        self, name: str, value: str, shape: tuple[int, ...], dtype: DTypeLike | None = None
    ) -> None:
        """Declare a value, whose rows have ``shape``, as the output ``name`` of the graph."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._described(name, dtype or self.dtype, shape))

    def model(self, title: str, producer_version: str) -> Any:
        """Return the graph as an ``onnx.ModelProto``."""
        if self._bytes > _LARGEST_FILE:
            raise ValueError(
                f"The model has {self._bytes / 2**30:.1f} GiB of numbers, and an ONNX file holds "
                f"less than 2. Use dtype='float32', return_std=False, which leaves out the "
                f"weights' covariance, or fewer n_components."
            )
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, title, self._inputs, self._outputs, initializer=self._constants
        )
        return helper.make_model(
            graph,
            producer_name="bochner",
            producer_version=producer_version,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=_IR,
        )

    def features(self, X: str, frequencies: Frequencies) -> str:
        """Return the left features (n, 2m) of rows ``X`` (n, d), Hadamard blocks as a matrix."""
        angle = self("Add", self("MatMul", X, frequencies.omega.T), frequencies.phase)
        waves = self("Concat", self._cosines(angle), self("Sin", angle), axis=1)
        amplitude = np.sqrt(np.abs(frequencies.weight))
        features = self("Mul", waves, np.tile(amplitude, 2))
        for factor in self._factors(X, frequencies):
            features = self("Mul", features, self("Concat", factor, factor, axis=1))
        return features

    def first_columns(self, values: str, count: int) -> str:
        """Slice the first ``count`` columns of values."""
        return self("Slice", values, *(np.array([number]) for number in (0, count, 1)))

    def _cosines(self, angle: str) -> str:
        r"""Return cosines, in float64 as :math:`1 - 2 \sin^2(\theta / 2)`.

        Runtimes of 2024, such as onnxruntime 1.20, have sines of float64 and no cosines.
        """
        if self.dtype == np.float32:
            return self("Cos", angle)
        sine = self("Sin", self("Mul", angle, np.asarray(0.5)))
        return self("Sub", np.asarray(1.0), self("Mul", self("Mul", sine, sine), np.asarray(2.0)))

    def _shifted_cosines(self, angle: str, phase: Array) -> str:
        """Return cosines of angles (n, m) plus phases (m,), in float32 as sines.

        Lines are cosines within 1e-5 of a quarter turn, where float32 has two digits left of them;
        the sine of the small angle has all.
        """
        if self.dtype == np.float64:
            return self._cosines(self("Add", angle, phase))
        turned = np.remainder(phase + 1.5 * np.pi, 2.0 * np.pi) - np.pi
        return self("Sin", self("Add", angle, turned))

    def _factors(self, X: str, frequencies: Frequencies) -> list[str]:
        """Return the factors (n, m) of both features of a frequency."""
        factors = []
        envelope, waves = separated(frequencies.factor)
        if envelope is not None:
            groups = [self._envelope(X, group) for group in envelope.groups]
            factors.append(groups[0] if len(groups) == 1 else self("Concat", *groups, axis=1))
        if waves is not None:
            factors.append(self._modulation(X, waves))
        return factors

    def _modulation(self, X: str, modulation: CosineFactors | Amplitudes) -> str:
        if isinstance(modulation, CosineFactors):
            return self._shifted_cosines(self("MatMul", X, 0.5 * modulation.v.T), modulation.phase)
        window, centre, decay, mu, phase, sums = modulation.matrices()
        lag = self("Sub", self("MatMul", X, window), centre)
        waves = self._cosines(self("Add", self("MatMul", X, mu), phase))
        inside = self("Exp", self("MatMul", self("Mul", lag, lag), decay))
        return self("Mul", inside, self("MatMul", waves, sums))

    def _envelope(self, X: str, envelope: Envelope) -> str:
        X = X if envelope.left is None else self("MatMul", X, envelope.left)
        norms = self("ReduceSumSquare", X, axes=[1], keepdims=1)
        depth = self("Sub", envelope.radius**2, norms)
        # The smaller value belongs to the side of the sphere on which the row lies.
        inside, outside = (self("Mul", depth, rate) for rate in (-envelope.rate, envelope.decay))
        return self("Exp", self("Min", inside, outside))

    def _constant(self, values: object) -> str:
        array = np.asarray(values)
        if array.dtype.kind == "f":
            exact = as_array(array)
            with np.errstate(over="ignore"):
                array = exact.astype(self.dtype)
            if np.isinf(array).any() and not np.isinf(exact).any():
                raise ValueError(
                    f"The model has numbers of size {np.abs(exact).max():.3g}, which overflow "
                    f"{self.dtype}: export it with dtype='float64', or change the unit of y."
                )
            self._bytes += array.nbytes
        name = f"c{len(self._constants)}"
        # In C order: views such as transposes would be written as they lie in memory.
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(tensor)
        return name

    def _described(self, name: str, dtype: DTypeLike | None, shape: tuple[int, ...]) -> Any:
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, kind, ["n", *shape])


def _imported() -> ModuleType:
    """Import the optional package onnx, which only the export needs."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            "export_onnx needs the package onnx: pip install 'bochner[onnx]'."
        ) from error
    return onnx
