"""Editing a robot. Every method returns a new robot and leaves this one unchanged."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import ModelWarning
from kinetree.kinds import texts
from kinetree.model import Model, edit
from kinetree.model.actuators import Actuator
from kinetree.model.arguments import PoseLike
from kinetree.model.constraints import Constraint
from kinetree.model.equipment_edits import equip
from kinetree.model.geometry import Collider, ContactPair
from kinetree.model.joints import Joint
from kinetree.model.keyframe import Keyframe
from kinetree.model.parameters import Parameter
from kinetree.model.sensors import Sensor
from kinetree.model.tendons import Tendon
from kinetree.model.touching import Touching
from kinetree.robot.core import Core, Door
from kinetree.robot.parametric import Parametric
from kinetree.robot.possible_pairs import check_possible
from kinetree.typing import ArrayLike, Base, ChartName, Effect

if TYPE_CHECKING:
    from kinetree.robot import Robot


def _robot_of(model: Model) -> Robot:
    from kinetree.robot import Robot  # which is made of the classes below

    return Robot(model)


class Editing(Core):
    """Methods that return a changed robot."""

    def without(self, *effects: Effect) -> Robot:
        """The same robot with effects switched off.

        Arguments:
            effects: any of "actuators", "armature", "compensation", "constraints", "contacts",
                "damping", "fluid", "friction", "gravity", "limits", "sensors", "springs" and
                "tendons".

        Returns:
            A new robot.
        """
        return _robot_of(edit.without(self.model, *effects))

    def constrain(self, *constraints: Constraint) -> Robot:
        """The same robot with more constraints: loops, held frames, couplings.

        Arguments:
            constraints: of `kinetree.constraints`, such as LoopJoint("loop", "rod", "crank",
                Revolute("y")).

        Returns:
            A new robot, whose forward dynamics and simulations respect them.
        """
        return _robot_of(edit.constrain(self.model, *constraints))

    def collide(self, *parts: Collider | ContactPair) -> Robot:
        """The same robot with more colliders and pairs of them that can touch.

        Arguments:
            parts: of `kinetree.geometry`, such as Collider("ball", "hand", Sphere(0.05)),
                Collider("floor", None, Plane()) and ContactPair("floor", "ball"), in any order.

        Returns:
            A new robot.
        """
        return _robot_of(check_possible(edit.collide(self.model, *parts)))

    def on_ground(
        self,
        links: Sequence[str] | None = None,
        *,
        height: float = 0.0,
        friction: float | Sequence[float] = 1.0,
        condim: int = 3,
        solref: Sequence[float] = (0.02, 1.0),
        solimp: Sequence[float] = (0.9, 0.95, 0.001, 0.5, 2.0),
    ) -> Robot:
        """The same robot above ground: a plane of the world that some of its links can touch.

        The plane is the collider "ground".

        Arguments:
            links: the links that can touch it; by default those at the ends of the tree that have
                a collision shape.
            height: of the plane, m.
            friction, condim, solref, solimp: as in `kinetree.geometry.ContactPair`.

        Returns:
            A new robot.
        """
        work = Touching(self.model)
        named = None if links is None else texts("links", links)
        softness = {"solref": solref, "solimp": solimp}
        work.on_ground(named, height, friction=friction, condim=condim, **softness)
        for remark in work.remarks:
            warnings.warn(remark, ModelWarning, stacklevel=2)
        return _robot_of(check_possible(work.model))

    def parametric(self, parameters: Parameter | Sequence[Parameter]) -> Parametric:
        """The same robot with some of its numbers as arguments, to differentiate by or to vary.

        Arguments:
            parameters: Inertial(body), Payload(frame), Placement(joint) and Friction(collider), in
                the order of their numbers in p; or one of them.

        Returns:
            The robot's dynamics as functions of the state and of the parameters p.
        """
        return Parametric(self.model, parameters)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the robot to a file.

        Arguments:
            file: its path: URDF if it ends in .urdf, MJCF if in .xml or .mjcf.
        """
        from kinetree.model.formats.save import (
            save_model,  # rarely needed, and importing takes time
        )

        save_model(self.model, file)


