"""The GPU's back end with a stand-in for CuPy: calls, parts, loops over time and their refusals."""

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree import geometry
from kinetree.compiler.emit import cuda_loop, cuda_units
from kinetree.compiler.runtime import foreign
from kinetree.compiler.runtime.backend import HOST, backend, device_of
from kinetree.compiler.runtime.gpu import device_part, plan
from kinetree.compiler.runtime.gpu.device_kernel import Gpu, GpuKernel
from kinetree.errors import DeviceError, DtypeError, KinetreeError, ShapeError
from tests import host_cupy
from tests.compiler.runtime.test_time_loop import PROGRAM, RECORD, arguments, expected, same
from tests.mixed_robots import ROBOTS, interpreted, random_state
from tests.tolerances import relative_error

pytestmark = pytest.mark.skipif(host_cupy.COMPILER is None, reason="no C++ compiler")


@pytest.fixture
def cp(monkeypatch, tmp_path):
    yield host_cupy.installed(monkeypatch, tmp_path)
    foreign.IMPORTED.pop("cupy_arrays", None)  # which knows the stand-in
    sys.modules.pop(f"{foreign.__name__}.cupy_arrays", None)


@pytest.fixture(scope="module")
def robot():
    return kt.robots.double_pendulum()


def test_the_kind_of_array_chooses_the_back_end(cp):
    assert device_of(cp.zeros(3)) == "cuda:0"
    assert isinstance(backend("cuda:0"), Gpu)
    assert {device_of(x) for x in (np.zeros(3), [1.0], 2.0, None)} == {HOST}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "kinetic_energy"])
def test_a_kernel_on_a_gpu_equals_the_interpreter(cp, quantity, dtype):
    robot = ROBOTS["rider"]()
    kernel = robot.kernel(quantity)
    given = random_state(robot, kernel, (5,))
    found = kernel(*(cp.asarray(x, dtype) for x in given))
    assert type(found) is cp.ndarray
    assert found.dtype == dtype
    limit = 1e-12 if dtype == np.float64 else 1e-5
    assert relative_error(np.asarray(found), interpreted(kernel, given)[0]) < limit


def test_shared_arguments_single_states_columns_and_out(cp, robot):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 9, robot.nv))
    whole = robot.inverse_dynamics(q, v[0], a)
    on_gpu = [cp.asarray(x) for x in (q, v[0], a)]
    assert relative_error(np.asarray(robot.inverse_dynamics(*on_gpu)), whole) < 1e-12
    assert relative_error(np.asarray(robot.inverse_dynamics(on_gpu[0], v[0], a)), whole) < 1e-12
    one = robot.inverse_dynamics(*(cp.asarray(x[0]) for x in (q, v, a)))
    assert relative_error(np.asarray(one), whole[0]) < 1e-12
    out = cp.full((9, robot.nv), np.nan)
    assert robot.inverse_dynamics(*on_gpu, out=out) is out
    assert relative_error(np.asarray(out), whole) < 1e-12
    columns = [cp.asarray(np.ascontiguousarray(x.T)).T for x in (q, v, a)]
    found = robot.inverse_dynamics(*columns)
    assert relative_error(np.asarray(found), robot.inverse_dynamics(q, v, a)) < 1e-12


def test_what_cannot_be_computed_on_a_gpu_is_refused(cp, robot):
    q = cp.zeros((9, 2))
    with pytest.raises(ShapeError, match="q has shape"):
        robot.mass_matrix(cp.zeros((3, 5)))
    with pytest.raises(DtypeError, match="complex128"):
        robot.mass_matrix(cp.zeros((3, 2), complex))
    with pytest.raises(ShapeError, match="takes q, v, a"):
        robot.kernel("inverse_dynamics")(q)
    with pytest.raises(KinetreeError, match="C order"):
        robot.mass_matrix(q, out=cp.empty((9, 2, 2)).swapaxes(1, 2))
    with pytest.raises(ShapeError, match="2 arrays; 1 expected"):
        robot.mass_matrix(q, out=(cp.empty((9, 2, 2)), cp.empty((9, 2, 2))))


