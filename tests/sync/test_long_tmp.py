import sys
import pytest
from tests.sync.test_trust import *
from tests.sync import test_trust as t

@pytest.mark.parametrize("seed", range(100, 140))
def test_long(devices, place, manual_clock, seed):
    t.test_random_settings_end_equal_on_all_devices(devices, place, manual_clock, seed)
