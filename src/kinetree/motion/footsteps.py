"""Plans the supports between two recorded motions, and the placement of the second motion.

Both motions predict the steps in between: the first has the time and place at which a foot would
have stood next, the second those at which the other foot stood before. A plan takes the mean of
both. If neither has them, as at the ends of recordings, it uses the speeds of the base, and default
times.

    left foot     ________________            stands where the first motion is left
    right foot               ______________   stands where the second is entered
                  leave  land   lift  enter
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.footfalls import find_supports
from kinetree.motion.placing import along_ground, moved
from kinetree.motion.supports import Support

if TYPE_CHECKING:
    from kinetree.motion.motion import Motion

USUAL, SHORTEST, LONGEST = 0.6, 0.25, 1.2
"""Default durations of transitions, s."""
SLOW = 0.3
"""Below this base speed a figure counts as standing, m/s."""
SHARE, STEPS = 0.6, 0.3
"""Default fractions of a transition for which a foot stands: if it stands at only one end, or if it
stands at both and steps in between."""
SOON, SWING = 0.15, 0.4
"""The least fractions of a transition for which a foot stands, or is off the ground before it
lands; and the one for which it is in the air in a step."""
STILL, SETTLED = 0.1, 0.05
"""Speed limits of standing feet, m/s: in general, and where a motion is left or entered; faster
feet have not quite landed there, or begin to lift."""
APART, TURNED = 0.02, 0.1
"""m and rad: a foot has stepped if it stands farther than this from its last stand."""


@dataclass(frozen=True)
class End:
    """The instant at which one of the motions is left or entered.

    motion, time: the motion, and the time in it, s.
    supports: all supports found in it.
    """

    motion: Motion
    time: float
    supports: Sequence[Support]

    @property
    def q(self) -> Array:
        """The configuration at this instant."""
        return self.motion.at(self.time).q

    def pose(self, frame: str) -> Array:
        """The pose of a frame at this instant."""
        return self.motion.robot.pose(self.q, frame)

    @property
    def root(self) -> str:
        """The name of the base."""
        return self.motion.robot.bodies[0]

    def speed(self) -> Array:
        """The velocity of the base, (3,), m/s."""
        x, robot = self.motion.at(self.time), self.motion.robot
        return robot.velocity(x.q, x.v, self.root)[:3]

    def standing(self) -> dict[str, Support]:
        """The supports at this instant, by frame, without those of moving feet."""
        t, x, robot = self.time, self.motion.at(self.time), self.motion.robot
        last = [x for x in self.supports if x.first - 1e-9 <= t <= x.last + 1e-9]
        speeds = [np.linalg.norm(robot.velocity(x.q, x.v, s.frame)[:3]) for s in last]
        return {s.frame: s for s, v in zip(last, speeds, strict=True) if v < SETTLED}

    def later(self, frame: str) -> Support | None:
        """The next support of a frame, after the one on which it stands at this end."""
        found = [x for x in self._others(frame) if _middle(x) > self.time]
        return found[0] if found and found[0].first - self.time < LONGEST else None

    def earlier(self, frame: str) -> Support | None:
        """The last support of a frame, before the one on which it stands at this end."""
        found = [x for x in self._others(frame) if _middle(x) < self.time]
        return found[-1] if found and self.time - found[-1].last < LONGEST else None

    def _others(self, frame: str) -> list[Support]:
        """The supports of a frame but the one on which it stands at this end."""
        own = self.standing().get(frame)
        return [x for x in self.supports if x.frame == frame and x is not own]

    def lifts(self, frame: str) -> float | None:
        """The time until a standing frame lifts, s; None if the recording ends before."""
        last = self.standing()[frame].last
        return last - self.time if last < self.motion.times[-1] else None

    def landed(self, frame: str) -> float | None:
        """The time for which a frame has stood, s; None if it stood when the recording began."""
        first = self.standing()[frame].first
        return self.time - first if first > self.motion.times[0] else None


@dataclass(frozen=True)
class Plan:
    """The supports between two motions.

    second: the motion that is entered, moved along the ground.
    supports: with times from the start of the transition, s.
    duration: of the transition, s.
    """

    second: Motion
    supports: tuple[Support, ...]
    duration: float


def planned(
    first: Motion,
    leave: float,
    second: Motion,
    enter: float,
    frames: Mapping[str, Array | None],
    duration: float | None = None,
    align: bool = True,
) -> Plan:
    """The supports of a transition between two recorded motions, and the second, moved to fit.

    If a foot stands both where the first motion is left and where the second is entered, it stays:
    the second motion is moved to match it. A further foot that stands in both, but elsewhere, steps
    in between. A foot that stands only after the transition lands at the mean of both predictions.

    Arguments:
        first, leave: the motion that is left, and the time, s.
        second, enter: the motion that is entered, and the time, s.
        frames: those that may stand, each with the area of its sole, or None; see `Support`.
        duration: of the transition, s; None for the duration of the steps in both motions.
        align: whether the second motion is moved along the ground; else it stays.

    Returns:
        The plan.
    """
    names = tuple(frames)
    one = End(first, leave, find_supports(first, names, speed=STILL))
    two = End(second, enter, find_supports(second, names, speed=STILL))
    if align:
        two = _placed(one, two, duration or _strides(one, two) or USUAL)
    if duration is None:
        duration = _strides(one, two) or _way(one, two)
    supports: list[Support] = []
    for frame, area in frames.items():
        supports += _phases(Support(frame, area=area), one, two, duration)
    return Plan(two.motion, tuple(supports), duration)


def _placed(one: End, two: End, duration: float) -> End:
    """The second motion, moved to continue the first."""
    glide = _continued(one, two, duration)
    stay = [name for name in one.standing() if name in two.standing()]
    ways = [along_ground(two.pose(name), one.pose(name)) for name in stay]
    if ways:  # the foot that stays is the one that keeps the motion of the base
        base = two.pose(two.root)
        off = [float(np.linalg.norm(((X - glide) @ base)[:2, 3])) for X in ways]
        X = ways[int(np.argmin(off))]
    else:
        X = _trodden(one, two, glide)
    there = moved(two.motion, X)
    return End(there, two.time, [replace(x, target=X @ x.target) for x in two.supports])


def _continued(one: End, two: End, duration: float) -> Array:
    """The displacement of the second motion if the base moves at the mean of both speeds."""
    start, pose = one.pose(one.root), two.pose(two.root)
    turn = along_ground(pose, start)[:3, :3]
    wanted = start.copy()
    wanted[:2, 3] += 0.5 * duration * (one.speed() + turn @ two.speed())[:2]
    wanted[2, 3] = pose[2, 3]
    return along_ground(pose, wanted)


def _trodden(one: End, two: End, glide: Array) -> Array:
    """The same if feet stand in only one: the mean of the landings predicted by both motions.

    Arguments:
        one, two: the ends.
        glide: the displacement if neither motion predicts a landing.
    """
    for landing in two.standing():
        pose, wanted = two.pose(landing), []
        if (later := one.later(landing)) is not None:
            wanted.append(np.asarray(later.target))
        for standing in one.standing():
            if (earlier := two.earlier(standing)) is not None:
                wanted.append(along_ground(earlier.target, one.pose(standing)) @ pose)
        if wanted:
            return along_ground(pose, np.mean(wanted, axis=0))
    return glide


def _strides(one: End, two: End) -> float | None:
    """The duration of steps that begin in one motion and end in the other, s."""
    found = []
    for frame in {**one.standing(), **two.standing()}:
        if frame not in two.standing():
            lifts, earlier = one.lifts(frame), two.earlier(frame)
            if lifts is not None and earlier is not None:
                found.append(lifts + two.time - earlier.last)
        elif frame not in one.standing():
            landed, later = two.landed(frame), one.later(frame)
            if landed is not None and later is not None:
                found.append(later.first - one.time + landed)
    duration = round(float(np.mean(found)), 2) if found else 0.0
    return duration if SHORTEST <= duration <= LONGEST else None


def _way(one: End, two: End) -> float:
    """The time of the base to the entry, at the mean of both speeds, s.

    Returns:
        The default duration if the speeds are low or do not lead there.
    """
    speed = 0.5 * (one.speed() + two.speed())[:2]
    way = (two.pose(two.root) - one.pose(one.root))[:2, 3]
    fast = float(np.linalg.norm(speed))
    if fast < SLOW:
        return USUAL
    duration = round(float(way @ speed) / fast**2, 2)
    return duration if SHORTEST <= duration <= LONGEST else USUAL


def _phases(plain: Support, one: End, two: End, duration: float) -> list[Support]:
    """The supports of one foot.

    Arguments:
        plain: the foot, standing all the time.
        one, two: the ends.
        duration: s.
    """
    frame = plain.frame
    before, after = frame in one.standing(), frame in two.standing()
    if before and after and _same_place(one.pose(frame), two.pose(frame)):
        return [plain]
    share = STEPS if before and after else SHARE
    earlier, later = two.earlier(frame), one.later(frame)
    landed = two.landed(frame) if after else None
    lift = [one.lifts(frame) if before else None]
    lift.append(None if earlier is None else earlier.last - two.time + duration)
    land = [None if later is None else later.first - one.time]
    land.append(None if landed is None else duration - landed)
    last = _mean(lift, share * duration, duration)
    first = _mean(land, (1.0 - share) * duration, duration)
    if before and after and first - last < SWING * duration:
        last, first = share * duration, (1.0 - share) * duration
    found = [replace(plain, last=last)] if before else []
    return [*found, replace(plain, first=first)] if after else found


def _mean(said: Sequence[float | None], otherwise: float, duration: float) -> float:
    """The mean of the known times, or a default if none is known; inside the transition."""
    known = [x for x in said if x is not None]
    found = float(np.mean(known)) if known else otherwise
    return min(max(found, SOON * duration), (1.0 - SOON) * duration)


def _middle(support: Support) -> float:
    return 0.5 * (support.first + support.last)


def _same_place(here: Array, there: Array) -> bool:
    turn = here[:3, :3].T @ there[:3, :3]
    angle = np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0))
    return bool(np.abs(here[:3, 3] - there[:3, 3]).max() < APART and angle < TURNED)
