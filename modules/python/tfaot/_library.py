# SPDX-License-Identifier: Apache-2.0
"""libtfaot_python.so, the C functions of modules/python/src/c_interface.cc."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any

FOLDER = pathlib.Path(os.path.abspath(__file__)).parent  # links stay: a build folder has some
_INTERFACE = 2


class Error(RuntimeError):
    """A package that cannot be loaded, a batch that cannot be run, or a verb of tfaot that failed."""


class Ragged(ctypes.Structure):
    """All rows of a tensor."""

    _fields_ = [("data", ctypes.c_void_p), ("elements", ctypes.c_uint64)]


def _open() -> ctypes.CDLL:
    file = FOLDER / "libtfaot_python.so"
    try:
        library = ctypes.CDLL(os.fspath(file))
    except OSError as error:
        raise ImportError(f"tfaot: {error}; {file} belongs to this module: reinstall tfaot") from None
    if library.tfaot_interface() != _INTERFACE:
        raise ImportError(f"tfaot: {file} is of another version than this module: reinstall tfaot")
    pointers = ctypes.POINTER(ctypes.c_void_p)
    numbers = ctypes.POINTER(ctypes.c_int64)
    for name, result, arguments in (
        ("open", ctypes.c_void_p, [ctypes.c_char_p, pointers]),
        ("describe", ctypes.c_char_p, [ctypes.c_void_p]),
        ("sizes", ctypes.c_void_p, [ctypes.c_void_p, numbers, numbers, numbers]),
        ("run", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_uint64, numbers, pointers, pointers]),
        (
            "run_ragged",
            ctypes.c_void_p,
            [ctypes.c_void_p, ctypes.c_uint64, pointers, ctypes.POINTER(Ragged), ctypes.POINTER(Ragged)],
        ),
        ("close", None, [ctypes.c_void_p]),
        ("free", None, [ctypes.c_void_p]),
    ):
        function = getattr(library, "tfaot_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _open()


def address(function: Any) -> int:
    """That of a function of the library, for code in C."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def error_of(text: Any) -> Error:
    """The Error with a text of the library, which is freed."""
    try:
        return Error(ctypes.string_at(text).decode("utf-8", "replace"))
    finally:
        library.tfaot_free(text)
