"""A pool of threads for long batches, as LLVM IR: jobs of states, taken in stretches.

    i32 kinetree_worker(i64 *pool, i64 number)    what each worker runs until it is told to stop

The caller of a kernel publishes a job, wakes the workers that sleep, and takes stretches of states
itself until none are left; workers that arrive in time take some of them. The caller waits only
for workers that have begun, never for one that is still waking up. A second caller who finds the
pool busy works alone.

A job opens when CLOSED is cleared from PARTICIPANTS. A worker enters by adding one, and leaves
again at once if it finds the job closed; the caller closes the job and waits until all have left.

An idle worker looks for a new job for a short while, then sleeps on its lock.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from llvmlite import ir

from kinetree.native.ir import (
    I32,
    I64,
    PTR,
    VOID,
    element,
    entry_alloca,
    external,
    function,
    integer,
    load,
    loop,
    store,
)
from kinetree.native.layout import SHARE

SPINS = 4000  # looks for work before a worker sleeps: about 0.1 ms
BLOCKS_WORTH_SHARING = 8
SHARES = 3  # a thread takes one part in so many of its share of what is left
CLOSED = 1 << 32


class Pool(IntEnum):
    """The fields of the pool: 64-bit integers, those written by several threads a line apart."""

    THREADS = 0  # how many may work, the caller included
    STOP = 1
    BUSY = 8  # whether a job holds the pool
    GENERATION = 16  # counts the jobs
    PARTICIPANTS = 24
    NEXT = 32  # the first state that nobody has taken
    RUN = 40  # what to run on a block, and its arguments
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
    """How many integers a pool takes."""
    return Pool.WORKERS + workers * Pool.WORKER_FIELDS


def define_pool(module: ir.Module, architecture: str) -> None:
    """Add what the callers and the workers run."""
    pool = ir.GlobalVariable(module, PTR, "kinetree_pool")
    pool.initializer = ir.Constant(PTR, None)
    f, b = function(module, "kinetree_set_pool", VOID, [PTR])
    b.store(f.args[0], pool)
    b.ret_void()
    _define_take_blocks(module)
    _define_share(module, architecture)
    _define_worker(module, architecture)


def share(
    module: ir.Module, b: ir.IRBuilder, run: Any, arguments: list[Any], n: Any, block: Any
) -> Any:
    """Call the pool with a job: its status, or -1 if the caller had better work alone."""
    return b.call(external(module, SHARE, I32, _SHARE_TYPES), [run, *arguments, n, block])


def _at(b: ir.IRBuilder, pool: Any, field: int) -> Any:
    return element(b, I64, pool, int(field))


def _define_take_blocks(module: ir.Module) -> None:
    """Take stretches of the current job until none are left."""
    f, b = function(module, "kinetree_take_blocks", VOID, [PTR], internal=True)
    (pool,) = f.args
    run = b.load(_at(b, pool, Pool.RUN), typ=_RUN_TYPE.as_pointer())
    arguments = [b.load(_at(b, pool, Pool.ARGUMENTS + k), typ=PTR) for k in range(ARGUMENT_COUNT)]
    n, block = load(b, I64, pool, Pool.STATES), load(b, I64, pool, Pool.BLOCK)
    threads = b.load_atomic(_at(b, pool, Pool.THREADS), "monotonic", 8, typ=I64)
    again, some, work, done = (b.append_basic_block(x) for x in ("again", "some", "work", "done"))
    b.branch(again)
    b.position_at_end(again)
    begin = b.load_atomic(_at(b, pool, Pool.NEXT), "monotonic", 8, typ=I64)
    b.cbranch(b.icmp_signed("<", begin, n), some, done)
    # a share of what is left, in whole blocks: long stretches first, short ones to end together
    b.position_at_end(some)
    part = b.udiv(b.sub(n, begin), b.mul(threads, integer(SHARES)))
    part = b.sub(part, b.urem(part, block))
    part = b.select(b.icmp_signed(">", part, block), part, block)
    end = b.add(begin, part)
    claim = b.cmpxchg(_at(b, pool, Pool.NEXT), begin, end, "monotonic", "monotonic")
    b.cbranch(b.extract_value(claim, 1), work, again)
    b.position_at_end(work)
    end = b.select(b.icmp_signed("<", end, n), end, n)
    status = b.call(run, [*arguments, begin, end, n])
    b.atomic_rmw("or", _at(b, pool, Pool.FAILED), b.zext(status, I64), "monotonic")
    b.branch(again)
    b.position_at_end(done)
    b.ret_void()


def _define_share(module: ir.Module, architecture: str) -> None:
    f, b = function(module, SHARE, I32, _SHARE_TYPES)
    run, *arguments, n, block = f.args
    alone = b.append_basic_block("alone")

    def unless(condition: Any) -> None:
        """Work alone unless a condition holds."""
        go_on = b.append_basic_block("go_on")
        b.cbranch(condition, go_on, alone)
        b.position_at_end(go_on)

    pool = b.load(module.globals["kinetree_pool"], typ=PTR)
    unless(b.icmp_unsigned("!=", b.ptrtoint(pool, I64), integer(0)))
    threads = b.load_atomic(_at(b, pool, Pool.THREADS), "monotonic", 8, typ=I64)
    unless(b.icmp_signed(">", threads, integer(1)))
    unless(b.icmp_signed(">=", n, b.mul(block, integer(BLOCKS_WORTH_SHARING))))
    claim = b.cmpxchg(_at(b, pool, Pool.BUSY), integer(0), integer(1), "acquire", "monotonic")
    unless(b.extract_value(claim, 1))

    b.store(run, _at(b, pool, Pool.RUN))
    for k, argument in enumerate(arguments):
        b.store(argument, _at(b, pool, Pool.ARGUMENTS + k))
    store(b, n, pool, Pool.STATES)
    store(b, block, pool, Pool.BLOCK)
    store(b, integer(0), pool, Pool.FAILED)
    b.atomic_rmw("xchg", _at(b, pool, Pool.NEXT), integer(0), "monotonic")
    b.atomic_rmw("and", _at(b, pool, Pool.PARTICIPANTS), integer(~CLOSED), "seq_cst")
    b.atomic_rmw("add", _at(b, pool, Pool.GENERATION), integer(1), "seq_cst")
    with loop(b, 0, b.sub(threads, integer(1))) as w:
        worker = _worker(b, pool, w)
        asleep = b.atomic_rmw("xchg", _at(b, worker, ASLEEP), integer(0), "seq_cst")
        with b.if_then(b.icmp_signed("!=", asleep, integer(0))):
            lock = b.load(_at(b, worker, LOCK), typ=PTR)
            b.call(external(module, "kinetree_release", VOID, [PTR]), [lock])
    b.call(module.globals["kinetree_take_blocks"], [pool])

    b.atomic_rmw("or", _at(b, pool, Pool.PARTICIPANTS), integer(CLOSED), "seq_cst")
    wait, left = b.append_basic_block("wait"), b.append_basic_block("left")
    b.branch(wait)
    b.position_at_end(wait)
    _pause(module, b, architecture)
    inside = b.load_atomic(_at(b, pool, Pool.PARTICIPANTS), "acquire", 8, typ=I64)
    b.cbranch(b.icmp_signed("==", inside, integer(CLOSED)), left, wait)
    b.position_at_end(left)
    failed = b.trunc(load(b, I64, pool, Pool.FAILED), I32)
    b.atomic_rmw("xchg", _at(b, pool, Pool.BUSY), integer(0), "release")
    b.ret(failed)
    b.position_at_end(alone)
    b.ret(I32(-1))


def _define_worker(module: ir.Module, architecture: str) -> None:
    f, b = function(module, "kinetree_worker", VOID, [PTR, I64])
    pool, number = f.args
    worker = _worker(b, pool, number)
    seen, spins = entry_alloca(b, I64), entry_alloca(b, I64)
    b.store(integer(0), seen)
    b.store(integer(0), spins)
    look, stop, idle, enter, nap, sleep = (
        b.append_basic_block(x) for x in ("look", "stop", "idle", "enter", "nap", "sleep")
    )

    def is_news() -> tuple[Any, Any]:
        """The current job's number, and whether this worker has not seen it."""
        generation = b.load_atomic(_at(b, pool, Pool.GENERATION), "seq_cst", 8, typ=I64)
        return generation, b.icmp_signed("!=", generation, b.load(seen, typ=I64))

    b.branch(look)
    b.position_at_end(look)
    generation, news = is_news()
    told = b.load_atomic(_at(b, pool, Pool.STOP), "seq_cst", 8, typ=I64)
    go_on = b.append_basic_block("go_on")
    b.cbranch(b.icmp_signed("!=", told, integer(0)), stop, go_on)
    b.position_at_end(go_on)
    b.cbranch(news, enter, idle)

    b.position_at_end(enter)
    b.store(generation, seen)
    b.store(integer(0), spins)
    threads = b.load_atomic(_at(b, pool, Pool.THREADS), "monotonic", 8, typ=I64)
    with b.if_then(b.icmp_signed("<", b.add(number, integer(1)), threads)):
        before = b.atomic_rmw("add", _at(b, pool, Pool.PARTICIPANTS), integer(1), "seq_cst")
        with b.if_then(b.icmp_signed("==", b.and_(before, integer(CLOSED)), integer(0))):
            b.call(module.globals["kinetree_take_blocks"], [pool])
        b.atomic_rmw("sub", _at(b, pool, Pool.PARTICIPANTS), integer(1), "seq_cst")
    b.branch(look)

    b.position_at_end(idle)
    _pause(module, b, architecture)
    count = b.add(b.load(spins, typ=I64), integer(1))
    b.store(count, spins)
    b.cbranch(b.icmp_signed("<", count, integer(SPINS)), look, nap)

    # say that we sleep, then look once more: whoever published since has seen it or is seen
    b.position_at_end(nap)
    b.store(integer(0), spins)
    b.atomic_rmw("xchg", _at(b, worker, ASLEEP), integer(1), "seq_cst")
    _, news = is_news()
    told = b.load_atomic(_at(b, pool, Pool.STOP), "seq_cst", 8, typ=I64)
    awake = b.or_(news, b.icmp_signed("!=", told, integer(0)))
    back = b.append_basic_block("back")
    b.cbranch(awake, back, sleep)
    b.position_at_end(back)
    still = b.atomic_rmw("xchg", _at(b, worker, ASLEEP), integer(0), "seq_cst")
    # if somebody has taken the flag, he releases the lock: take that up
    b.cbranch(b.icmp_signed("!=", still, integer(0)), look, sleep)

    b.position_at_end(sleep)
    lock = b.load(_at(b, worker, LOCK), typ=PTR)
    b.call(external(module, "kinetree_acquire", I32, [PTR, I32]), [lock, I32(1)])
    b.branch(look)

    b.position_at_end(stop)
    b.ret_void()


def _worker(b: ir.IRBuilder, pool: Any, number: Any) -> Any:
    at = b.add(integer(Pool.WORKERS), b.mul(number, integer(Pool.WORKER_FIELDS)))
    return element(b, I64, pool, at)


def _pause(module: ir.Module, b: ir.IRBuilder, architecture: str) -> None:
    """Tell the processor that this is a waiting loop, where it can be told."""
    if architecture.startswith(("x86_64", "i686", "amd64")):
        pause = external(module, "llvm.x86.sse2.pause", VOID, [])
        b.call(pause, [])
    elif architecture.startswith(("aarch64", "arm64")):
        b.call(external(module, "llvm.aarch64.hint", VOID, [I32]), [I32(1)])