def test_a_bound_call_launches_on_what_is_in_the_arrays(cp, robot):
    q, v, a = (cp.asarray(x) for x in np.random.default_rng(0).normal(size=(3, 4, robot.nv)))
    kernel = robot.kernel("inverse_dynamics")
    call = kernel.bind(q, v, a)
    assert call() is call()
    q += 0.5
    assert (call() == kernel(q, v, a)).all()
    out = cp.zeros((4, robot.nv))
    assert kernel.bind(q, v, a, out=out)() is out
    assert (out == call()).all()
    with pytest.raises(DtypeError, match="CuPy's arrays, all float64 or all float32"):
        kernel.bind(q, v.astype(np.float32), a)
    with pytest.raises(ShapeError, match="takes q, v, a: 2 arrays were given"):
        kernel.bind(q, v)
    with pytest.raises(ShapeError, match="out for tau"):
        kernel.bind(q, v, a, out=cp.zeros((3, robot.nv)))


@pytest.mark.slow
def test_a_program_in_several_parts_equals_the_interpreter(cp, monkeypatch):
    monkeypatch.setattr(plan, "STRETCH", 64)
    monkeypatch.setattr(device_part, "LIMIT", {"float": 900, "double": 900})
    robot = kt.robots.arm()
    kernel = robot.kernel("forward_dynamics_derivatives")
    parts = GpuKernel(kernel.interface, kernel.program, "double")
    assert len(parts.parts) > 1
    assert parts.between
    given = random_state(robot, kernel, (150,))
    found = parts([cp.asarray(x) for x in given])
    for a, b in zip(found, interpreted(kernel, given), strict=True):
        assert relative_error(np.asarray(a), b) < 1e-12
    assert sum(x.calls for x in cp.launched) == 3 * len(parts.parts)  # stretches of 64 states


@pytest.mark.parametrize("systems", [1, 45])
def test_a_loop_over_time_is_one_launch_and_equals_that_of_the_host(cp, systems):
    from kinetree.compiler.runtime.kernel import Kernel
    from kinetree.compiler.runtime.time_loop import TimeLoop

    loop = TimeLoop(Kernel(None, lambda: PROGRAM), states=2, series=1)
    given = arguments(systems, 7)
    room = cp.full((systems, 4, 3), np.nan)
    on_gpu = [cp.asarray(x) for x in given]
    rolled = loop(on_gpu, systems, 7, 3, RECORD, out={"x": room[:, :-1]})
    same(rolled, *expected(given, 7, 3))
    assert np.isnan(room[:, -1]).all()
    assert (room[:, :-1] == rolled.records["x"]).all()
    assert [x.calls for x in cp.launched] == [1]
    shared = [*on_gpu[:2], on_gpu[2][0], on_gpu[3]]
    same(
        loop(shared, systems, 7, 3, RECORD),
        *expected([*given[:2], np.broadcast_to(given[2][0], (systems, 2)), given[3]], 7, 3),
    )
    back = loop(on_gpu, systems, 7, 3, RECORD, backwards=True)
    same(back, *expected(given, 7, 3, backwards=True))
    with pytest.raises(ShapeError, match=r"gain has shape \(5,\)"):
        loop([*on_gpu[:2], cp.zeros(5), on_gpu[3]], systems, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rollout_equals_that_of_the_host(cp, robot, dtype):
    servo = kt.control.pd(robot, kp=20.0, kd=0.5)
    q, v = np.random.default_rng(1).normal(size=(2, 6, robot.nv))
    p = servo.pack(target=np.zeros((6, robot.nq)))
    rollout = robot.rollout(servo, 12, 1e-3, record=["energy"], every=4)
    on_host = rollout(q, v, p)
    found = rollout(*(cp.asarray(x, dtype) for x in (q, v, p)))
    for name in on_host:
        if name != "times":
            assert type(found[name]) is cp.ndarray
            assert found[name].dtype == dtype
            limit = 1e-5 if dtype == np.float32 else 1e-12
            assert relative_error(np.asarray(found[name]), on_host[name]) < limit, name


@pytest.mark.parametrize("series", [False, True])
def test_gradients_of_rollouts_stay_on_the_device_and_equal_those_of_the_host(cp, robot, series):
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=(2, 5, robot.nv))
    p, weight = rng.normal(size=(5, 8, robot.nv)), rng.normal(size=(5, robot.nq))
    p = p if series else p[:, 0]
    rollout = robot.rollout(lambda t, q, v, p: p, 8, 1e-2, p_length=robot.nv, series=series)
    on_host = rollout.gradient(q, v, {"q": weight}, p)
    on_gpu = [cp.asarray(x) for x in (q, v, weight, p)]
    found = rollout.gradient(*on_gpu[:2], {"q": on_gpu[2]}, on_gpu[3])
    assert found.keys() == on_host.keys()
    for name, value in on_host.items():
        assert type(found[name]) is cp.ndarray
        assert relative_error(np.asarray(found[name]), value) < 1e-12, name
    single = [x.astype(np.float32) for x in on_gpu]
    found = rollout.gradient(*single[:2], {"q": single[2]}, single[3])
    assert found["p"].dtype == np.float32
    assert relative_error(np.asarray(found["p"]), on_host["p"]) < 1e-5


