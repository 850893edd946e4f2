"""A thread pool for long batches, as LLVM IR: jobs of states, taken in stretches.

    i32 kinetree_worker(i64 *pool, i64 number)    run by each worker until it is stopped

The caller of a kernel publishes a job, wakes sleeping workers, and takes stretches of states itself
until none are left; workers that arrive in time take some of them. The caller waits only for
workers that have begun, never for one that is still waking up. A second caller that finds the pool
busy works alone.

A job opens when CLOSED is cleared from PARTICIPANTS. A worker enters by adding one, and leaves
again at once if it finds the job closed; the caller closes the job and waits until all have left.

An idle worker looks for a new job for a short while, then sleeps on its lock.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import (
    I32,
    I64,
    PTR,
    VOID,
    Builder,
    Writer,
    entry_alloca,
    external,
    function,
    integer,
    loop,
)
from kinetree.compiler.native.layout import SHARE

SPINS = 4000  # polls for a job before a worker sleeps: about 0.1 ms
BLOCKS_WORTH_SHARING = 8
SHARES = 3  # a stretch is 1/3 of an equal share of the remaining states
CLOSED = 1 << 32  # the bit of PARTICIPANTS that keeps workers out


class Pool(IntEnum):
    """The fields of the pool, 64-bit integers; those of several threads are a cache line apart."""

    THREADS = 0  # the number of threads, the caller included
    STOP = 1
    BUSY = 8  # whether a job holds the pool
    GENERATION = 16  # counts the jobs
    PARTICIPANTS = 24
    NEXT = 32  # the first state that no thread has taken
    RUN = 40  # the function to run on a block, and its arguments
    ARGUMENTS = 41
    STATES = 46
    BLOCK = 47
    FAILED = 48
    WORKERS = 56
    WORKER_FIELDS = 8  # of each worker: ASLEEP, LOCK


ASLEEP, LOCK = 0, 1
ARGUMENT_COUNT = 5
_SHARE_TYPES = [PTR] * (1 + ARGUMENT_COUNT) + [I64, I64]
_RUN_TYPE = ir.FunctionType(I32, [PTR] * ARGUMENT_COUNT + [I64] * 3)


def pool_size(workers: int) -> int:
    """The number of integers in a pool."""
    return Pool.WORKERS + workers * Pool.WORKER_FIELDS


def define_pool(module: ir.Module, architecture: str) -> None:
    """Add the functions that callers and workers run."""
    pool = ir.GlobalVariable(module, PTR, "kinetree_pool")
    pool.initializer = ir.Constant(PTR, None)
    b = function(module, "kinetree_set_pool", VOID, [PTR])
    b.store(b.arguments[0], pool)
    b.ret_void()
    _define_take_blocks(module)
    _define_share(module, architecture)
    _Worker(module, architecture).define()


def share(module: ir.Module, b: Builder, run: Any, arguments: list[Any], n: Any, block: Any) -> Any:
    """Give the pool a job: its status, or -1 if the caller should work alone."""
    return b.call(external(module, SHARE, I32, _SHARE_TYPES), [run, *arguments, n, block])


def _at(b: Builder, pool: Any, field: int) -> Any:
    return pool.of(I64).at(int(field))


def _define_take_blocks(module: ir.Module) -> None:
    """Take stretches of the current job until none are left."""
    b = function(module, "kinetree_take_blocks", VOID, [PTR], internal=True)
    (pool,) = b.arguments
    run = _at(b, pool, Pool.RUN).get(_RUN_TYPE.as_pointer())
    arguments = [_at(b, pool, Pool.ARGUMENTS + k).get(PTR) for k in range(ARGUMENT_COUNT)]
    n, block = pool[Pool.STATES], pool[Pool.BLOCK]
    threads = b.load_atomic(_at(b, pool, Pool.THREADS), "monotonic", 8, typ=I64)
    again, take, work, done = (b.append_basic_block(x) for x in ("again", "take", "work", "done"))
    b.branch(again)
    b.position_at_end(again)
    begin = b.load_atomic(_at(b, pool, Pool.NEXT), "monotonic", 8, typ=I64)
    b.cbranch(begin < n, take, done)
    # a share of the remaining states, in whole blocks: stretches get shorter, so that all threads
    # end together
    b.position_at_end(take)
    part = (n - begin) // (threads * SHARES)
    part = part - part % block
    part = b.select(part > block, part, block)
    end = begin + part
    claim = b.cmpxchg(_at(b, pool, Pool.NEXT), begin, end, "monotonic", "monotonic")
    b.cbranch(b.extract_value(claim, 1), work, again)
    b.position_at_end(work)
    end = b.select(end < n, end, n)
    status = b.call(run, [*arguments, begin, end, n])
    b.atomic_rmw("or", _at(b, pool, Pool.FAILED), b.zext(status, I64), "monotonic")
    b.branch(again)
    b.position_at_end(done)
    b.ret_void()


def _define_share(module: ir.Module, architecture: str) -> None:
    """The caller's part: publish a job, take part in it, wait for the workers that have begun."""
    b = function(module, SHARE, I32, _SHARE_TYPES)
    run, *arguments, n, block = b.arguments
    alone = b.append_basic_block("alone")
    pool, threads = _claim_pool(module, b, n, block, alone)
    _publish(b, pool, run, arguments, n, block)
    _wake(module, b, pool, threads)
    b.call(module.globals["kinetree_take_blocks"], [pool])
    _close(module, b, pool, architecture)
    failed = b.trunc(pool[Pool.FAILED], I32)
    b.atomic_rmw("xchg", _at(b, pool, Pool.BUSY), integer(0), "release")
    b.ret(failed)
    b.position_at_end(alone)
    b.ret(I32(-1))


