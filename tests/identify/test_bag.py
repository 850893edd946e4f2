"""ROS bags: joint states of ROS 1 and ROS 2 become logs."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import LogError
from kinetree.identify import Stream, filtered, fit, read
from tests.identify.motions import made_log, smooth_motion

pytest.importorskip("rosbags")
from rosbags import rosbag1, rosbag2, typesys

ARM = kt.robots.double_pendulum()
NAMES = ["lower_joint", "upper_joint"]  # not in the order of the robot
STATE = "sensor_msgs/msg/JointState"
START = 1_700_000_000 * 10**9  # ns: a date, as ROS has it


@pytest.fixture
def log():
    return made_log(ARM, ARM, motion=smooth_motion(ARM, seconds=2.0))


def messages(log, types, *head):
    """Time and message of each sample."""
    state, header, stamp = (
        types.types[name] for name in (STATE, "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    for t, q, v, tau in zip(log.time, log.q, log.v, log.tau, strict=True):
        at = START + round(t * 1e9)
        when = header(*head, stamp(at // 10**9, at % 10**9), "")
        yield at, state(when, NAMES, q[::-1].copy(), v[::-1].copy(), tau[::-1].copy())


def write_ros2(path, log, plugin="MCAP", topics=("/joint_states",)):
    types = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    storage = rosbag2.StoragePlugin[plugin]
    with rosbag2.Writer(path, version=9, storage_plugin=storage) as writer:
        opened = [writer.add_connection(topic, STATE, typestore=types) for topic in topics]
        for at, message in messages(log, types):
            for connection in opened:
                writer.write(connection, at, types.serialize_cdr(message, STATE))
    return path


def write_ros1(path, log):
    types = typesys.get_typestore(typesys.Stores.ROS1_NOETIC)
    with rosbag1.Writer(path) as writer:
        connection = writer.add_connection("/joint_states", STATE, typestore=types)
        for at, message in messages(log, types, 0):
            writer.write(connection, at, types.serialize_ros1(message, STATE))
    return path


def same(found, log):
    assert np.allclose(found.time, log.time, atol=1e-9)
    for name in ("q", "v", "tau"):
        assert np.array_equal(getattr(found, name), getattr(log, name))


def test_bags_of_ros1_and_ros2_are_logs(log, tmp_path):
    same(read(write_ros1(tmp_path / "one.bag", log), ARM), log)
    same(read(write_ros2(tmp_path / "two", log), ARM), log)
    same(read(tmp_path / "two" / "two.mcap", ARM), log)
    same(read(write_ros2(tmp_path / "three", log, "SQLITE3"), ARM), log)


def test_a_bag_gives_a_model(log, tmp_path):
    found = fit(ARM, filtered(read(write_ros2(tmp_path / "bag", log), ARM), cutoff=30.0))
    assert found.errors(found.log).relative.max() < 0.02


def test_a_long_bag_is_read_in_pieces_whose_time_goes_on(log, tmp_path):
    pieces = list(Stream(write_ros2(tmp_path / "bag", log), ARM, rows=150))
    assert len(pieces) == 3
    assert np.allclose(np.concatenate([piece.time for piece in pieces]), log.time, atol=1e-9)


def test_a_topic_is_chosen_if_there_are_several(log, tmp_path):
    topics = ("/left/joint_states", "/right/joint_states")
    bag = write_ros2(tmp_path / "bag", log, topics=topics)
    with pytest.raises(
        LogError, match=r"several topics .*: choose one of /left/joint_states, /right"
    ):
        read(bag, ARM)
    same(read(bag, ARM, topic="/right/joint_states"), log)
    with pytest.raises(LogError, match="no topic '/middle'"):
        read(bag, ARM, topic="/middle")


def test_joints_that_no_message_names_are_named(log, tmp_path):
    with pytest.raises(LogError, match="position of joint 'joint1'"):
        read(write_ros2(tmp_path / "bag", log), kt.robots.arm())


def test_messages_of_other_joints_are_left_out_and_said(log, tmp_path):
    types = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    with rosbag2.Writer(tmp_path / "bag", version=9) as writer:
        connection = writer.add_connection("/joint_states", STATE, typestore=types)
        for at, message in messages(log, types):
            writer.write(connection, at, types.serialize_cdr(message, STATE))
            message.name = ["gripper", "thumb"]
            message.header.stamp.nanosec += 1
            writer.write(connection, at + 1, types.serialize_cdr(message, STATE))
    found = read(tmp_path / "bag", ARM)
    same(found, log)
    assert "a number is missing" in found.remarks[0]


def test_a_file_that_is_no_bag_is_refused(tmp_path):
    (tmp_path / "log.mcap").write_bytes(b"not a bag")
    with pytest.raises(LogError, match=r"log\.mcap is not a ROS bag"):
        read(tmp_path / "log.mcap", ARM)