def above_ground(shape):
    """A free body of this shape that a plane can touch."""
    robot = kt.Assembly("body", "body", mass=1.0, inertia=(0.01,) * 3).robot("floating")
    return robot.collide(
        geometry.Collider("plane", None, geometry.Plane()),
        geometry.Collider("shape", "body", shape),
        geometry.ContactPair("plane", "shape", friction=0.5),
    )


def test_one_newton_step_is_enough_in_single_precision_where_no_contact_changes(cp):
    block = above_ground(geometry.Box((0.1, 0.2, 0.05)))
    rng = np.random.default_rng(0)
    q = np.zeros((20, 7))
    q[:, :3] = [0.0, 0.0, 0.0499] + rng.normal(size=(20, 3)) * [1.0, 1.0, 1e-5]
    q[:, 3:] = rng.normal(size=(20, 4)) * [1e-4, 1e-4, 1.0, 1.0]
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    v, tau = 1e-3 * rng.normal(size=(2, 20, 6))
    given = [np.asarray(x, np.float32) for x in (q, v, tau)]
    solver = kt.ContactSolver(tolerance=1e-4)
    a, residual = block.contact.dynamics(*map(cp.asarray, given), contact=solver)
    assert (np.asarray(residual) == 0.0).all()
    expected = block.contact.dynamics(*map(np.float64, given))[0]
    assert relative_error(np.asarray(a), expected) < 1e-3


@pytest.mark.parametrize("threads", [0, 10**6])
def test_robots_on_the_ground_are_compiled_in_units_and_move_as_on_the_host(
    cp, monkeypatch, threads
):
    monkeypatch.setattr(cuda_units, "PIECE", 60)
    monkeypatch.setattr(cuda_units, "UNIT", 200)
    monkeypatch.setattr(cuda_loop, "THREADS_TO_HIDE_LATENCY", threads)  # many: states beside them
    monkeypatch.setenv("KINETREE_CACHE", "")
    ball = above_ground(geometry.Sphere(0.1))
    q, v = ball.random(0, 5), np.random.default_rng(0).normal(size=(5, 6))
    q[:, 2] = np.linspace(0.08, 0.12, 5)
    rollout = ball.rollout(None, 4, 0.002)
    found = rollout(*map(cp.asarray, (q, v)))
    assert relative_error(np.asarray(found.q), rollout(q, v).q) < 1e-12
    assert cp.linked == 1
    assert cp.launched[-1].calls == 1