def _claim_pool(
    module: ir.Module, b: Builder, n: Any, block: Any, alone: ir.Block
) -> tuple[Any, Any]:
    """The pool, held for this caller, and its threads; otherwise goes to `alone`.

    A caller works alone if there is no pool, the batch is short, or another caller has the pool.
    """

    def require(condition: Any) -> None:
        go_on = b.append_basic_block("go_on")
        b.cbranch(condition, go_on, alone)
        b.position_at_end(go_on)

    pool = b.load(module.globals["kinetree_pool"], typ=PTR)
    require(pool.address != 0)
    threads = b.load_atomic(_at(b, pool, Pool.THREADS), "monotonic", 8, typ=I64)
    require(threads > 1)
    require(n >= block * BLOCKS_WORTH_SHARING)
    claim = b.cmpxchg(_at(b, pool, Pool.BUSY), integer(0), integer(1), "acquire", "monotonic")
    require(b.extract_value(claim, 1))
    return pool, threads


def _publish(b: Builder, pool: Any, run: Any, arguments: list[Any], n: Any, block: Any) -> None:
    """Store a job, then open it; the new generation tells workers about it."""
    _at(b, pool, Pool.RUN).set(run)
    for k, argument in enumerate(arguments):
        _at(b, pool, Pool.ARGUMENTS + k).set(argument)
    pool[Pool.STATES] = n
    pool[Pool.BLOCK] = block
    pool[Pool.FAILED] = 0
    b.atomic_rmw("xchg", _at(b, pool, Pool.NEXT), integer(0), "monotonic")
    b.atomic_rmw("and", _at(b, pool, Pool.PARTICIPANTS), integer(~CLOSED), "seq_cst")
    b.atomic_rmw("add", _at(b, pool, Pool.GENERATION), integer(1), "seq_cst")


def _wake(module: ir.Module, b: Builder, pool: Any, threads: Any) -> None:
    """Release the locks of the workers that sleep."""
    with loop(b, 0, threads - 1) as w:
        worker = _worker(b, pool, w)
        asleep = b.atomic_rmw("xchg", _at(b, worker, ASLEEP), integer(0), "seq_cst")
        with b.if_then(asleep != 0):
            lock = _at(b, worker, LOCK).get(PTR)
            b.call(external(module, "kinetree_release", VOID, [PTR]), [lock])


def _close(module: ir.Module, b: Builder, pool: Any, architecture: str) -> None:
    """Close the job, and wait until all workers have left it."""
    b.atomic_rmw("or", _at(b, pool, Pool.PARTICIPANTS), integer(CLOSED), "seq_cst")
    wait, left = b.append_basic_block("wait"), b.append_basic_block("left")
    b.branch(wait)
    b.position_at_end(wait)
    _pause(module, b, architecture)
    inside = b.load_atomic(_at(b, pool, Pool.PARTICIPANTS), "acquire", 8, typ=I64)
    b.cbranch(inside == CLOSED, left, wait)
    b.position_at_end(left)


