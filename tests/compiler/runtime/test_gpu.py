"""Kernels on a GPU, where there is one (make test-gpu): every quantity equals the interpreter."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import geometry
from kinetree.errors import DeviceError, KinetreeError, ShapeError
from kinetree.quantities import QUANTITIES
from tests.mixed_robots import ROBOTS, interpreted, kernel_of, random_state
from tests.tolerances import relative_error

cp = pytest.importorskip("cupy", reason="no CuPy")
try:
    cp.cuda.runtime.getDeviceCount()
except cp.cuda.runtime.CUDARuntimeError:
    pytest.skip("no GPU", allow_module_level=True)

SINGLE = 2e-3
"""What single precision may lose in the worst conditioned quantity of these robots."""


LONGEST = 20_000
"""Operations of a program at most: longer ones take minutes to compile."""


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", ROBOTS)
def test_every_quantity_equals_the_interpreter(name, quantity):
    robot = ROBOTS[name]()
    for method in QUANTITIES[quantity].methods:
        kernel = kernel_of(robot, quantity, method)
        if kernel is None or sum(kernel.program.operations.values()) > LONGEST:
            continue
        given = random_state(robot, kernel, (77,))
        expected = interpreted(kernel, given)
        loss = 100.0 if "dt" in dict(kernel.interface.inputs) else 1.0  # by dividing by 0.01 s
        for dtype, tolerance in ((np.float64, 1e-12 * loss), (np.float32, SINGLE * loss)):
            found = kernel(*(cp.asarray(x, dtype) for x in given))
            found = found if isinstance(found, tuple) else (found,)
            for a, b in zip(found, expected, strict=True):
                assert a.dtype == dtype
                assert relative_error(a.get(), b) < tolerance, (method, dtype)


@pytest.mark.parametrize("count", [1, 31, 127, 128, 129, 100_003])
def test_odd_batches_write_everything_and_nothing_else(count):
    robot = ROBOTS["gripper"]()
    kernel = robot.kernel("mass_matrix")
    (q,) = random_state(robot, kernel, (count,))
    room = cp.full((count + 2, robot.nv, robot.nv), cp.nan)
    robot.mass_matrix(cp.asarray(q), out=room[1:-1])
    assert cp.isnan(room[0]).all()
    assert cp.isnan(room[-1]).all()
    assert relative_error(room[1:-1].get(), robot.mass_matrix(q)) < 1e-12


def test_a_program_in_several_parts_equals_the_interpreter(monkeypatch):
    from kinetree.compiler.runtime.gpu import device_kernel, device_part, plan

    monkeypatch.setattr(plan, "STRETCH", 1 << 10)
    robot = kt.robots.arm()
    kernel = robot.kernel("forward_dynamics_derivatives")
    given = random_state(robot, kernel, (2500,))
    monkeypatch.setattr(device_part, "LIMIT", {"float": 900, "double": 900})
    parts = device_kernel.GpuKernel(kernel.interface, kernel.program, "double")
    assert len(parts.parts) > 3
    assert parts.between
    for a, b in zip(parts([cp.asarray(x) for x in given]), interpreted(kernel, given), strict=True):
        assert relative_error(a.get(), b) < 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rollout_equals_that_of_the_cpu(dtype):
    robot = kt.robots.arm()
    servo = kt.control.pd(robot, kp=20.0, kd=0.5)
    q, v = robot.random(0, 70), np.random.default_rng(1).normal(size=(70, robot.nv))
    p = servo.pack(target=robot.random(2, 70))
    rollout = robot.rollout(servo, 12, 1e-3, record=["energy"], every=4)
    expected = rollout(q, v, p)
    found = rollout(*(cp.asarray(x, dtype) for x in (q, v, p)))
    for name in expected:
        if name != "times":
            assert found[name].dtype == dtype
            error = relative_error(found[name].get(), expected[name])
            assert error < (1e-5 if dtype == np.float32 else 1e-12), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_robot_on_the_ground_moves_as_on_the_cpu_and_twice_the_same(dtype):
    robot = kt.robots.quadruped().on_ground()
    q = np.tile(robot.neutral(), (70, 1))
    q[:, 2] = np.linspace(0.25, 0.45, 70)  # some stand, some fall
    v = np.zeros((70, robot.nv))
    rollout = robot.rollout(None, 10, 0.002, every=10)
    expected = rollout(q, v).q
    given = [cp.asarray(x, dtype) for x in (q, v)]
    found, again = (rollout(*given).q.get() for _ in range(2))
    assert relative_error(found, expected) < (1e-4 if dtype == np.float32 else 1e-11)
    assert found.tobytes() == again.tobytes()


def test_contact_forces_and_derivatives_of_steps_equal_those_of_the_cpu():
    ball = kt.Assembly("ball", "ball", mass=1.0, inertia=(0.01,) * 3).robot("floating")
    ball = ball.collide(
        geometry.Collider("plane", None, geometry.Plane()),
        geometry.Collider("shape", "ball", geometry.Sphere(0.1)),
        geometry.ContactPair("plane", "shape", friction=0.5),
    )
    rng = np.random.default_rng(0)
    q = ball.random(0, 70)
    q[:, 2] = np.linspace(0.08, 0.11, 70)
    v, tau = rng.normal(size=(2, 70, 6))
    given = [cp.asarray(x) for x in (q, v, tau)]
    for method in (ball.contact.forces, ball.contact.dynamics, ball.linearize):
        dt = (0.002,) if method == ball.linearize else ()
        found, expected = method(*given, *dt), method(q, v, tau, *dt)
        found, expected = (x if isinstance(x, tuple) else (x,) for x in (found, expected))
        for a, b in zip(found, expected, strict=True):
            assert np.abs(a.get() - b).max() < 1e-9 * max(1.0, np.abs(b).max())


def test_columns_are_read_and_written_where_they_are():
    robot = kt.robots.arm()
    q, v, a = (np.random.default_rng(k).normal(size=(robot.nv, 1000)) for k in range(3))
    out = cp.full((robot.nv, 1000), cp.nan)
    robot.inverse_dynamics(*(cp.asarray(x).T for x in (q, v, a)), out=out.T)
    assert relative_error(out.get().T, robot.inverse_dynamics(q.T, v.T, a.T)) < 1e-12


def test_a_bound_call_launches_on_what_is_in_the_arrays():
    robot = kt.robots.arm()
    kernel = robot.kernel("inverse_dynamics")
    q, v, a = (cp.asarray(x) for x in np.random.default_rng(0).normal(size=(3, 1000, robot.nv)))
    call = kernel.bind(q, v, a)
    q += 0.5
    assert call() is call()
    assert (call() == kernel(q, v, a)).all()


def test_more_results_than_32_bits_count():
    robot = kt.robots.arm()
    q = cp.zeros((44_000_000, robot.nq), cp.float32)
    q[-1] = cp.asarray(robot.random(0), cp.float32)
    M = robot.mass_matrix(q)
    assert M.size > 2**31
    expected = robot.mass_matrix(q[-1].get().astype(float))
    assert relative_error(M[-1].get(), expected) < 1e-5
    assert bool((M[:-1] == M[0]).all())


def test_one_state_for_a_batch_and_wrong_shapes():
    robot = ROBOTS["rider"]()
    q, v, a = robot.random(0, 9), np.ones(robot.nv), np.ones((9, robot.nv))
    found = robot.inverse_dynamics(*map(cp.asarray, (q, v, a)))
    assert relative_error(found.get(), robot.inverse_dynamics(q, v, a)) < 1e-12
    with pytest.raises(ShapeError, match="q has shape"):
        robot.mass_matrix(cp.zeros((3, 2)))
    with pytest.raises(KinetreeError, match="C order"):
        robot.mass_matrix(cp.asarray(q), out=cp.empty((9, robot.nv, robot.nv)).swapaxes(1, 2))


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return module


def cuda_tensors(torch, robot, count=5):
    q = robot.random(0, count)
    v, a = np.random.default_rng(1).standard_normal((2, count, robot.nv))
    return [torch.tensor(x, device="cuda") for x in (q, v, a)]


@pytest.mark.parametrize("name", ROBOTS)
def test_tensors_on_a_gpu_stay_there(name, torch):
    robot = ROBOTS[name]()
    given = cuda_tensors(torch, robot)
    expected = robot.inverse_dynamics(*(x.cpu().numpy() for x in given))
    found = robot.inverse_dynamics(*given)
    assert found.is_cuda
    assert relative_error(found.cpu().numpy(), expected) < 1e-12
    single = robot.inverse_dynamics(*(x.float() for x in given))
    assert single.dtype == torch.float32
    assert relative_error(single.cpu().numpy(), expected) < SINGLE
    out = torch.full((7, robot.nv), torch.nan, dtype=torch.float64, device="cuda")
    robot.inverse_dynamics(*given, out=out[1:-1])
    assert torch.equal(out[1:-1], found)
    assert out[[0, -1]].isnan().all()


@pytest.mark.parametrize("name", ROBOTS)
def test_gradients_on_a_gpu_are_right(name, torch):
    robot = ROBOTS[name]()
    given = [x.requires_grad_() for x in cuda_tensors(torch, robot, 2)]
    assert torch.autograd.gradcheck(robot.inverse_dynamics, given)
    assert torch.autograd.gradgradcheck(robot.inverse_dynamics, given)


def test_kernels_run_on_pytorchs_current_stream(torch):
    robot = ROBOTS["gripper"]()
    q = torch.zeros(1_000_000, robot.nq, dtype=torch.float64, device="cuda")
    expected = robot.gravity_forces(np.ones(robot.nq))
    robot.gravity_forces(q)  # compiled
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(200_000_000)  # the kernel must wait for what comes before it
        tau = robot.gravity_forces(q.add_(1.0))
        total = tau.sub(torch.tensor(expected, device="cuda")).abs().max()
    torch.cuda.synchronize()
    assert float(total) < 1e-9


def test_numbers_go_where_the_tensors_are_and_other_devices_are_refused(torch):
    robot = ROBOTS["gripper"]()
    q, v, a = cuda_tensors(torch, robot)
    found = robot.inverse_dynamics(q, v.cpu().numpy(), np.zeros(robot.nv))
    assert torch.equal(found, robot.inverse_dynamics(q, v, torch.zeros_like(a)))
    with pytest.raises(KinetreeError, match="all tensors must be on one device"):
        robot.inverse_dynamics(q, v.cpu(), a)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_torch_func_and_compile_take_tensors_on_a_gpu(torch):
    robot = ROBOTS["turret"]()
    q = cuda_tensors(torch, robot)[0]
    J = torch.func.vmap(torch.func.jacrev(robot.gravity_forces))(q)
    forward = torch.func.vmap(torch.func.jacfwd(robot.gravity_forces))(q)
    assert relative_error(J.cpu().numpy(), forward.cpu().numpy()) < 1e-12
    compiled = torch.compile(
        lambda q: robot.gravity_forces(torch.sin(q)), fullgraph=True, backend="aot_eager"
    )
    assert torch.allclose(compiled(q), robot.gravity_forces(torch.sin(q)))


@pytest.fixture
def jax(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # memory for CuPy, too
    module = pytest.importorskip("jax")
    module.config.update("jax_enable_x64", True)
    if module.default_backend() != "gpu":
        pytest.skip("this JAX has no CUDA")
    return module


@pytest.mark.parametrize("name", ROBOTS)
def test_jax_arrays_on_a_gpu_stay_there(name, jax):
    robot = ROBOTS[name]()
    q = robot.random(0, 5)
    v, a = np.random.default_rng(1).standard_normal((2, 5, robot.nv))
    given = [jax.numpy.asarray(x) for x in (q, v, a)]
    found = robot.inverse_dynamics(*given)
    assert {d.platform for d in found.devices()} == {"gpu"}
    assert relative_error(np.asarray(found), robot.inverse_dynamics(q, v, a)) < 1e-12

    def weighed(q):
        return (robot.inverse_dynamics(q, *given[1:]) * given[2]).sum()

    gradient = robot.kernel("inverse_dynamics").ambient().vjp("q")
    expected = gradient(q, v, a, a)
    assert relative_error(np.asarray(jax.grad(weighed)(given[0])), expected) < 1e-11


def test_jit_grad_vmap_and_scan_launch_kernels_on_a_gpu(jax):
    robot = ROBOTS["gripper"]()
    q, v = robot.random(0, 5), np.random.default_rng(1).standard_normal((5, robot.nv))
    tau = np.random.default_rng(2).standard_normal((20, 5, robot.nv))
    text = jax.jit(robot.gravity_forces).lower(jax.numpy.asarray(q)).as_text()
    assert "_cuda" in text
    found = jax.jit(jax.vmap(robot.gravity_forces))(jax.numpy.asarray(q))
    assert relative_error(np.asarray(found), robot.gravity_forces(q)) < 1e-12

    def final(tau, q, v):
        def step(state, tau):
            return robot.step(*state, tau, 0.01), None

        return jax.lax.scan(step, (q, v), tau)[0][0].sum()

    value, gradient = jax.jit(jax.value_and_grad(final))(*map(jax.numpy.asarray, (tau, q, v)))
    rollout = robot.rollout(lambda t, q, v, p: p, 20, 0.01, p_length=robot.nv, series=True)
    series = np.swapaxes(tau, 0, 1)
    assert abs(float(value) - rollout(q, v, series).q[:, -1].sum()) < 1e-10
    expected = rollout.gradient(q, v, {"q": np.ones((5, robot.nq))}, series)["p"]
    assert relative_error(np.swapaxes(np.asarray(gradient), 0, 1), expected) < 1e-10


def test_long_programs_and_shards_run_inside_of_jit_on_a_gpu(jax):
    robot = kt.robots.quadruped()
    q = robot.random(0, 300)
    v, tau = np.random.default_rng(1).standard_normal((2, 300, robot.nv))
    kernel = robot.kernel("forward_dynamics_derivatives")
    given = [jax.numpy.asarray(x) for x in (q, v, tau)]
    P, mesh = jax.sharding.PartitionSpec, jax.make_mesh((1,), ("batch",))
    split = jax.sharding.NamedSharding(mesh, P("batch"))
    given = [jax.device_put(x, split) for x in given]
    sharded = jax.shard_map(
        lambda *x: kernel(*x), mesh=mesh, in_specs=(P("batch"),) * 3, out_specs=P("batch")
    )
    for function in (lambda *x: kernel(*x), sharded):
        for a, b in zip(jax.jit(function)(*given), kernel(q, v, tau), strict=True):
            assert relative_error(np.asarray(a), b) < 1e-10


@pytest.mark.parametrize("series", [False, True])
def test_gradients_of_rollouts_equal_those_of_the_cpu(series):
    robot = kt.robots.arm()
    q, v = robot.random(0, 70), np.random.default_rng(1).normal(size=(70, robot.nv))
    p = np.random.default_rng(2).normal(size=(70, 30, robot.nv))
    p = p if series else p[:, 0]
    rollout = robot.rollout(lambda t, q, v, p: p, 30, 1e-3, p_length=robot.nv, series=series)
    weight = np.random.default_rng(3).normal(size=(70, robot.nq))
    expected = rollout.gradient(q, v, {"q": weight}, p)
    given = [cp.asarray(x) for x in (q, v, weight, p)]
    found = rollout.gradient(*given[:2], {"q": given[2]}, given[3])
    for name, value in expected.items():
        assert relative_error(found[name].get(), value) < 1e-10, name
    along = np.random.default_rng(4).normal(size=(70, robot.nv))
    if not series:
        for a, b in zip(
            rollout.sensitivity(*given[:2], {"v0": cp.asarray(along)}, given[3]),
            rollout.sensitivity(q, v, {"v0": along}, p),
            strict=True,
        ):
            assert relative_error(a.get(), b) < 1e-10


def test_autograd_goes_through_rollouts_without_leaving_the_gpu(torch):
    robot = kt.robots.arm()
    q, v = robot.random(0, 9), np.random.default_rng(1).normal(size=(9, robot.nv))
    p = np.random.default_rng(2).normal(size=(9, 30, robot.nv))
    rollout = robot.rollout(lambda t, q, v, p: p, 30, 1e-3, p_length=robot.nv, series=True)
    given = [torch.tensor(x, device="cuda", requires_grad=True) for x in (q, v, p)]
    motion = rollout(*given)
    assert motion.q.is_cuda
    motion.q[:, -1].sum().backward()
    expected = rollout.gradient(q, v, {"q": np.ones((9, robot.nq))}, p)
    for t, name in zip(given, ("q0", "v0", "p"), strict=True):
        assert t.grad.is_cuda
        assert relative_error(t.grad.cpu().numpy(), expected[name]) < 1e-10


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics_derivatives"])
def test_calls_can_be_captured_in_cupys_graphs(quantity):
    robot = kt.robots.quadruped()
    kernel = robot.kernel(quantity)
    given = random_state(robot, kernel, (1000,))
    arrays = [cp.asarray(x) for x in given]
    first = kernel(*arrays)
    out = tuple(map(cp.zeros_like, first)) if isinstance(first, tuple) else cp.zeros_like(first)
    stream = cp.cuda.Stream(non_blocking=True)
    bound = kernel.bind(*arrays)
    with stream:
        kernel(*arrays, out=out)
        stream.begin_capture()
        kernel(*arrays, out=out)
        bound()
        graph = stream.end_capture()
    other = [x[::-1].copy() for x in given]
    for x, new in zip(arrays, other, strict=True):
        x.set(new)
    cp.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    results = out if isinstance(out, tuple) else (out,)
    again = bound()
    again = again if isinstance(again, tuple) else (again,)
    for a, c, b in zip(results, again, interpreted(kernel, other), strict=True):
        assert relative_error(a.get(), b) < 1e-10
        assert bool((a == c).all())


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics_derivatives"])
def test_calls_can_be_captured_in_pytorchs_graphs(torch, quantity):
    robot = kt.robots.quadruped()
    kernel = robot.kernel(quantity)
    given = random_state(robot, kernel, (1000,))
    tensors = [torch.tensor(x, device="cuda") for x in given]
    kernel(*tensors)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = kernel(*tensors)
    other = [x[::-1].copy() for x in given]
    for t, new in zip(tensors, other, strict=True):
        t.copy_(torch.tensor(new))
    graph.replay()
    torch.cuda.synchronize()
    results = found if isinstance(found, tuple) else (found,)
    for a, b in zip(results, interpreted(kernel, other), strict=True):
        assert relative_error(a.cpu().numpy(), b) < 1e-10


def test_a_gpu_without_memory_is_named():
    robot = kt.robots.arm()
    q = cp.broadcast_to(cp.zeros(robot.nq), (2_000_000_000, robot.nq))
    with pytest.raises(DeviceError, match="no memory left"):
        robot.mass_matrix(q)
