"""The record of where runs stopped."""

from types import SimpleNamespace

from bestarm.common.stops import MOST, Stops


class Owner:
    """What runs share."""


def stop(n, delta=0.1):
    return SimpleNamespace(n=n, delta=delta)


def test_the_latest_looser_stop_of_the_same_run_is_found():
    stops, owner, other = Stops(), Owner(), Owner()
    for n, delta in ((70, 0.1), (90, 0.05), (80, 0.06), (120, 0.01)):
        stops.keep(owner, "a", stop(n, delta))
    assert stops.last_before(owner, "a", lambda stop: stop.delta >= 0.05).n == 90
    assert stops.last_before(owner, "a", lambda stop: stop.delta > 0.1) is None
    assert stops.last_before(owner, "b", lambda stop: True) is None
    assert stops.last_before(other, "a", lambda stop: True) is None


def test_it_has_a_limit():
    stops, owner = Stops(), Owner()
    for key in range(MOST + 1):
        stops.keep(owner, key, stop(key))
    assert stops.last_before(owner, 0, lambda stop: True) is None
    assert stops.last_before(owner, MOST, lambda stop: True).n == MOST


def test_it_ends_with_its_owner():
    stops, owner = Stops(), Owner()
    stops.keep(owner, 0, stop(1))
    del owner
    assert not stops._found
