"""PyTorch: tensors in, tensors out, gradients of any order by compiled kernels."""

import types
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DtypeError, KinetreeError, ShapeError
from tests import host_cupy
from tests.mixed_robots import ROBOTS, interpreted, random_state, share_of_kernels
from tests.tolerances import relative_error

torch = pytest.importorskip("torch")

TOLERANCE = 1e-12
# what PyTorch says to itself when it imports its rules of forward differentiation
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


def tensors(robot, kernel, batch=(), grad=False):
    return [torch.tensor(x, requires_grad=grad) for x in random_state(robot, kernel, batch)]


@pytest.fixture(scope="module")
def pendulum():
    return kt.robots.double_pendulum()


@pytest.fixture
def state():
    torch.manual_seed(0)
    return [torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_kernel_takes_tensors(name):
    robot = ROBOTS[name]()
    for quantity, method, kernel in share_of_kernels(name):
        given = tensors(robot, kernel)
        found = kernel(*given)
        expected = interpreted(kernel, [x.numpy() for x in given])
        for got, wanted in zip(
            found if isinstance(found, tuple) else (found,), expected, strict=True
        ):
            assert isinstance(got, torch.Tensor)
            assert relative_error(got.numpy(), wanted) < TOLERANCE, (quantity, method)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "mass_and_coriolis"])
def test_first_and_second_derivatives_are_right(name, quantity):
    robot = ROBOTS[name]()
    kernel = robot.kernel(quantity)
    given = tensors(robot, kernel, (2,), grad=True)
    assert torch.autograd.gradcheck(kernel, given)
    assert torch.autograd.gradcheck(kernel, given, check_forward_ad=True, check_backward_ad=False)
    assert torch.autograd.gradgradcheck(kernel, given)


def test_forward_dynamics_of_a_floating_base_can_be_differentiated_twice():
    robot = ROBOTS["rider"]()
    given = tensors(robot, robot.kernel("forward_dynamics"), (2,), grad=True)
    assert torch.autograd.gradcheck(robot.forward_dynamics, given)
    assert torch.autograd.gradgradcheck(robot.forward_dynamics, given)


def test_gradients_of_broadcast_arguments_are_summed(pendulum, state):
    q, _, a = (x.detach() for x in state)
    v = torch.randn(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: pendulum.inverse_dynamics(q, v, a), [v])


def test_memory_is_shared_with_the_kernel(pendulum, state):
    q = state[0].detach()
    M = torch.zeros(3, 2, 2, dtype=torch.float64)
    assert pendulum.mass_matrix(q, out=M) is M
    assert (M.numpy() == pendulum.mass_matrix(q.numpy())).all()


def test_single_precision_stays_single(pendulum, state):
    single = [x.detach().float() for x in state]
    tau = pendulum.inverse_dynamics(*single)
    assert tau.dtype == torch.float32
    assert (tau.numpy() == pendulum.inverse_dynamics(*(x.numpy() for x in single))).all()
    q = single[0].clone().requires_grad_()
    pendulum.inverse_dynamics(q, *single[1:]).sum().backward()
    assert q.grad.dtype == torch.float32
    mixed = pendulum.inverse_dynamics(single[0], *state[1:])
    assert mixed.dtype == torch.float64


def test_numbers_and_numpy_arrays_may_stand_beside_tensors(pendulum, state):
    q, v, a = (x.detach() for x in state)
    found = pendulum.inverse_dynamics(q, v.numpy(), a.tolist())
    assert isinstance(found, torch.Tensor)
    q1, v1 = pendulum.step(q, v, a, 0.01)
    assert q1.shape == v1.shape == (3, 2)