class Edit(Door):
    """Links, joints and surroundings changed: `robot.edit`. Every method returns a new robot."""

    @through_numpy
    def add_frame(self, name: str, parent: str, *, at: PoseLike = (0.0, 0.0, 0.0)) -> Robot:
        """This robot with one more named frame.

        Arguments:
            name: of the new frame.
            parent: the frame in which it is placed.
            at: its pose there: a 4x4 matrix, a Transform, or its origin.

        Returns:
            A new robot.
        """
        return _robot_of(edit.add_frame(self._robot.model, name, parent, at))

    @through_numpy
    def attach(
        self,
        other: Robot | Model,
        frame: str,
        *,
        at: PoseLike = (0.0, 0.0, 0.0),
        prefix: str = "",
        joint: Joint | None = None,
    ) -> Robot:
        """This robot with another one mounted on a frame, such as a hand on an arm.

        Both keep their constraints. A loop that the other robot closes on the world goes with its
        root link; if its base was floating, it stays in the world. Both keep their colliders and
        contact pairs, except the other robot's colliders in the world.

        Arguments:
            other: the robot to mount, by its root link; a floating base becomes fixed.
            frame: the name of the frame that carries it.
            at: the pose of its root link (or of the joint) in that frame.
            prefix: put before each of its names, if both robots use the same ones.
            joint: how it moves on the frame; None if it is fixed.

        Returns:
            A new robot.
        """
        model = other.model if isinstance(other, Core) else other
        return _robot_of(edit.attach(self._robot.model, model, frame, at, prefix, joint))

    def equip(self, *parts: Tendon | Actuator | Sensor | Keyframe) -> Robot:
        """This robot with more tendons, actuators, sensors and named states.

        Arguments:
            parts: of `kinetree.equipment`, such as motor("m", "elbow", gear=50). A sensor of a
                force or a torque without `carried` measures what the whole body transmits.

        Returns:
            A new robot.
        """
        return _robot_of(equip(self._robot.model, *parts))

    @through_numpy
    def attach_payload(
        self,
        frame: str,
        mass: float,
        com: Sequence[float] = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> Robot:
        """This robot with a load or a tool fixed to a frame, in addition to the body's inertia.

        Arguments:
            frame: the name of the frame in which the numbers are given.
            mass: kg.
            com: the centre of mass, m.
            inertia: the rotational inertia about the centre of mass, a symmetric 3x3 matrix or its
                diagonal, kg m^2; None for a point mass.

        Returns:
            A new robot.
        """
        return _robot_of(edit.attach_payload(self._robot.model, frame, mass, com, inertia))

    @through_numpy
    def replace_inertia(
        self,
        body: str,
        mass: float,
        com: Sequence[float] = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> Robot:
        """This robot with a body's inertia replaced: that of the body with all that is fixed to it.

        Arguments:
            body: its name.
            mass, com, inertia: as in `attach_payload`, in the body's frame.

        Returns:
            A new robot.
        """
        return _robot_of(edit.replace_inertia(self._robot.model, body, mass, com, inertia))

    def reroot(self, link: str) -> Robot:
        """The same robot with another of its links as the root.

        The joints between the old root and the new one keep their coordinates and are reversed. A
        fixed base is fixed at the new root's frame; a floating base floats there: the coordinates
        of its joint are then the pose of the new root. A robot floats if a link without mass is
        fixed to the world, or none, and all others hang on one joint of six degrees of freedom.

        What a robot on a fixed base closes on the world is closed on its old root link then.

        Arguments:
            link: the name of a frame.

        Returns:
            A new robot.
        """
        return _robot_of(edit.reroot(self._robot.model, link))

    def reorder(self, joints: Sequence[str]) -> Robot:
        """The same robot with its coordinates in another order.

        Arguments:
            joints: the names of all moving joints, in the order of their coordinates.

        Returns:
            A new robot.
        """
        return _robot_of(self._robot.model.reordered(joints))

    def subtree(self, link: str, *, base: Base = "fixed") -> Robot:
        """The part of the robot that hangs on a link; the body that carries the link is its root.

        It keeps the constraints between its own links and joints; those that reach outside, to the
        world too, are refused. It keeps its own colliders and the contact pairs among them.

        Arguments:
            link: the name of a frame.
            base: "fixed" puts the root on the world, "floating" lets it move freely.

        Returns:
            A new robot.
        """
        return _robot_of(edit.subtree(self._robot.model, link, base))

    @through_numpy
    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """The same robot in another gravity field.

        Arguments:
            gravity: the acceleration of free fall in the world's axes, (x, y, z), m/s^2.

        Returns:
            A new robot.
        """
        return _robot_of(edit.with_gravity(self._robot.model, gravity))

    @through_numpy
    def with_mount(self, pose: PoseLike) -> Robot:
        """The same robot, its root link fixed at a pose in the world: on a table, wall or ceiling.

        What is constrained to the world stays where it is; a loop that is closed on the root link
        goes with it.

        Arguments:
            pose: that of the root link: a 4x4 matrix, a Transform, or a point.

        Returns:
            A new robot.
        """
        return _robot_of(edit.mounted(self._robot.model, pose))

    @through_numpy
    def lock(self, joints: Mapping[str, float | Sequence[float]]) -> Robot:
        """The same robot with joints locked: their bodies become part of those that carry them.

        In couplings the coordinate of a locked joint becomes a number. A constraint between parts
        that no longer move is dropped if it is satisfied there, and refused otherwise.

        Arguments:
            joints: maps a joint's name to the coordinate, or coordinates, at which it is locked.

        Returns:
            A new robot, without the coordinates of the locked joints.
        """
        return _robot_of(edit.lock(self._robot.model, joints))

    def rechart(self, chart: ChartName, *joints: str) -> Robot:
        """The same robot with free orientations in other coordinates.

        Arguments:
            chart: "quaternion"; "exponential", the rotation vector; or a sequence of Euler angles
                such as "zyx". In the last two v is the rate of q, and there are singular
                orientations.
            joints: the ball and floating joints to change; by default all of them. Their
                drives act on v, so their effect changes if v has another meaning.

        Returns:
            A new robot. `charts.conversion` converts states between the two.
        """
        return _robot_of(edit.rechart(self._robot.model, chart, *joints))
