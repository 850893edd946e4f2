"""Python functions and NumPy generalized ufuncs from machine code, made without a compiler.

`PyUFunc_FromFuncAndDataAndSignature` is an entry of the table of functions that NumPy publishes to
extension modules; it is called through ctypes. What it makes is a ufunc like any other: it
broadcasts, casts, takes `out=`, and runs without the interpreter lock.
"""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.runtime.arrays import DTYPES

_FROM_FUNC_AND_DATA_AND_SIGNATURE = 31  # its place in the ufunc table
_NEW_FROM_DESCR = 94  # PyArray_NewFromDescr's place in the array table
_NONE = -1  # PyUFunc_None: the function has no identity
_FASTCALL = 0x80  # METH_FASTCALL
_UFUNC_OBJ = 72  # where a ufunc keeps an object alive, in bytes after its head


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


def make_gufunc(
    loop: int,
    description: bytes,
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
        description: the kernel's description, whose address is passed to the loop.
        kind: "double" or "float", of all operands.
        keep: what must stay alive as long as the gufunc does.
    """
    functions, data = struct.pack("P", loop), struct.pack("P", address_of(description))
    types = bytes([DTYPES[kind].num]) * (inputs + outputs)
    texts = [text.encode() + b"\0" for text in (name, signature)]
    made = _maker()(
        address_of(functions),
        address_of(data),
        address_of(types),
        1,
        inputs,
        outputs,
        _NONE,
        texts[0],
        b"",
        0,
        texts[1],
    )
    # PyUFuncObject.obj: released when the gufunc is
    kept = (functions, data, types, texts, description, keep)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    ctypes.c_void_p.from_address(id(made) + object.__basicsize__ + _UFUNC_OBJ).value = id(kept)
    return made


def make_function(address: int, description: bytes, name: str, keep: Any) -> Any:
    """A Python function from machine code: PyObject *f(PyObject *capsule, PyObject **, count).

    Arguments:
        address: of the machine code.
        description: the kernel's description; the capsule holds its address.
        name: of the function.
        keep: what must stay alive as long as the function does.
    """
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    new_function = ctypes.pythonapi.PyCFunction_NewEx
    new_function.restype = ctypes.py_object
    new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    text = name.encode() + b"\0"
    definition = struct.pack("PPiP", address_of(text), address, _FASTCALL, 0)  # PyMethodDef
    capsule = new_capsule(address_of(description), None, None)
    # the function reads its definition until it is gone: what it takes for its module keeps it
    return new_function(address_of(definition), capsule, (text, definition, description, keep))


def address_of(content: bytes) -> int:
    """Where the content of a bytes object lies in memory.

    Bytes, because the garbage collector frees the memory of ctypes' objects while others that
    are released with them still read it.
    """
    return int(ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value or 0)
