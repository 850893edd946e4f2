"""Motors of URDF files: transmissions with a reduction, and ros2_control."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError

ROBOT = """<robot name="two"><link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="k" type="prismatic"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>PARTS</robot>"""
SIMPLE = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
<joint name="j"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
<actuator name="m"><mechanicalReduction> 50 </mechanicalReduction></actuator></transmission>"""
CONTROL = """<ros2_control name="c" type="system"><joint name="k">
<command_interface name="effort"><param name="min">-3</param><param name="max">4</param>
</command_interface></joint></ros2_control>"""


def load(parts):
    return kt.load(ROBOT.replace("PARTS", parts))


def test_a_reduction_is_a_gear():
    robot = load(SIMPLE)
    assert robot.actuation.names == ("m",)
    tau = robot.actuation.forces(np.zeros(2), np.zeros(2), None, [0.1])
    assert np.allclose(tau, [5.0, 0.0])


def test_a_joint_of_ros2_control_is_a_motor_with_bounds():
    robot = load(SIMPLE + CONTROL)
    assert robot.actuation.names == ("m", "k")
    assert robot.actuation.ranges.control.tolist() == [[-np.inf, np.inf], [-3.0, 4.0]]
    assert robot.actuation.forces(np.zeros(2), np.zeros(2), None, [0.0, 9.0])[1] == 4.0


@pytest.mark.parametrize(
    "parts",
    [
        SIMPLE.replace("Effort", "Position"),
        SIMPLE.replace('joint name="j"', 'joint name="unknown"'),
        SIMPLE.replace("<actuator", '<joint name="k"/><actuator'),
        CONTROL.replace("effort", "position"),
    ],
)
def test_what_is_no_motor_is_passed_over(parts):
    assert load(parts).actuation.nu == 0


def test_a_reduction_that_is_no_number_is_refused_with_its_place():
    with pytest.raises(FileFormatError, match=r"mechanicalReduction.*'fast' is not a number"):
        load(SIMPLE.replace(" 50 ", "fast"))


def test_motors_are_written_and_read_back(tmp_path, recwarn):
    robot = load(SIMPLE)
    robot.save(tmp_path / "two.urdf")
    assert not recwarn.list
    again = kt.load(tmp_path / "two.urdf")
    assert again.model.equipment == robot.model.equipment