class _Worker:
    """Writes the worker's loop: look for jobs, take part in them, sleep, until told to stop.

    seen: the generation of the last job that this worker saw.
    spins: the number of failed polls since then.
    """

    def __init__(self, module: ir.Module, architecture: str) -> None:
        self.module, self.architecture = module, architecture
        self.b = b = function(module, "kinetree_worker", VOID, [PTR, I64])
        self.pool, self.number = b.arguments
        self.worker = _worker(b, self.pool, self.number)
        self.seen, self.spins = entry_alloca(b, I64), entry_alloca(b, I64)
        self.seen.set(0)
        self.spins.set(0)
        names = ("look", "stop", "idle", "enter", "nap", "sleep")
        self.look, self.stop, self.idle, self.enter, self.nap, self.sleep = (
            b.append_basic_block(name) for name in names
        )

    def define(self) -> None:
        """Write the blocks of the function."""
        self.b.branch(self.look)
        generation = self._look()
        self._enter(generation)
        self._idle()
        self._nap()
        self._sleep()
        self.b.position_at_end(self.stop)
        self.b.ret_void()

    def _look(self) -> Any:
        """Look for a job; returns the generation seen."""
        b = self.b
        b.position_at_end(self.look)
        generation, is_new = self._read_generation()
        told = self._read_stop()
        go_on = b.append_basic_block("go_on")
        b.cbranch(told != 0, self.stop, go_on)
        b.position_at_end(go_on)
        b.cbranch(is_new, self.enter, self.idle)
        return generation

    def _enter(self, generation: Any) -> None:
        """Take part in a job, unless it is closed or for fewer threads."""
        b = self.b
        b.position_at_end(self.enter)
        self.seen.set(generation)
        self.spins.set(0)
        threads = b.load_atomic(_at(b, self.pool, Pool.THREADS), "monotonic", 8, typ=I64)
        participants = Pool.PARTICIPANTS
        with b.if_then(self.number + 1 < threads):
            before = b.atomic_rmw("add", _at(b, self.pool, participants), integer(1), "seq_cst")
            with b.if_then(before & CLOSED == 0):
                b.call(self.module.globals["kinetree_take_blocks"], [self.pool])
            b.atomic_rmw("sub", _at(b, self.pool, participants), integer(1), "seq_cst")
        b.branch(self.look)

    def _idle(self) -> None:
        """Look again; after SPINS times, go to sleep."""
        b = self.b
        b.position_at_end(self.idle)
        _pause(self.module, b, self.architecture)
        count = self.spins.get() + 1
        self.spins.set(count)
        b.cbranch(count < SPINS, self.look, self.nap)

    def _nap(self) -> None:
        """Set the flag, then look once more before sleeping.

        Either this sees a job that was published meanwhile, or its caller sees the flag.
        """
        b = self.b
        b.position_at_end(self.nap)
        self.spins.set(0)
        b.atomic_rmw("xchg", _at(b, self.worker, ASLEEP), integer(1), "seq_cst")
        _, is_new = self._read_generation()
        awake = is_new | (self._read_stop() != 0)
        back = b.append_basic_block("back")
        b.cbranch(awake, back, self.sleep)
        b.position_at_end(back)
        still_set = b.atomic_rmw("xchg", _at(b, self.worker, ASLEEP), integer(0), "seq_cst")
        # the thread that cleared the flag releases the lock, so it must be acquired
        b.cbranch(still_set != 0, self.look, self.sleep)

    def _sleep(self) -> None:
        """Wait for the lock."""
        b = self.b
        b.position_at_end(self.sleep)
        lock = _at(b, self.worker, LOCK).get(PTR)
        b.call(external(self.module, "kinetree_acquire", I32, [PTR, I32]), [lock, I32(1)])
        b.branch(self.look)

    def _read_generation(self) -> tuple[Any, Any]:
        """The current job's number, and whether this worker has not seen it."""
        at = _at(self.b, self.pool, Pool.GENERATION)
        generation = self.b.load_atomic(at, "seq_cst", 8, typ=I64)
        return generation, generation != self.seen.get()

    def _read_stop(self) -> Any:
        """Whether workers are told to stop."""
        return self.b.load_atomic(_at(self.b, self.pool, Pool.STOP), "seq_cst", 8, typ=I64)


def _worker(b: Builder, pool: Any, number: Any) -> Any:
    at = Pool.WORKERS + number * Pool.WORKER_FIELDS
    return pool.of(I64).at(at)


def _pause(module: ir.Module, b: Builder, architecture: str) -> None:
    """Hint to the processor that this is a spin loop, where there is such a hint."""
    if architecture.startswith(("x86_64", "i686", "amd64")):
        pause = external(module, "llvm.x86.sse2.pause", VOID, [])
        b.call(pause, [])
    elif architecture.startswith(("aarch64", "arm64")):
        b.call(external(module, "llvm.aarch64.hint", VOID, [I32]), [I32(1)])


def define_over_problems(w: Writer, name: str, run: ir.Function) -> None:
    """Add the function name(plan, problems), which shares problems between threads one by one.

    Arguments:
        w: writes the module.
        name: of the function.
        run: solves problems begin to end: (plan, 4 ignored, begin, end, problems).
    """
    b = w.public(name, [PTR, I64], I32)
    plan, problems = b.arguments
    job = [plan] * ARGUMENT_COUNT
    shared = share(w.module, b, run, job, problems, integer(1))
    with b.if_then(shared >= I32(0)):
        b.ret(shared)
    b.ret(b.call(run, [*job, integer(0), problems, problems]))
