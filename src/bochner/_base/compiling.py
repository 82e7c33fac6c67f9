"""Compilation of loops by Numba, and the files of compiled loops."""

import gc
import pickle
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from numba import njit
from numba.core.caching import NullCache
from numba.misc import appdirs

from bochner._base.file_writing import replacing

_Loop = TypeVar("_Loop", bound=Callable[..., object])

# Numba annotates neither these options nor these modules
_core: Any = numba.core
_dirs: Any = appdirs

_PACKAGE = Path(__file__).parents[1]
_IMPORTS = re.compile(r"^from bochner([.\w]*) import ([^(\n]+|\([^)]*\))", re.MULTILINE)
_VERSIONS = sys.version, numba.__version__, llvmlite.__version__


class LoopCompiler(_core.compiler.Compiler):  # type: ignore[misc]
    """Compiler of loops. It pauses Python's garbage collection, a tenth of the time."""

    n_running = 0  # Compilations are nested

    def compile_extra(self, function: object) -> object:
        """Return the compiled function."""
        is_collecting = gc.isenabled()
        gc.disable()
        LoopCompiler.n_running += 1
        try:
            return super().compile_extra(function)
        finally:
            LoopCompiler.n_running -= 1
            if is_collecting:
                gc.enable()


def is_compiling() -> bool:
    """Return whether Numba is compiling a loop, instead of reading its file."""
    return LoopCompiler.n_running > 0


class InnerLibrary(_core.codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimised and translated only within the loops that call it, not twice.

    It has no address. `CompiledFiles.save_overload` sets the constants that it refers to.
    """

    codegen = property(lambda self: self)

    def _nothing(self, *_: object) -> int:
        return 0

    _optimize_final_module = set_env = get_pointer_to_function = _nothing

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class InnerCompiler(LoopCompiler):
    """Compiler of functions that only compiled loops call."""

    def __init__(self, typing: Any, target: Any, library: Any, *options: object) -> None:
        super().__init__(typing, target, InnerLibrary(target.codegen(), "inner"), *options)


_called: Any = partial(njit, nogil=True, no_cfunc_wrapper=True, pipeline_class=LoopCompiler)


def compiled(**options: object) -> Callable[[_Loop], _Loop]:
    """Return a decorator that compiles a function without holding the GIL, and keeps the code."""

    def decorate(function: _Loop) -> _Loop:
        loop: Any = _called(**options)(function)
        source = _source_hash(Path(function.__code__.co_filename))
        is_kept = source and function.__closure__ is None
        loop._cache = CompiledFiles((function.__qualname__, source) if is_kept else None)
        decorated: _Loop = loop
        return decorated

    return decorate


@cache
def _source_hash(path: Path) -> str | None:
    """Return a hash of the text of a file and of the package's files that it imports.

    Paths are not hashed. Code without a file has no hash.
    """
    texts: dict[Path, str] = {}
    try:
        _add_text(path, texts)
    except OSError:
        return None
    return sha256("\0".join(sorted(texts.values())).encode()).hexdigest()


def _add_text(path: Path, texts: dict[Path, str]) -> None:
    texts[path] = _text(path)
    for module, names in _IMPORTS.findall(texts[path]):
        place = _PACKAGE.joinpath(*module.split("."))
        for stem in (place, place / "__init__", *map(place.joinpath, re.findall(r"\w+", names))):
            imported = stem.with_suffix(".py")
            if imported not in texts and imported.is_file():
                _add_text(imported, texts)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


class CompiledFiles(NullCache):
    """Files of a compiled function, one for each signature, named by a hash of their content.

    Content is the source text of all files whose functions can be inlined, the versions of Numba
    and Python, and the processor. Copies of the package therefore share files, and no file becomes
    obsolete. Numba's own cache has a folder for each copy, and misses changes in inlined functions
    of other files.
    """

    def __init__(self, source: tuple[str, str | None] | None) -> None:
        self._source = source

    def load_overload(self, signature: object, target: Any) -> Any:
        """Return the compiled function from the first folder that has it."""
        target.refresh()
        if self._source is None:
            return None
        for folder in _folders():
            with suppress(OSError, EOFError, pickle.UnpicklingError):
                data = (folder / self._file(signature, target.codegen())).read_bytes()
                return _core.compiler.CompileResult._rebuild(target, *pickle.loads(data))
        return None

    def save_overload(self, signature: object, result: Any) -> None:
        """Write the compiled function to the first folder that can be written to."""
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
        if result.library.has_dynamic_globals or self._source is None:
            return
        data = _core.serialize.dumps(result._reduce())
        for folder in _folders():
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                # Processes that write the same file each replace it by a complete one.
                with replacing(folder / self._file(signature, result.codegen)) as file:
                    file.write_bytes(data)
                return

    def _file(self, signature: object, codegen: Any) -> str:
        flags = _core.config.OPT, _core.config.BOUNDSCHECK, _core.config.USING_SVML
        content = self._source, signature, codegen.magic_tuple(), flags, _VERSIONS
        return f"{sha256(repr(content).encode()).hexdigest()}.nbc"


def _folders() -> tuple[Path, ...]:
    """Return ``NUMBA_CACHE_DIR``, or else the user's cache folder and the one of this file."""
    if _core.config.CACHE_DIR:
        return (Path(_core.config.CACHE_DIR, "bochner"),)
    of_user = Path(_dirs.user_cache_dir("bochner", appauthor=False))
    of_copy = Path(__file__).parent / "__pycache__"
    return (of_user, of_copy) if of_user.is_absolute() else (of_copy,)  # "~" without a home folder


inner = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=InnerCompiler)
"""The decorator of functions that only compiled loops call.

They cannot be called from Python and are stored on disk only within the loops that call them,
because an entry from Python, or code stored separately, would lengthen the first fit.
"""
