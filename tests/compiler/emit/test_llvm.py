"""Bodies in LLVM IR: compiled, they compute what the interpreter says, however they are cut."""

import itertools
import math
import random

import llvmlite.binding as llvm
import numpy as np
import pytest

from kinetree import robots
from kinetree.compiler.emit.llvm import Target, emit_body
from kinetree.compiler.graph import interpret, trace, verify
from kinetree.compiler.graph.fuse import fuse
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime.cpu.bodies import style
from kinetree.compiler.runtime.cpu.host import ATTRIBUTES, Host, host
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.program_key import ProgramKey
from kinetree.scalar import (
    ALIASES,
    LEAVES,
    OPERATIONS,
    atan2,
    cos,
    exp,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
)
from tests.tolerances import EXACT, SINGLE, relative_error

STATES = 40  # every remainder of every width, and whole vectors of it
TYPES = {"double": np.float64, "float": np.float32}
TOLERANCES = {"double": EXACT, "float": SINGLE}
FUSED = {"fma", "fms", "fnma", "fnms"}

both_types = pytest.mark.parametrize("kind", TYPES)
every_chunk_size = pytest.mark.parametrize("chunk_size", [1, 3, 10, 1500])


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Machine code is made here and now, of the chunk size that the test asks for."""
    monkeypatch.setenv("KINETREE_CACHE", "")


@pytest.fixture
def chunks_of(monkeypatch):
    return lambda size: monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies.CHUNK", size)


def everything(x, y):
    """Every operation that a trace can make; functions of functions; results of every sort."""
    a, b, c = x
    d, e, f, g = y
    s = sin(a + d * e)
    t = cos(a + d * e) / (f * f + 1.0)
    angle = atan2(s - t * g, sqrt(c * c + 0.5))
    nested = cos(angle * b - c) - sin(angle + c)
    early = less(a, d)
    chosen = select(early, nested, -t)
    late = select(early, sin(chosen), select(less(nested, 0.25), g - s * t, s * t))
    return {
        "vector": [s, t, angle, nested, chosen, late, -late, -(s * g + b)],
        "matrix": [[a, g, 1.5], [s, s, -2.0]],
        "scalar": late * chosen + e,
        "arguments": [f, f, b],
        "numbers": [0.0, 3.25],
        "routines": [s, atan2(a, b), cos(e), cos(e)],
        "more": [exp(-s), log(c * c + 1.0), tanh(g), abs(late), minimum(s, t), maximum(s, a)],
        "truths": [
            select(less_equal(s, t), a, b),
            select(logical_and(early, less(s, t)), s, t),
            select(logical_or(early, logical_not(less_equal(t, b))), s, t),
        ],
    }


def everything_program():
    return trace("everything", everything, {"x": (3,), "y": (2, 2)})


def random_program(seed, length=150):
    """Steps that keep values within [-1, 1] and errors from growing, over all operations."""
    steps = (
        lambda a, b, c: 0.5 * (a + b),
        lambda a, b, c: 0.5 * (a - b),
        lambda a, b, c: a * b,
        lambda a, b, c: 0.5 * (a * b + c),
        lambda a, b, c: 0.5 * (a * b - b * c),
        lambda a, b, c: -a,
        lambda a, b, c: a / (b * b + 1.0),
        lambda a, b, c: 0.5 * sqrt(a * a + 0.5),
        lambda a, b, c: sin(a),
        lambda a, b, c: cos(a),
        lambda a, b, c: 0.25 * atan2(a, b * b + 0.5),
        lambda a, b, c: 0.5 * select(less(a, b), b - a, 0.0) * c,
    )
    rng = random.Random(seed)

    def function(x):
        values = list(x)
        for _ in range(length):
            recent = values if rng.random() < 0.3 else values[-8:]
            values.append(rng.choice(steps)(*rng.choices(recent, k=3)))
        return {"y": [*values[-6:], *rng.choices(values, k=6)]}

    return trace(f"random{seed}", function, {"x": (5,)})


def compiled(program, label):
    """A kernel of a program, known under a name of its own."""
    return Kernel(ProgramKey(label, ("test_llvm", label)), lambda: program)


def random_states(program, kind, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.0, 1.0, (STATES, *i.shape)).astype(TYPES[kind]) for i in program.inputs]


def call(kernel, *arrays):
    """The results as a tuple, whatever their number."""
    results = kernel(*arrays)
    return results if isinstance(results, tuple) else (results,)


def assert_equals_interpreter(program, kernel, kind, tolerance=None, counts=range(1, STATES + 1)):
    states = random_states(program, kind)
    expected = interpret(program, *(s.astype(np.float64) for s in states))
    expected = [
        np.broadcast_to(e, (STATES, *o.shape))  # a number has no batch axes
        for e, o in zip(expected, program.outputs, strict=True)
    ]
    whole = call(kernel, *states)
    for result, wanted in zip(whole, expected, strict=True):
        assert result.dtype == TYPES[kind]
        if tolerance == 0:
            np.testing.assert_array_equal(result, wanted)
        else:
            assert relative_error(result, wanted) <= (tolerance or TOLERANCES[kind])
    for n in counts:
        for result, wanted in zip(call(kernel, *(s[:n] for s in states)), whole, strict=True):
            np.testing.assert_array_equal(result, wanted[:n])
    one = call(kernel, *(s[-1] for s in states))
    for result, wanted in zip(one, whole, strict=True):
        np.testing.assert_array_equal(result, wanted[-1])


# the interpreter's values


def test_the_program_of_everything_has_every_operation():
    program = everything_program()
    assert set(program.operations) == set(OPERATIONS) - LEAVES - ALIASES - FUSED
    assert set(fuse(program).operations) >= FUSED


@both_types
@every_chunk_size
def test_every_operation_gives_the_interpreters_values(chunk_size, kind, chunks_of):
    chunks_of(chunk_size)
    program = everything_program()
    kernel = compiled(program, f"everything {chunk_size}")
    assert_equals_interpreter(program, kernel, kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("chunk_size", [1, 3, 10])
def test_random_programs_give_the_interpreters_values(chunk_size, seed, chunks_of):
    chunks_of(chunk_size)
    program = verify(random_program(seed))
    kernel = compiled(program, f"random {seed} {chunk_size}")
    assert_equals_interpreter(program, kernel, "double", counts=[1, 2, 7, 8, 9, 16, 17])


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_give_the_interpreters_values_in_single_precision(seed, chunks_of):
    chunks_of(7)
    program = verify(random_program(seed))
    kernel = compiled(program, f"random single {seed}")
    assert_equals_interpreter(program, kernel, "float", counts=[1, 2, 15, 16, 17])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_chunk_size_does_not_change_a_bit(seed, chunks_of):
    program = random_program(seed)
    states = random_states(program, "double")
    results = []
    for chunk_size in (1, 4, 1500):
        chunks_of(chunk_size)
        results.append(compiled(program, f"bits {seed} {chunk_size}")(*states))
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[1], results[2])


@every_chunk_size
def test_the_dynamics_of_an_arm_are_the_interpreters(chunk_size, chunks_of):
    chunks_of(chunk_size * 10)
    program = robots.arm().kernel("inverse_dynamics").program
    kernel = compiled(program, f"arm {chunk_size}")
    assert_equals_interpreter(program, kernel, "double", counts=[1, 7, 8, 9])


RESULTS = {
    "a number": lambda x: {"y": [1.5]},
    "numbers only, in two results": lambda x: {"y": [1.5, 1.5], "z": [0.0]},
    "an argument": lambda x: {"y": x[1]},
    "arguments in another order": lambda x: {"y": [x[2], x[0], x[1], x[0]]},
    "one node thrice": lambda x: {"y": [x[0] * x[1]] * 2, "z": x[0] * x[1]},
    "what a routine gives": lambda x: {"y": sin(x[0])},
    "what a routine gives, thrice": lambda x: {"y": [cos(x[0])] * 2, "z": cos(x[0])},
    "all that a routine gives": lambda x: {"y": [cos(x[0]), sin(x[0])]},
    "what both routines give": lambda x: {"y": [atan2(x[0], x[1]), sin(x[2])]},
    "a function of a function": lambda x: {"y": sin(sin(sin(x[0])))},
    "an argument of another": lambda x: {"y": [x[0] * x[1], x[0] * x[1] / x[2]]},
    "chosen by two numbers": lambda x: {"y": select(less(1.0, x[0] - x[0]), x[1], x[2])},
}


@both_types
@pytest.mark.parametrize("result", RESULTS)
def test_results_of_every_sort_are_the_interpreters(result, kind, chunks_of):
    chunks_of(1)
    program = verify(trace("results", RESULTS[result], {"x": (3,)}))
    kernel = compiled(program, f"results: {result}")
    assert_equals_interpreter(program, kernel, kind, counts=range(1, 20))


def test_a_condition_may_be_used_in_many_chunks_and_stages(chunks_of):
    chunks_of(1)

    def function(x):
        condition = less(x[0] * x[1], x[2])
        a = select(condition, x[0], x[1] * x[1])
        b = select(condition, sin(a), cos(a))
        c = select(condition, b / (a * a + 1.0), sin(b))
        return {"y": [a, b, c, select(condition, 1.0, -1.0)]}

    program = trace("condition", function, {"x": (3,)})
    assert program.operations["less"] == 1
    assert_equals_interpreter(program, compiled(program, "condition"), "double")


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 31, 33])
def test_any_number_of_arguments_of_a_routine_may_be_called_at_once(count):
    def function(x):
        angles = [sin(v) * cos(v) for v in x]
        return {"y": angles, "z": [atan2(v, w) for v, w in zip(x, x[1:] + x[:1], strict=True)]}

    program = trace("many", function, {"x": (count,)})
    kernel = compiled(program, f"many {count}")
    for kind in TYPES:
        assert_equals_interpreter(program, kernel, kind, counts=[1, 2, 9])


@pytest.mark.slow
@pytest.mark.parametrize("chunk_size", [100, 1500])
def test_operands_and_scratch_may_be_larger_than_the_stack_allows(chunk_size, chunks_of):
    chunks_of(chunk_size)

    def function(x):
        sines = [sin(v) for v in x]
        return {"y": [a * b + c for a, b, c in zip(sines, x, reversed(sines), strict=True)]}

    program = trace("large", function, {"x": (1200,)})
    kernel = compiled(program, f"large {chunk_size}")
    assert_equals_interpreter(program, kernel, "double", counts=[1, 2, 8, 9])


# numbers that are not ordinary


@both_types
def test_zeros_infinities_and_nan_pass_as_the_interpreter_has_them(kind, chunks_of):
    chunks_of(1)

    def function(x):
        a, b = x
        return {
            "y": [
                a + b,
                a - b,
                a * b,
                a / b,
                -a,
                sqrt(a),
                select(less(a, b), 1.0, 2.0),
                select(less(a, b), a, b),
                a * b + 1.0,
                2.0 - a * b,
                a * b - 3.0,
            ]
        }

    program = trace("special", function, {"x": (2,)})
    kernel = compiled(program, f"special {kind}")
    values = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan]
    states = np.array(list(itertools.product(values, values)), dtype=TYPES[kind])
    with np.errstate(all="ignore"):
        (expected,) = interpret(program, states)
        results = [kernel(states), np.array([kernel(s) for s in states])]
    for result in results:
        np.testing.assert_array_equal(result, expected)
        there = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[there]), np.signbit(expected[there]))


@both_types
def test_a_number_is_rounded_to_the_type_of_the_kernel(kind):
    program = trace("tenth", lambda x: {"y": [0.1, x[0] * 0.1, x[0] + 1e-45]}, {"x": (1,)})
    x = np.array([[1.0], [0.0], [1.0]], dtype=TYPES[kind])
    tenth, least = TYPES[kind](0.1), TYPES[kind](1e-45)
    np.testing.assert_array_equal(
        compiled(program, "tenth")(x)[:2], [[tenth, tenth, 1.0], [tenth, 0.0, least]]
    )


# fused operations


@pytest.mark.skipif(not host().fma, reason="without fma on this machine")
def test_a_product_and_its_sum_are_rounded_once_in_every_lane_and_on_its_own():
    def function(x):
        a, b, c, d = x
        return {"y": [a * b + c, a * b - d, d - a * b]}

    kernel = compiled(trace("fused", function, {"x": (4,)}), "fused")
    small = 2.0**-30
    state = np.array([1.0 + small, 1.0 - small, -1.0, 1.0])
    expected = np.array([-(small**2), -(small**2), small**2])
    np.testing.assert_array_equal(kernel(state), expected)
    for n in (1, 2, 8, 11):
        np.testing.assert_array_equal(kernel(np.tile(state, (n, 1))), np.tile(expected, (n, 1)))


@every_chunk_size
def test_without_fma_arithmetic_gives_the_interpreters_values_to_the_bit(
    chunk_size, chunks_of, monkeypatch
):
    def without_fma(self, kind):
        return Target(kind, self.vector_bits // (64 if kind == "double" else 32), False)

    def function(x):
        a, b, c, d = x
        e = (a * b + c) / (d * d + 1.0)
        f = sqrt(a * a + b * b) - c * e
        return {
            "y": [e, f, e * f - a, select(less(e, f), b - e * e, -f), a * b - c * d, -(d * e + f)]
        }

    monkeypatch.setattr(Host, "target", without_fma)
    chunks_of(chunk_size)
    program = trace("unfused", function, {"x": (4,)})
    assert set(fuse(program).operations) >= FUSED
    kernel = compiled(program, f"unfused {chunk_size}")
    assert_equals_interpreter(program, kernel, "double", tolerance=0)


# the text

targets = [
    Target(kind, lanes, fma) for kind in TYPES for lanes in (2, 4, 8, 16) for fma in (False, True)
]


def lowered(program, target, lanes):
    return lower(program, style(target, lanes))


def modules(program, name, target, lanes, length=math.inf):
    head = ATTRIBUTES.format(bits=128)
    texts = emit_body(lowered(program, target, lanes), name, target, lanes, length)
    return [head + text for text in texts]


def definitions(program, name, target, lanes):
    (text,) = modules(program, name, target, lanes)
    return [part.split("\n}\n")[0] for part in text.split("define ")[1:]]


@every_chunk_size
@pytest.mark.parametrize("target", targets, ids=str)
def test_the_text_is_a_module_that_llvm_takes(target, chunk_size, chunks_of):
    chunks_of(chunk_size)
    for name, lanes, tables in (
        ("one", 1, {"one_steps"}),
        ("wide", target.lanes, {"wide_steps", "wide_index"}),
    ):
        (text,) = modules(everything_program(), name, target, lanes)
        module = llvm.parse_assembly(text)
        module.verify()
        assert tables <= {x.name for x in module.global_variables}


def test_modules_of_a_long_body_declare_what_they_use_of_each_other(chunks_of):
    chunks_of(10)
    target = Target("double", 4, True)
    texts = modules(everything_program(), "wide", target, 4, length=20)
    assert len(texts) > 2
    merged = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        merged.link_in(llvm.parse_assembly(text))
    merged.verify()
    assert not [f.name for f in merged.functions if f.is_declaration and "wide" in f.name]


@pytest.mark.parametrize("target", targets, ids=str)
def test_fused_operations_are_called_only_where_the_target_has_them(target):
    program = everything_program()
    fused = sum(fuse(program).operations[op] for op in FUSED)
    for lanes in (1, target.lanes):
        text = "".join(definitions(program, "body", target, lanes))
        assert text.count("@llvm.fma.") == (fused if target.fma else 0)


@pytest.mark.parametrize(
    ("before", "results", "late"),
    [(2000, 600, True), (2000, 100, False), (300, 600, False)],
    ids=["many late", "few", "early"],
)
def test_results_that_come_late_need_one_tile(before, results, late):
    def work(x):
        y = x[0]
        for _ in range(before):
            y = y * 0.5 + x[1]
        return {"out": [x[0] * x[1], *(y * (i + 1.5) for i in range(results))]}

    program = trace("work", work, {"x": (2,)})
    target = Target("double", 4, True)
    assert (lowered(program, target, 4).late is not None) == late
    assert lowered(program, target, 1).late is None  # of one state there is no tile before


def test_a_body_is_cut_into_chunks_of_the_size_asked_for(chunks_of):
    program = random_program(0)
    target = Target("double", 4, True)
    lengths = []
    for chunk_size in (1500, 10, 1):
        chunks_of(chunk_size)
        functions = definitions(program, "body", target, 4)
        lengths.append(len(functions))
        for function in functions:
            computed = [line for line in function.splitlines() if "= f" in line or "call <" in line]
            assert len(computed) <= 2 * chunk_size + 1  # a negation or a comparison beside each
    assert lengths == sorted(set(lengths))


def test_a_body_of_one_chunk_without_functions_needs_no_scratch():
    program = trace("plain", lambda x: {"y": [x[0] * x[1] + x[2], x[0] / x[1]]}, {"x": (3,)})
    assert lowered(program, Target("double", 8, True), 8).scratch == 0


def test_the_places_of_dead_values_are_used_again(chunks_of):
    chunks_of(1)

    def function(x):
        a = x[0]
        for _ in range(100):
            a = a / x[1]
        return {"y": a}

    program = trace("chain", function, {"x": (2,)})
    assert lowered(program, Target("double", 8, True), 8).scratch <= 2