@pytest.mark.parametrize(("systems", "backwards"), [(1, True), (45, False)])
def test_a_long_program_goes_through_time_step_by_step(cp, monkeypatch, systems, backwards):
    from kinetree.compiler.runtime.kernel import Kernel
    from kinetree.compiler.runtime.time_loop import TimeLoop

    monkeypatch.setattr(device_part, "LOOP_LIMIT", {"double": 2})
    loop = TimeLoop(Kernel(None, lambda: PROGRAM), states=2, series=1)
    given = arguments(systems, 7)
    on_gpu = [cp.asarray(x) for x in given]
    rolled = loop(on_gpu, systems, 7, 3, RECORD, backwards=backwards)
    same(rolled, *expected(given, 7, 3, backwards=backwards))
    assert len(cp.launched) > 1
    assert len(cp.streams) == 7 * len(cp.launched)
    shared = [*on_gpu[:2], on_gpu[2][0], on_gpu[3]]
    whole = [*given[:2], np.broadcast_to(given[2][0], (systems, 2)), given[3]]
    out = cp.full((systems, 4, 3), np.nan)
    rolled = loop(shared, systems, 7, 3, RECORD, out={"x": out[:, :-1]}, backwards=backwards)
    same(rolled, *expected(whole, 7, 3, backwards=backwards))
    assert (out[:, :-1] == rolled.records["x"]).all()


def test_sensitivities_of_rollouts_equal_those_of_the_host(cp, robot):
    rng = np.random.default_rng(3)
    q, v, along = rng.normal(size=(3, 5, robot.nv))
    rollout = robot.rollout(None, 8, 1e-2)
    on_host = rollout.sensitivity(q, v, {"q0": along})
    found = rollout.sensitivity(cp.asarray(q), cp.asarray(v), {"q0": cp.asarray(along)})
    for a, b in zip(found, on_host, strict=True):
        assert type(a) is cp.ndarray
        assert relative_error(np.asarray(a), b) < 1e-12


def test_environments_that_diverge_are_blanked_where_they_are(cp, robot):
    q, v = cp.zeros((3, robot.nq)), cp.zeros((3, robot.nv))
    v[1] = 1e25
    rollout = robot.rollout(None, 20, 1.0)
    with pytest.warns(kt.errors.SimulationWarning, match="environment 1"):
        run = rollout(q, v)
    assert type(run["q"]) is cp.ndarray
    assert np.isnan(np.asarray(run["q"])[1, -1]).all()
    assert np.isfinite(np.asarray(run["q"])[[0, 2]]).all()


@pytest.mark.parametrize("states", [0, 1, 4, 11])
def test_arrays_of_the_host_are_streamed_through_the_device(cp, states):
    robot = kt.robots.double_pendulum()
    q, v = np.random.default_rng(0).normal(size=(2, states, robot.nv))
    kernel = robot.kernel("mass_and_coriolis")
    found = kernel.streamed(q, v[:1] if states else v, stretch=4)
    for a, b in zip(found, kernel(q, v[:1] if states else v), strict=True):
        assert type(a) is np.ndarray
        assert a.shape == b.shape
        assert not states or relative_error(a, b) < 1e-12
    with pytest.raises(KinetreeError, match="stretch=0"):
        kernel.streamed(q, v, stretch=0)


def test_what_captured_launches_need_between_them_is_kept(cp, monkeypatch):
    from kinetree.compiler.runtime.gpu import launch

    kept = []
    monkeypatch.setattr(launch, "KEPT", kept)
    monkeypatch.setattr(device_part, "LIMIT", {"double": 25})
    kernel = kt.robots.double_pendulum().kernel("forward_dynamics_derivatives")
    given = [cp.asarray(x) for x in np.random.default_rng(0).normal(size=(3, 5, 2))]
    kernel(*given)
    assert kept == []
    cp.capturing = True
    kernel(*given)
    assert len(kept) == 1


def test_arrays_of_other_devices_are_named(cp, robot, monkeypatch):
    q = cp.zeros((2, robot.nq))
    monkeypatch.setattr(cp.cuda.runtime, "getDevice", lambda: 1)
    with pytest.raises(DeviceError, match="q is on GPU 0, and the current device is GPU 1"):
        robot.gravity_forces(q)


def test_a_device_without_memory_is_named(cp):
    def nothing(*shape, **settings):
        raise MemoryError

    robot = kt.robots.double_pendulum()
    q = cp.zeros((2, robot.nq))
    cp.empty = nothing
    with pytest.raises(DeviceError, match="no memory left for 0 MB"):
        robot.gravity_forces(q)
