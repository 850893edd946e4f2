"""The actuators of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinetree.model.actuators import (
    Activation,
    Actuator,
    Adhesion,
    Affine,
    Filter,
    Integrator,
    JointTransmission,
    Law,
    MuscleActivation,
    MuscleBias,
    MuscleForce,
    MuscleGain,
    SiteTransmission,
    SliderCrank,
    TendonTransmission,
    Transmission,
)
from kinetree.model.actuators.dynamics import TINY
from kinetree.model.formats.mjcf_length_ranges import has_range, is_muscle
from kinetree.model.formats.mjcf_parts import Parts, Remark
from kinetree.model.ranges import UNBOUNDED

AT_JOINT, IN_PARENT, SLIDER_CRANK, AT_TENDON, AT_SITE, AT_BODY = range(6)  # mjtTrn
FIXED, AFFINE, MUSCLE = range(3)  # mjtGain, and mjtBias with none in the place of fixed
NONE, INTEGRATOR, FILTER, EXACT, MUSCLE_DYNAMICS = range(5)  # mjtDyn
LEFT_OUT = "takes no part in the dynamics"


def actuators(parts: Parts) -> list[Actuator]:
    """The actuators, except those of unknown kinds and those switched off."""
    return [_actuator(parts, i, name) for i, name in _read(parts)]


def _read(parts: Parts) -> Iterator[tuple[int, str]]:
    for i, name in enumerate(_names(parts)):
        if not _switched_off(parts, i) and not _fault(parts, i):
            yield i, name


def _names(parts: Parts) -> list[str]:
    return parts.names("actuator", len(parts.m.actuator_trntype))


def actuator_numbers(parts: Parts) -> dict[int, str]:
    """The actuators that are read: maps their indices in MuJoCo to their names."""
    return dict(_read(parts))


def _switched_off(parts: Parts, i: int) -> bool:
    group = int(parts.m.actuator_group[i])
    return "ACTUATION" in parts.off or bool(group >= 0 and parts.m.opt.disableactuator >> group & 1)


def _fault(parts: Parts, i: int) -> str:
    """Why an actuator cannot act; empty if it can."""
    m = parts.m
    if m.actuator_plugin[i] >= 0:
        return "plugin is not supported"
    if m.actuator_trntype[i] > AT_BODY:
        return "transmission is not supported"
    if m.actuator_gaintype[i] > MUSCLE or m.actuator_biastype[i] > MUSCLE:
        return "gain or bias is not supported"
    if m.actuator_dyntype[i] > MUSCLE_DYNAMICS or m.actuator_actnum[i] > 1:
        return "activation dynamics is not supported"
    if is_muscle(m, i) and not has_range(m, i):
        return "length range is not given, and none was found"
    several = getattr(m, "actuator_ctrlnum", None)
    if several is not None and several[i] > 1:
        return "number of controls, more than one, is not supported"
    return ""


def _actuator(parts: Parts, i: int, name: str) -> Actuator:
    m = parts.m
    clamped = "CLAMPCTRL" not in parts.off
    return Actuator(
        name=name,
        transmission=_transmission(parts, i),
        gain=_law(m, i, "gain", MuscleGain),
        bias=_law(m, i, "bias", MuscleBias),
        activation=_activation(m, i),
        control_range=parts.bounds("actuator_ctrlrange", i) if clamped else UNBOUNDED,
        force_range=parts.bounds("actuator_forcerange", i),
        activation_range=parts.bounds("actuator_actrange", i),
        early=bool(m.actuator_actearly[i]),
    )


def _transmission(parts: Parts, i: int) -> Transmission:
    m = parts.m
    kind, (first, second) = m.actuator_trntype[i], m.actuator_trnid[i].tolist()
    gear = tuple(m.actuator_gear[i].tolist())
    if kind in (AT_JOINT, IN_PARENT):
        return JointTransmission(parts.joints[first], gear, kind == IN_PARENT)
    if kind == AT_BODY:
        return Adhesion(parts.links[first] if first else None, gear[0])
    if kind == AT_TENDON:
        return TendonTransmission(parts.names("tendon", m.ntendon)[first], gear[0])
    if kind == SLIDER_CRANK:
        rod = float(m.actuator_cranklength[i])
        return SliderCrank(parts.sites[first], parts.sites[second], rod, gear[0])
    return SiteTransmission(parts.sites[first], gear, parts.sites.get(second))


def _law(m: Any, i: int, which: str, muscle: type[MuscleForce]) -> Law:
    kind = getattr(m, f"actuator_{which}type")[i]
    numbers = getattr(m, f"actuator_{which}prm")[i].tolist()
    if kind == MUSCLE:
        first, last, force, scale, shortest, longest, speed, passive, stretched = numbers[:9]
        peak = scale / max(TINY, float(m.actuator_acc0[i])) if force < 0 else force
        low, high = m.actuator_lengthrange[i].tolist()
        bounds = (shortest, longest, speed, passive, stretched)
        return muscle(peak, (low, high), (first, last), *bounds)
    if kind == AFFINE:
        return Affine(*numbers[:3])
    return Affine(numbers[0]) if which == "gain" else Affine()


def _activation(m: Any, i: int) -> Activation | None:
    kind, numbers = m.actuator_dyntype[i], m.actuator_dynprm[i].tolist()
    if kind == NONE:
        return None
    if kind == INTEGRATOR:
        return Integrator()
    if kind in (FILTER, EXACT):
        return Filter(numbers[0], kind == EXACT)
    return MuscleActivation(*numbers[:3])


def actuator_remarks(parts: Parts) -> Iterator[Remark]:
    """Remarks on features of actuators that are left out."""
    for i, name in enumerate(_names(parts)):
        element = f"actuator {name!r}"
        if _switched_off(parts, i):
            yield "note", element, "it is left out, since it is switched off"
            continue
        if fault := _fault(parts, i):
            yield "warning", element, f"its {fault}: it {LEFT_OUT}"
            continue
        for field, part in (
            ("dampingpoly", "the higher-order part of its damping"),
            ("delay", "its delay"),
        ):
            if parts.any(f"actuator_{field}", i):
                yield "warning", element, f"{part} {LEFT_OUT}"