def test_torch_func_transforms_kernels(pendulum, state):
    q, v, a = (x.detach() for x in state)

    def torque(q):
        return pendulum.inverse_dynamics(q, v[0], a[0])

    each = torch.func.vmap(torque)(q)
    assert torch.equal(each, torque(q))
    wanted = pendulum.kernel("inverse_dynamics").jacobian("q")(*(x.numpy()[0] for x in (q, v, a)))
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        assert relative_error(jacobian(torque)(q[0]).numpy(), wanted) < TOLERANCE
    gradients = torch.func.vmap(torch.func.grad(lambda q: torque(q).sum()))(q)
    assert relative_error(gradients[0].numpy(), wanted.sum(axis=0)) < TOLERANCE
    hessian = torch.func.hessian(lambda q: torque(q).sum())(q[0])
    assert relative_error(hessian.numpy(), hessian.numpy().T) < TOLERANCE
    mixed = torch.func.vmap(pendulum.inverse_dynamics, in_dims=(1, None, 0))
    assert torch.equal(mixed(q.T, v[0], a), pendulum.inverse_dynamics(q, v[0], a))


@pytest.mark.slow
def test_torch_compile_keeps_a_kernel_in_its_graph(pendulum, state):
    pendulum.inverse_dynamics(*state)  # a kernel is made before graphs are recorded

    def cost(q, v, a):
        return pendulum.inverse_dynamics(torch.sin(q), v, a).square().sum()

    compiled = torch.compile(cost, fullgraph=True, backend="aot_eager")
    compiled(*state).backward()
    found = [x.grad.clone() for x in state]
    expected = torch.autograd.grad(cost(*state), state)
    for got, wanted in zip(found, expected, strict=True):
        assert relative_error(got.numpy(), wanted.numpy()) < TOLERANCE


def test_what_is_wrong_is_said(pendulum, state):
    q, v, a = (x.detach() for x in state)
    with pytest.raises(ShapeError, match="last axis must be 2"):
        pendulum.inverse_dynamics(q[:, :1], v, a)
    with pytest.raises(DtypeError, match="float64 is expected"):
        pendulum.inverse_dynamics(q.half(), v, a)
    with pytest.raises(KinetreeError, match="cannot be differentiated"):
        pendulum.inverse_dynamics(*state, out=torch.zeros(3, 2, dtype=torch.float64))
    with pytest.raises(KinetreeError, match="on meta; a tensor on the CPU"):
        pendulum.inverse_dynamics(q.to("meta"), v, a)
    with pytest.raises(KinetreeError, match="v is on meta; a tensor on the CPU"):
        pendulum.inverse_dynamics(q, v.to("meta"), a)
    with pytest.raises(KinetreeError, match="out is on meta"):
        pendulum.inverse_dynamics(q, v, a, out=q.to("meta"))


def test_numpy_still_gets_numpy(pendulum, state):
    found = pendulum.inverse_dynamics(*(x.detach().numpy() for x in state))
    assert type(found) is np.ndarray


@pytest.mark.skipif(host_cupy.COMPILER is None, reason="no C++ compiler")
def test_on_a_gpu_kernels_write_into_pytorchs_memory_on_its_current_stream(
    state, monkeypatch, tmp_path
):
    """Without a GPU: what would be launched there runs on the CPU."""
    from kinetree.compiler.runtime.foreign import cuda_tensors, torch_arrays

    cupy = host_cupy.installed(monkeypatch, tmp_path)
    current = types.SimpleNamespace(cuda_stream=123)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda index: current)
    kernel = kt.robots.double_pendulum().kernel("mass_and_coriolis")
    q, v, _ = (x.detach() for x in state)
    columns = q.T.contiguous().T
    for given in ((q, v), (columns, v), (q, v[0]), (q, torch.stack([v, v])), (q[:0], v[:0])):
        made = torch_arrays._empty(kernel, given)
        cuda_tensors.launch(kernel, given, made)
        for got, wanted in zip(made, kernel(*given), strict=True):
            assert torch.allclose(got, wanted, rtol=1e-13, atol=1e-13)
    assert set(cupy.streams) == {123}


