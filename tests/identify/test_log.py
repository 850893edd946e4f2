"""Logs: what is read, refused and left out, each with a sentence."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import LogError, MissingFileError, UnknownNameError
from kinetree.identify import Log, Stream, filtered, read, resampled, splined
from tests.identify.motions import made_log, smooth_motion

ARM = kt.robots.double_pendulum()
NAMES = ("upper_joint", "lower_joint")


def table(log, style="{kind}_{name}"):
    columns = {"time": log.time}
    for kind in ("q", "v", "a", "tau"):
        for k, name in enumerate(NAMES):
            columns[style.format(kind=kind, name=name, k=k)] = getattr(log, kind)[:, k]
    return columns


def write_csv(path, columns):
    rows = np.stack(list(columns.values()), axis=1)
    np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="")


@pytest.fixture
def log():
    return made_log(ARM, ARM, motion=smooth_motion(ARM, seconds=2.0))


@pytest.mark.parametrize("style", ["{kind}_{name}", "{name}.{kind}", "{kind}_{k}"])
def test_a_csv_is_read_by_the_names_of_its_columns(log, tmp_path, style):
    write_csv(tmp_path / "log.csv", table(log, style))
    found = read(tmp_path / "log.csv", ARM)
    for name in ("time", "q", "v", "a", "tau"):
        assert np.allclose(getattr(found, name), getattr(log, name))


def test_npz_and_parquet_and_simulations_are_logs(log, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    np.savez(tmp_path / "log.npz", time=log.time, q=log.q, v=log.v, a=log.a, tau=log.tau)
    pyarrow.parquet.write_table(pyarrow.table(table(log)), tmp_path / "log.parquet")
    for name in ("log.npz", "log.parquet"):
        assert np.array_equal(read(tmp_path / name, ARM).tau, log.tau)
    simulated = ARM.simulate(np.array([1.0, 0.5]), np.zeros(2), time=0.1)
    for name in ("run.npz", "run.parquet"):
        simulated.save(tmp_path / name)
        assert np.array_equal(read(tmp_path / name, ARM).q, simulated.q)


def test_a_long_file_is_read_in_pieces(log, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    write_csv(tmp_path / "log.csv", table(log))
    pyarrow.parquet.write_table(pyarrow.table(table(log)), tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        pieces = list(Stream(tmp_path / name, ARM, rows=150))
        assert len(pieces) == 3
        assert np.allclose(np.concatenate([piece.q for piece in pieces]), log.q)


def test_other_names_can_be_given(log, tmp_path):
    columns = table(log)
    columns["motor A"] = columns.pop("tau_upper_joint")
    write_csv(tmp_path / "log.csv", columns)
    with pytest.raises(LogError, match="no column for the force of joint 'upper_joint': tau_upper"):
        read(tmp_path / "log.csv", ARM)
    found = read(tmp_path / "log.csv", ARM, {"tau_upper_joint": "motor A"})
    assert np.allclose(found.tau, log.tau)
    with pytest.raises(LogError, match="no column 'motor B'"):
        read(tmp_path / "log.csv", ARM, {"tau_upper_joint": "motor B"})
    with pytest.raises(UnknownNameError, match="no column 'tau_uper_joint': did you mean 'tau_upp"):
        read(tmp_path / "log.csv", ARM, {"tau_uper_joint": "motor A"})


def test_time_must_be_there_and_increase(log, tmp_path):
    columns = table(log)
    write_csv(tmp_path / "log.csv", {k: x for k, x in columns.items() if k != "time"})
    with pytest.raises(LogError, match="no column 'time'; its columns are q_upper_joint"):
        read(tmp_path / "log.csv", ARM)
    columns["time"] = columns["time"].copy()
    columns["time"][17] = 0.0
    write_csv(tmp_path / "log.csv", columns)
    with pytest.raises(LogError, match=r"not increase at sample 17: 0 s comes after 0\.08"):
        read(tmp_path / "log.csv", ARM)


def test_degrees_are_refused_by_the_joints_name(log):
    with pytest.raises(LogError, match=r"joint 'upper_joint' moves by .* degrees\?"):
        Log(ARM, log.time, np.rad2deg(log.q), log.tau)
    limited = kt.robots.arm()
    t, q, v, _ = smooth_motion(limited, seconds=1.0)
    with pytest.raises(LogError, match=r"joint 'joint1' reaches .* limits are -2\.9 and 2\.9 rad"):
        Log(limited, t, np.rad2deg(q), v)
    with pytest.raises(LogError, match=r"velocity of joint 'upper_joint' .* perhaps degrees"):
        Log(ARM, log.time, log.q, log.tau, np.rad2deg(log.v))


def test_shapes_files_and_numbers_are_checked(log, tmp_path):
    with pytest.raises(LogError, match=r"tau has shape \(400, 1\); \(400, 2\) is expected"):
        Log(ARM, log.time, log.q, log.tau[:, :1])
    with pytest.raises(MissingFileError, match="there is no such file"):
        read(tmp_path / "none.csv", ARM)
    with pytest.raises(LogError, match=r"ends with \.csv, \.parquet, \.npz"):
        read(tmp_path / "log.mat", ARM)
    (tmp_path / "bad.csv").write_text("time,q_0\n0,1\n1,x\n")
    with pytest.raises(LogError, match=r"bad.csv:3: 'x' in column 'q_0' is not a number"):
        read(tmp_path / "bad.csv", ARM)


def test_samples_with_missing_numbers_are_dropped_and_said(log, tmp_path):
    write_csv(tmp_path / "log.csv", table(log))
    lines = (tmp_path / "log.csv").read_text().splitlines()
    lines[5] = ",".join(["0.02", "", *lines[5].split(",")[2:]])
    (tmp_path / "log.csv").write_text("\n".join(lines))
    found = read(tmp_path / "log.csv", ARM)
    assert len(found) == len(log) - 1
    assert found.remarks == (
        "1 measurements of every joint are not used: a number is missing or not finite",
    )


def test_the_forces_of_a_floating_base_may_be_missing(tmp_path):
    robot = kt.robots.quadruped()
    t, q, v, _ = smooth_motion(robot, seconds=0.5)
    columns = {"time": t}
    for kind, array, names in (
        ("q", q, robot.labels.q),
        ("v", v, robot.labels.v),
        ("tau", v, robot.labels.v),
    ):
        columns |= {f"{kind}_{name}": x for name, x in zip(names, array.T, strict=True)}
    base = [name for name in columns if name.startswith("tau_") and "." in name]
    write_csv(tmp_path / "log.csv", {k: x for k, x in columns.items() if k not in base})
    found = read(tmp_path / "log.csv", robot)
    assert not found.tau[:, :6].any()
    assert "the floating base has no drive" in found.remarks[0]


def test_forces_at_their_limits_and_standstill_are_not_used(log):
    limited = kt.robots.arm()
    t, q, v, a = smooth_motion(limited, seconds=1.0)
    tau = np.zeros_like(v)
    tau[3, 2] = limited.limits.effort[2]
    found = Log(limited, t, q, tau, v, a).without_saturation()
    assert not found.keep[3, 2]
    assert found.keep.sum() == found.keep.size - 1
    still = log.without_standstill(0.1)
    assert np.array_equal(still.keep, np.abs(log.v) >= 0.1)
    assert "slower than 0.1" in still.remarks[0]


def test_forces_far_beyond_their_limits_are_refused_by_the_joints_name():
    arm = kt.robots.arm()
    t, q, v, a = smooth_motion(arm)
    tau = arm.inverse_dynamics(q, v, a)
    assert Log(arm, t, q, tau, v, a).without_saturation().keep.all()
    in_millimetres = Log(arm, t, q, 1000.0 * tau, v, a)
    with pytest.raises(LogError, match=r"joint1' is .* limit is 180 N m: is the force in another"):
        in_millimetres.without_saturation()


def noisy(rate=500.0, noise=1e-4):
    motion = smooth_motion(ARM, seconds=4.0, rate=rate)
    rng = np.random.default_rng(3)
    t, q, _, _ = motion
    tau = ARM.inverse_dynamics(*motion[1:])
    return motion, Log(ARM, t, q + noise * rng.standard_normal(q.shape), tau)


@pytest.mark.parametrize(
    "how", [lambda log: filtered(log, 8.0, decimate=False), lambda log: splined(log, 1e-4)]
)
def test_velocities_and_accelerations_come_without_delay(how):
    (_, _, v, a), log = noisy()
    found = how(log)
    keep = found.keep.all(axis=1)
    assert np.abs(found.v - v)[keep].max() < 0.02 * np.abs(v).max()
    assert np.sqrt(((found.a - a)[keep] ** 2).mean()) < 0.05 * np.sqrt((a**2).mean())
    assert found.remarks


def test_a_quaternion_is_filtered_on_its_sphere():
    robot = kt.robots.quadruped()
    t, q, v, a = smooth_motion(robot, seconds=4.0, rate=250.0)
    q[::2, 3:7] *= -1.0  # the same orientations
    v = np.array([robot.difference(q[k - 1], q[k + 1]) for k in range(1, len(q) - 1)]) * 125.0
    found = filtered(Log(robot, t, q, np.zeros_like(a)), 20.0, decimate=False)
    keep = found.keep.all(axis=1)[1:-1]
    assert np.abs(found.v[1:-1] - v)[keep].max() < 0.02 * np.abs(v).max()
    assert np.allclose(np.linalg.norm(found.q[:, 3:7], axis=1), 1.0)


def test_uneven_times_are_resampled_or_refused():
    (t, q, v, _), _ = noisy()
    rng = np.random.default_rng(0)
    pick = np.sort(rng.choice(len(t), len(t) // 2, replace=False))
    log = Log(ARM, t[pick], q[pick], v[pick])
    with pytest.raises(LogError, match="not equally spaced"):
        filtered(log, 10.0)
    even = resampled(log, 250.0)
    assert np.allclose(np.diff(even.time), 1 / 250.0)
    exact = np.stack([np.interp(even.time, t, x) for x in q.T], axis=1)
    assert np.abs(even.q - exact).max() < 1e-3
    with pytest.raises(LogError, match="half the sampling rate, 125 Hz"):
        filtered(even, 200.0)


def test_what_is_not_used_or_missing_is_not_used_after_resampling():
    """Forces at their limits are no data, and neither is a line across a gap."""
    whole = noisy()[1]
    log = whole.part(np.r_[0:400, 500 : len(whole)])
    log = log.without(np.abs(log.tau) > 0.8 * np.abs(log.tau).max(axis=0), "at the limit")
    even = resampled(log)
    for k, unused in enumerate((~log.keep).T):
        beside = np.interp(even.time, log.time, unused.astype(float)) > 0.0
        assert beside.any()
        assert not even.keep[beside, k].any()
    gap = (even.time > whole.time[399]) & (even.time < whole.time[500])
    assert gap.sum() > 50
    assert not even.keep[gap].any()
    assert even.keep[~gap].mean() > 0.95 * log.keep.mean()
    assert "gap" in even.remarks[-1]


def test_filtered_noise_is_thinned_out_until_samples_are_independent():
    rng = np.random.default_rng(0)
    t = np.arange(40000) / 1000.0
    noise = rng.standard_normal((len(t), 2))
    found = filtered(Log(ARM, t, np.zeros((len(t), 2)), noise), 25.0)
    assert np.allclose(np.diff(found.time), 22 / 1000.0)
    tau = found.tau[found.keep.all(axis=1)]
    neighbours = np.corrcoef(tau[1:, 0], tau[:-1, 0])[0, 1]
    assert abs(neighbours) < 0.1  # 0.9 without thinning
    assert any("one of 22 samples is kept" in remark for remark in found.remarks)


def test_a_wheel_may_turn_many_times():
    t = np.linspace(0.0, 10.0, 1001)
    q = np.stack([10.0 * t, np.sin(t)], axis=1)
    assert len(Log(ARM, t, q, np.zeros_like(q))) == 1001


def test_a_log_without_whole_samples_names_what_is_missing(log):
    tau = log.tau.copy()
    tau[1:, 1] = np.nan
    with pytest.raises(LogError, match=r"1 of its 400 samples .* tau of 'lower_joint' is missing"):
        Log(ARM, log.time, log.q, tau)


def test_an_empty_file_is_said_to_be_empty(tmp_path):
    (tmp_path / "log.csv").write_text("")
    with pytest.raises(LogError, match=r"log\.csv is empty: expected a first line"):
        read(tmp_path / "log.csv", ARM)
