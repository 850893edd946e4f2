"""The processor this runs on, and LLVM's code generator for it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from threading import Thread
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from kinetree._lazy import cached_property
from kinetree.compiler.emit.llvm import Target
from kinetree.compiler.runtime.forks import hold_during_forks

if hasattr(getattr(llvm.ffi.lib, "_lock", None), "_lock"):
    hold_during_forks(llvm.ffi.lib._lock._lock)  # llvmlite's, around every call of LLVM

ATTRIBUTES = (
    'attributes #0 = {{ nounwind "prefer-vector-width"="{bits}" '
    '"min-legal-vector-width"="{bits}" }}\n'
)


WARM_UP = """
define <8 x double> @warm_up(ptr %a, ptr %b) #0 {
  %x = load <8 x double>, ptr %a
  %y = load <8 x double>, ptr %b
  %xy = fmul contract <8 x double> %x, %y
  %s = fadd contract <8 x double> %xy, %y
  %r = fdiv <8 x double> %s, %x
  store <8 x double> %r, ptr %a, !nontemporal !0
  %small = fcmp olt <8 x double> %r, %y
  %m = select <8 x i1> %small, <8 x double> %r, <8 x double> %y
  ret <8 x double> %m
}
!0 = !{i32 1}
"""
"""A few lines that pass through all of the code generator."""


class Host:
    """The machine's processor: its vector width, its features, a code generator.

    level: how much LLVM optimises the machine code of programs, 0 to 3. Above 1 it takes longer and
        gives no faster code; 0 takes less than half the time to compile. Results are the same, bit
        for bit.
    """

    level = 1

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.triple = llvm.get_process_triple()
        self.cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self.features = features.flatten()
        self.architecture = self.triple.split("-")[0]
        self.vector_bits = _vector_bits(self.architecture, features)
        self.fma = features.get("fma", False) or not self.architecture.startswith(("x86", "i686"))

    @cached_property
    def fingerprint(self) -> str:
        """Everything that machine code depends on besides its program."""
        return "|".join(
            (
                sys.implementation.cache_tag or sys.version,
                str(object.__basicsize__),
                self.triple,
                self.cpu,
                self.features,
                str(self.vector_bits),
                llvmlite.__version__,
                ".".join(map(str, llvm.llvm_version_info)),
            )
        )

    def target(self, kind: str) -> Target:
        """The target for "double" or "float"."""
        return Target(kind, self.vector_bits // (64 if kind == "double" else 32), self.fma)

    @property
    def attributes(self) -> str:
        """The definition of attribute group #0, which every generated function has."""
        return ATTRIBUTES.format(bits=self.vector_bits)

    def compile(self, text: str, optimise: bool = False) -> bytes:
        """Machine code, as an object file, of the text of a module.

        Programs are optimised as graphs, so they go straight to code generation. IR written by
        hand is optimised first.
        """
        _warm_up(self)
        return self.compile_cold(text, optimise)

    def compile_cold(self, text: str, optimise: bool) -> bytes:
        """The same, even if LLVM has not made its tables."""
        module = llvm.parse_assembly(text, llvm.create_context())
        module.triple = self.triple
        machine = self._machine(1 if optimise else self.level)
        if optimise:
            options = llvm.create_pipeline_tuning_options(speed_level=1)
            # vectors are written out where they matter
            options.loop_vectorization = options.slp_vectorization = False
            options.loop_unrolling = options.loop_interleaving = False
            builder = llvm.create_pass_builder(machine, options)
            passes = builder.getModulePassManager()
            _unlocked("LLVMPY_RunNewModulePassManager")(passes, module, builder)
        return _emit(machine, module)

    def compile_all(self, texts: Sequence[str]) -> list[bytes]:
        """Machine code of several modules, on as many threads as there are processors.

        The threads are not from `concurrent.futures`, whose pools have one lock for all: a fork
        takes it, and a compilation would wait for the fork.
        """
        _warm_up(self)
        todo = list(enumerate(texts))
        objects: dict[int, bytes] = {}
        failures: list[BaseException] = []

        def work() -> None:
            while not failures:
                try:
                    k, text = todo.pop()
                except IndexError:  # nothing is left
                    return
                try:
                    objects[k] = self.compile(text)
                except BaseException as e:
                    failures.append(e)

        helpers = [Thread(target=work) for _ in range(min(len(texts), os.cpu_count() or 1) - 1)]
        for thread in helpers:
            thread.start()
        work()
        for thread in helpers:
            thread.join()
        if failures:
            raise failures[0]
        return [objects[k] for k in range(len(texts))]

    def _machine(self, level: int) -> llvm.TargetMachine:
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, jit=True
        )

    def load(self, objects: Sequence[bytes]) -> Loaded:
        """Link object files into this process."""
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine(self.level))
        for code in objects:
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return Loaded(engine)


@cache
def _warm_up(host: Host) -> None:
    """Let LLVM make its tables, by compiling a few lines, before several threads compile.

    They are made under locks of LLVM's own, which a child that is forked at that moment would find
    held for ever.
    """
    with getattr(llvm.ffi.lib, "_lock", nullcontext()):
        host.compile_cold(host.attributes + WARM_UP, optimise=True)


def _emit(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
    """The object code of a module."""
    generate, lib = _unlocked("LLVMPY_TargetMachineEmitToMemory"), llvm.ffi.lib
    with llvm.ffi.OutputString() as error:
        buffer = generate(machine, module, 1, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        start = lib.LLVMPY_GetBufferStart(buffer)
        return ctypes.string_at(start, lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _unlocked(name: str) -> Any:
    """A function of LLVM without llvmlite's lock around it, if it has one.

    That is one lock for all of LLVM. What takes nearly all of the time, optimisation and code
    generation, is called past it: each module has a context of its own, the machine is nobody
    else's, and what LLVM shares between threads it protects itself.
    """
    function = getattr(llvm.ffi.lib, name)
    return getattr(function, "_cfn", function)


class Loaded:
    """Machine code in memory; it stays there as long as this object lives."""

    def __init__(self, engine: llvm.ExecutionEngine) -> None:
        self._engine = engine

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self._engine.get_function_address(name))

    def data_address(self, name: str) -> int:
        """The address of a table."""
        return int(self._engine.get_global_value_address(name))


def provide(name: str, function: object) -> None:
    """Make a C function of this process known to generated code under a name."""
    address = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    llvm.add_symbol(name, address)


def _vector_bits(architecture: str, features: dict[str, bool]) -> int:
    if architecture.startswith(("x86", "i686", "amd64")):
        if features.get("avx512f"):
            return 512
        if features.get("avx"):
            return 256
    return 128  # SSE2, NEON, and what else LLVM lowers vectors of this size to


@cache
def host() -> Host:
    """The host of this process, detected at the first call."""
    return Host()