def test_numbers_and_lists_take_the_precision_of_the_tensors_beside_them(pendulum, state):
    q, v, a = (x.detach() for x in state)
    exact = pendulum.step(*(x.numpy() for x in (q, v, a)), 0.01)
    for found, expected in zip(pendulum.step(q, v, a, 0.01), exact, strict=True):
        assert np.array_equal(found.numpy(), expected)
    force = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    load = {pendulum.bodies[-1]: force}
    found = pendulum.inverse_dynamics(q, v, a, external=load)
    expected = pendulum.inverse_dynamics(*(x.numpy() for x in (q, v, a)), external=load)
    assert np.array_equal(found.numpy(), expected)
    single = [x.float() for x in (q, v, a)]
    assert pendulum.step(*single, 0.01)[0].dtype == torch.float32
    assert pendulum.step(*single, np.float64(0.01))[0].dtype == torch.float64


def test_arrays_of_any_layout_and_byte_order_may_stand_beside_tensors(pendulum, state):
    q, v, a = (x.detach() for x in state)
    expected = pendulum.inverse_dynamics(q, v, a)
    fixed = v.numpy().copy()
    fixed.flags.writeable = False
    for other in (v.numpy()[::-1][::-1], v.numpy()[::-1].copy()[::-1], v.numpy().astype(">f8")):
        assert torch.equal(pendulum.inverse_dynamics(q, other, a), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(pendulum.inverse_dynamics(q, fixed, a.tolist()), expected)
    negated = torch.complex(q, -v).conj().imag
    assert negated.is_neg()
    assert torch.equal(pendulum.inverse_dynamics(q, negated, a), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.to_sparse(), "v is a sparse_coo tensor; a dense one"),
        (lambda x: x.to_sparse_csr(), "v is a sparse_csr tensor; a dense one"),
        (lambda x: np.ma.masked_array(x.numpy()), "v is a masked array"),
        (lambda x: x.numpy() + 0j, "v has dtype complex128"),
        (lambda x: x.numpy().astype(str), "v has dtype <U"),
        (lambda x: list(x), "v is a list of tensors; torch.stack"),
        (lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8), "torch.qint8"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # PyTorch's, of sparse and quantised tensors
def test_what_is_no_dense_tensor_of_numbers_is_refused_by_name(pendulum, state, change, message):
    q, v, a = (x.detach() for x in state)
    with pytest.raises(DtypeError, match=message):
        pendulum.inverse_dynamics(q, change(v), a)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.numpy(), "out is a ndarray; a tensor is expected"),
        (lambda x: [x], "out is a list; a tensor is expected"),
        (lambda x: x.to_sparse(), "out is a sparse_coo tensor"),
        (lambda x: torch.complex(x, x).conj().imag, "out is a negated view"),
        (lambda x: x.int(), "out for .* has dtype int32"),
    ],
)
def test_out_must_be_a_dense_tensor(pendulum, state, change, message):
    q, v, a = (x.detach() for x in state)
    with pytest.raises(DtypeError, match=message):
        pendulum.inverse_dynamics(q, v, a, out=change(torch.zeros_like(q)))


def test_tensors_do_not_change_how_arrays_are_called(pendulum, state):
    call = kt.compiler.runtime.kernel.Kernel.call
    pendulum.inverse_dynamics(*(x.detach() for x in state))
    assert call.__module__ == "kinetree.compiler.runtime.kernel"
    assert kt.compiler.runtime.kernel.Kernel.call is call


def test_rollouts_of_tensors_with_gradients_are_differentiable():
    robot = ROBOTS["rider"]()
    rollout = robot.rollout(lambda t, q, v, p: p, 6, 0.05, p_length=robot.nv, every=2)
    q = torch.tensor(robot.random(0, 3), requires_grad=True)
    v, p = (torch.randn(3, robot.nv, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def path(*given):
        motion = rollout(*given)
        return motion.q, motion.v

    assert torch.autograd.gradcheck(path, (q, v, p))
