"""The code around a body of machine code on the CPU, written as LLVM IR: loops, memory, threads.

loop.py             the loop that NumPy calls, and the driver of every kernel
tiles.py            the loop over the tiles of a batch
description.py      a kernel's description as generated code reads it
memory.py           memory for the intermediate results of a call
transpose.py        rows of states to lanes side by side, and back
packing.py          states whose elements do not lie in C order
deferred.py         non-temporal stores of large results, while the next tile is computed
time_loop.py        a body in a loop over time
riccati.py          the backward pass of optimal control;  matrices.py  the routines it is made of;
                    lane_riccati.py  the same for many small problems, one in each lane;
                    riccati_euler.py  the shorter expansion of both for Euler's method;
                    riccati_room.py  the memory of both
band_sums.py        second derivatives of sums over samples of splines, as band matrices
band_solver.py      many small systems with band matrices
thread_pool.py      a batch shared between threads
fast_call.py        the call of one state, without NumPy's machinery
bound_call.py       calls on fixed memory, and functions for other compiled code to call
xla_call.py         the handler through which XLA, and so JAX, calls a kernel
functions.py        sines and the like for many arguments at once
ir.py               IR values with operators;  layout.py  the interface of generated code
"""
