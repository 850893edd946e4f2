"""Settings that methods of a robot pass on by name have the defaults of the methods."""

import dataclasses
import inspect

import pytest

import kinetree as kt
from kinetree.motion.transition_settings import Settings
from kinetree.simulate.adaptive import AdaptiveSteps
from kinetree.simulate.fixed import FixedSteps

USED = {"transition": Settings, "simulate": FixedSteps, "simulate_adaptive": AdaptiveSteps}


@pytest.mark.parametrize("method", USED)
def test_the_defaults_of_settings_are_those_of_the_method(method):
    parameters = inspect.signature(getattr(kt.Robot, method)).parameters
    for field in dataclasses.fields(USED[method]):
        assert field.kw_only
        if field.default is not dataclasses.MISSING:
            assert field.default == parameters[field.name].default, field.name
