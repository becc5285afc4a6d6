"""Waiting for conditions instead of sleeping for luck."""

import time


def wait_until(condition, what, seconds=30.0):
    """Returns the first true value of condition(); fails after `seconds`, naming what never happened."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain for: {what}")
        time.sleep(0.03)
