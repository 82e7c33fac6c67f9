"""Engines that hold rows: a plain one in this process, and local ones of Ray and Spark."""

import os
import pickle
import signal
from pathlib import Path


class InProcess:
    """An executor whose functions and values are pickled, as if they were sent."""

    def place(self, parts):
        return parts

    def map(self, function, parts):
        sent = pickle.dumps(function)
        return [pickle.dumps(pickle.loads(sent)(index, part)) for index, part in enumerate(parts)]

    def tree_reduce(self, plus, handles):
        if not handles:
            return None
        half = len(handles) // 2
        if not half:
            return pickle.loads(handles[0])
        return plus(self.tree_reduce(plus, handles[:half]), self.tree_reduce(plus, handles[half:]))


class OnRay:
    def __init__(self):
        import ray

        from bochner.engines import RayExecutor

        self.executor, self._put = RayExecutor(), ray.put
        self.map, self.tree_reduce = self.executor.map, self.executor.tree_reduce

    def place(self, parts):
        return [self._put(part) for part in parts]


class OnSpark:
    def __init__(self, session):
        from bochner.engines import SparkExecutor

        self.executor, self.session = SparkExecutor(), session
        self.map, self.tree_reduce = self.executor.map, self.executor.tree_reduce

    def place(self, parts):
        """Each part is in a partition, or the pieces of one if it is a list."""
        pieces = [part if isinstance(part, list) else [part] for part in parts]
        return self.session.sparkContext.parallelize(pieces, len(pieces)).flatMap(list)


class Deadly:
    """A part that kills the process which unpickles it for the third time: the pass of sums."""

    def __init__(self, part, log):
        self.part, self.log = part, log

    def __reduce__(self):
        return revived, (self.part, self.log)


def revived(part, log):
    if visit(log) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def visit(log):
    """Return the number of the visit, which a file counts for all processes."""
    with Path(log).open("a") as file:
        file.write("visit\n")
    return visits(log)


def visits(log):
    return len(Path(log).read_text().splitlines())
