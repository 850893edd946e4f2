"""What all tests share: a cache of their own, and hypothesis' settings."""

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

# one folder for all workers and runs, so that no test writes to the user's cache
os.environ["KINETREE_CACHE"] = str(Path(tempfile.gettempdir()) / "kinetree-tests")

for profile, examples in (("kinetree", 25), ("fast", 5)):  # make test-fast takes the second
    settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile("kinetree")
