"""Python functions and NumPy generalized ufuncs from machine code, made without a compiler.

`PyUFunc_FromFuncAndDataAndSignature` is an entry of the table of functions that NumPy publishes to
extension modules; it is called through ctypes. What it makes is a ufunc like any other: it
broadcasts, casts, takes `out=`, and runs without the interpreter lock.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

_FROM_FUNC_AND_DATA_AND_SIGNATURE = 31  # its place in the ufunc table
_NEW_FROM_DESCR = 94  # PyArray_NewFromDescr's place in the array table
_NONE = -1  # PyUFunc_None: the function has no identity
_FASTCALL = 0x80  # METH_FASTCALL
_UFUNC_OBJ = 72  # where a ufunc keeps an object alive, in bytes after its head
_TYPES: dict[str, Any] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}


def _table(name: str) -> Any:
    """One of NumPy's tables of C functions."""
    core = np._core if hasattr(np, "_core") else np.core
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(getattr(core._multiarray_umath, name), None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


def new_array_address() -> int:
    """The address of PyArray_NewFromDescr."""
    return int(_table("_ARRAY_API")[_NEW_FROM_DESCR])


@cache
def _maker() -> Any:
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        ctypes.c_void_p,  # functions
        ctypes.c_void_p,  # data
        ctypes.c_void_p,  # types
        *[ctypes.c_int] * 4,  # ntypes, nin, nout, identity
        ctypes.c_char_p,  # name
        ctypes.c_char_p,  # doc
        ctypes.c_int,  # unused
        ctypes.c_char_p,  # signature
    )
    return kind(_table("_UFUNC_API")[_FROM_FUNC_AND_DATA_AND_SIGNATURE])


def dtype_of(kind: str) -> Any:
    """The dtype of "double" or "float"."""
    return _TYPES[kind]


def make_gufunc(
    loop: int,
    description: Any,
    kind: str,
    inputs: int,
    outputs: int,
    signature: str,
    name: str,
    keep: Any,
) -> Any:
    """A gufunc with one loop.

    Arguments:
        loop: the address of its inner loop.
        description: a ctypes object, whose address is passed to the loop.
        kind: "double" or "float", of all operands.
        keep: what must stay alive as long as the gufunc does.
    """
    functions = (ctypes.c_void_p * 1)(loop)
    data = (ctypes.c_void_p * 1)(ctypes.addressof(description))
    count = inputs + outputs
    types = (ctypes.c_char * count)(*[bytes([_TYPES[kind].num])] * count)
    texts = [ctypes.create_string_buffer(t.encode()) for t in (name, "", signature)]
    made = _maker()(
        ctypes.addressof(functions),
        ctypes.addressof(data),
        ctypes.addressof(types),
        1,
        inputs,
        outputs,
        _NONE,
        ctypes.cast(texts[0], ctypes.c_char_p),
        ctypes.cast(texts[1], ctypes.c_char_p),
        0,
        ctypes.cast(texts[2], ctypes.c_char_p),
    )
    # PyUFuncObject.obj: released when the gufunc is
    kept = (functions, data, types, texts, description, keep)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    ctypes.c_void_p.from_address(id(made) + object.__basicsize__ + _UFUNC_OBJ).value = id(kept)
    return made


class _MethodDefinition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_function(address: int, data: int, name: str) -> tuple[Any, list[Any]]:
    """A Python function from machine code: PyObject *f(PyObject *capsule, PyObject **, count).

    Returns:
        The function, and what must stay alive as long as it.
    """
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    new_function = ctypes.pythonapi.PyCFunction_NewEx
    new_function.restype = ctypes.py_object
    new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    definition = _MethodDefinition(name.encode(), address, _FASTCALL, b"")
    capsule = new_capsule(data, None, None)
    return new_function(ctypes.addressof(definition), capsule, None), [definition, capsule]
