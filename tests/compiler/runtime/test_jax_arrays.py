"""JAX: kernels under every transformation, on the CPU through XLA's foreign-function interface."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.graph import interpret
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import BackendWarning, DtypeError, KinetreeError, ShapeError
from kinetree.scalar import LEAVES, OPERATIONS
from tests import host_cupy
from tests.compiler.graph.test_interpret import single
from tests.mixed_robots import ROBOTS, interpreted, random_state, share_of_kernels
from tests.tolerances import EXACT, SINGLE, relative_error

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
jax.config.update("jax_enable_x64", True)

TOLERANCE = 1e-12
FUSED = {"fma", "fms", "fnma", "fnms"}
"""Operations that only lowered programs have."""


@pytest.fixture(scope="module")
def pendulum():
    return kt.robots.double_pendulum()


@pytest.fixture(scope="module")
def state():
    return [jnp.asarray(x) for x in np.random.default_rng(0).standard_normal((3, 4, 2))]


def listed(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_takes_jax_arrays(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in share_of_kernels(name):
        arrays = random_state(robot, kernel, (3,))
        found = listed(kernel(*map(jnp.asarray, arrays)))
        expected = interpreted(kernel, arrays)
        for got, wanted in zip(found, expected, strict=True):
            assert isinstance(got, jax.Array)
            assert relative_error(got, wanted) < TOLERANCE, (quantity, method)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "integrate"])
def test_traced_operations_give_the_same(name, quantity):
    from kinetree.compiler.runtime.foreign.jax_arrays import traced

    robot = ROBOTS[name]()
    kernel = robot.kernel(quantity)
    arrays = random_state(robot, kernel, (3,))
    found = traced(kernel, *map(jnp.asarray, arrays))
    for got, wanted in zip(found, interpreted(kernel, arrays), strict=True):
        assert relative_error(got, wanted) < TOLERANCE


@pytest.mark.parametrize("op", sorted(OPERATIONS.keys() - LEAVES - FUSED))
def test_jax_gives_each_operation_its_value(op):
    from kinetree.compiler.runtime.foreign.jax_arrays import traced

    program = single(op)
    states = np.random.default_rng(0).uniform(0.1, 3.0, (9, *program.inputs[0].shape))
    (found,) = traced(Kernel(None, lambda: program), jnp.asarray(states))
    assert relative_error(found, interpret(program, states)[0]) < EXACT


@pytest.mark.slow
def test_jit_and_vmap_give_the_same_bits_as_numpy(pendulum, state):
    f = pendulum.inverse_dynamics
    expected = f(*map(np.asarray, state))
    for found in (f(*state), jax.jit(f)(*state), jax.vmap(f)(*state), jax.jit(jax.vmap(f))(*state)):
        assert (np.asarray(found) == expected).all()
    q, v, a = state
    mapped = jax.vmap(f, in_axes=(1, None, 0))(q.T, v[0], a)
    assert (np.asarray(mapped) == f(np.asarray(q), np.asarray(v[0]), np.asarray(a))).all()
    twice = jax.vmap(jax.vmap(f, (None, 0, None)), (0, None, 0))(q, v, a)
    assert twice.shape == (4, 4, 2)
    assert relative_error(twice[1, 2], f(*(np.asarray(x) for x in (q[1], v[2], a[1])))) < EXACT


def test_jacobians_are_the_kernels(pendulum, state):
    one = [x[0] for x in state]
    expected = pendulum.kernel("inverse_dynamics").jacobian()(*map(np.asarray, one))
    for transform in (jax.jacfwd, jax.jacrev):
        found = jax.jit(transform(pendulum.inverse_dynamics, argnums=(0, 1, 2)))(*one)
        for got, wanted in zip(found, expected, strict=True):
            assert relative_error(got, wanted) < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_second_derivatives_agree_in_every_order_of_differentiating(name):
    robot = ROBOTS[name]()
    kernel = robot.kernel("inverse_dynamics")
    q, v, a = map(jnp.asarray, random_state(robot, kernel))

    def energy(q):
        return jnp.sum(robot.inverse_dynamics(q, v, a) ** 2)

    expected = jax.jacfwd(jax.jacfwd(energy))(q)
    for outer, inner in [(jax.jacrev, jax.jacrev), (jax.jacfwd, jax.jacrev)]:
        assert relative_error(outer(inner(energy))(q), expected) < TOLERANCE
    h = 1e-6 * np.random.default_rng(1).standard_normal(robot.nq)
    slope = jax.grad(energy)
    difference = slope(q + h) - slope(q - h)
    assert relative_error(difference, 2.0 * expected @ h) < 1e-6


def test_arguments_that_all_states_share_get_one_gradient(pendulum, state):
    q, v, a = state

    def cost(v):
        return jnp.sum(pendulum.inverse_dynamics(q, v, a) ** 2)

    found = jax.grad(cost)(v[0])
    whole = jax.grad(cost)(jnp.broadcast_to(v[0], v.shape))
    assert found.shape == (2,)
    assert relative_error(found, whole.sum(axis=0)) < TOLERANCE


@pytest.mark.slow
def test_a_step_is_scanned_and_differentiated(pendulum, state):
    q, v, tau = (x[0] for x in state)

    def last(tau):
        def step(carry, _):
            return pendulum.step(*carry, tau, 0.01), None

        return jax.lax.scan(step, (q, v), None, length=5)[0][0].sum()

    h = 1e-6
    slope = (last(tau + jnp.array([h, 0.0])) - last(tau - jnp.array([h, 0.0]))) / (2 * h)
    assert abs(jax.jit(jax.grad(last))(tau)[0] - slope) < 1e-8


def test_single_precision_stays_single(pendulum, state):
    single = [x.astype(jnp.float32) for x in state]
    found = pendulum.inverse_dynamics(*single)
    assert found.dtype == jnp.float32
    assert relative_error(found, pendulum.inverse_dynamics(*state)) < SINGLE
    assert pendulum.inverse_dynamics(single[0], *state[1:]).dtype == jnp.float64


def test_what_is_wrong_is_said(pendulum, state):
    q, v, a = state
    with pytest.raises(ShapeError, match="last axis must be 2"):
        pendulum.inverse_dynamics(q[:, :1], v, a)
    with pytest.raises(ShapeError, match="do not broadcast"):
        pendulum.inverse_dynamics(q, v[:3], a)
    with pytest.raises(DtypeError, match="float64 is expected"):
        pendulum.inverse_dynamics(q.astype(jnp.float16), v, a)
    with pytest.raises(KinetreeError, match="out= is for NumPy"):
        pendulum.inverse_dynamics(q, v, a, out=np.zeros((4, 2)))


@pytest.mark.skipif(host_cupy.COMPILER is None, reason="no C++ compiler")
def test_on_a_gpu_xla_launches_kernels_on_its_buffers(monkeypatch, tmp_path):
    """Without a GPU: XLA for the CPU calls what it would call there, and launches run here."""
    from kinetree.compiler.runtime.foreign import jax_arrays, jax_targets
    from kinetree.compiler.runtime.gpu import xla_frame

    cupy = host_cupy.installed(monkeypatch, tmp_path)
    monkeypatch.setattr(xla_frame, "_stream", lambda frame: 77)
    monkeypatch.setattr(jax_arrays, "find_spec", lambda name: name)
    register = jax.ffi.register_ffi_target
    monkeypatch.setattr(
        jax.ffi,
        "register_ffi_target",
        lambda name, entry, platform: register(f"{name}_here", entry, platform="cpu"),
    )
    robot = kt.robots.double_pendulum()
    q, v, a = (jnp.asarray(x) for x in np.random.default_rng(0).standard_normal((3, 5, 2)))
    kernel = robot.kernel("inverse_dynamics")
    target = jax_targets.gpu_target(kernel, "double") + "_here"
    result = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct((5, 2), q.dtype))
    expected = robot.inverse_dynamics(q, v[0], a)
    found = jax.jit(result)(q, v[:1], a)
    assert relative_error(found, expected) < TOLERANCE
    assert cupy.streams == [77]
    monkeypatch.setattr(xla_frame, "_stream", no_stream)
    with pytest.raises(Exception, match="RuntimeError: XLA gives no stream"):
        jax.jit(lambda *x: result(*x) + 0.0)(q, v[:1], a).block_until_ready()


def no_stream(frame):
    raise RuntimeError("XLA gives no stream")


def test_without_cupy_a_program_for_a_gpu_is_made_of_jaxs_operations(pendulum, monkeypatch):
    from kinetree.compiler.runtime.foreign import jax_arrays

    monkeypatch.setattr(jax_arrays, "find_spec", lambda name: None)
    q = jnp.zeros((2, 2))
    with pytest.warns(BackendWarning, match="without CuPy"):
        text = jax.jit(pendulum.gravity_forces).trace(q).lower(lowering_platforms=("cuda",))
    assert "custom_call" not in text.as_text()


SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
import kinetree as kt
jax.config.update("jax_enable_x64", True)
robot = kt.robots.double_pendulum()
mesh = jax.make_mesh((2,), ("batch",))
whole = np.random.default_rng(0).standard_normal((3, 8, 2))
q, v, a = (jax.device_put(x, NamedSharding(mesh, PartitionSpec("batch"))) for x in whole)
f = jax.jit(jax.shard_map(
    robot.inverse_dynamics, mesh=mesh, in_specs=(PartitionSpec("batch"),) * 3,
    out_specs=PartitionSpec("batch"), check_vma=False,
))
tau = f(q, v, a)
assert len(tau.sharding.device_set) == 2
assert (np.asarray(tau) == robot.inverse_dynamics(*whole)).all()
assert (np.asarray(jax.jit(robot.inverse_dynamics)(q, v, a)) == np.asarray(tau)).all()
"""


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="this JAX has no jax.shard_map")
@pytest.mark.slow
def test_batches_are_sharded_over_devices():
    env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run([sys.executable, "-c", SHARDED], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_without_machine_code_operations_are_traced(tmp_path):
    code = (
        "import jax, numpy as np, jax.numpy as jnp, kinetree as kt\n"
        "robot = kt.robots.double_pendulum()\n"
        "x = np.ones((3, 2), np.float32)\n"
        "found = jax.jit(jax.grad(lambda q: robot.potential_energy(q).sum()))(jnp.asarray(x))\n"
        "assert np.allclose(found, robot.gravity_forces(x), atol=1e-4)\n"
    )
    env = {**os.environ, "KINETREE_BACKEND": "interpreter"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
