"""Engines that hold rows: one in this process, and one of threads."""

import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor
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


class Threads:
    """An executor of threads, which adds neighbours in pairs like the recipes of the guide."""

    def place(self, parts):
        return parts

    def map(self, function, parts):
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(function, range(len(parts)), parts))

    def tree_reduce(self, plus, handles):
        while len(handles) > 1:
            with ThreadPoolExecutor(2) as pool:
                sums = list(pool.map(plus, handles[::2], handles[1::2]))
            handles = sums + handles[2 * len(sums) :]
        return handles[0] if handles else None


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
