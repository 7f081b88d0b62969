import math

import pytest

from bestarm.core.information import binary_kl, needed_information, stylised_threshold


def test_needed_information_is_the_divergence_of_two_coins():
    d = 0.1
    assert needed_information(d) == pytest.approx(
        d * math.log(d / (1 - d)) + (1 - d) * math.log((1 - d) / d)
    )
    assert needed_information(1e-9) == pytest.approx(math.log(1e9), rel=1e-6)


def test_needed_information_is_nothing_for_a_coin():
    assert needed_information(0.5) == 0.0
    assert needed_information(0.9) == 0.0


def test_threshold_by_hand():
    assert stylised_threshold(1, 0.1) == pytest.approx(math.log(10))
    assert stylised_threshold(100, 0.05) == pytest.approx(math.log((1 + math.log(100)) / 0.05))


def test_binary_kl_by_hand():
    assert binary_kl(0.2, 0.5) == pytest.approx(0.2 * math.log(0.4) + 0.8 * math.log(1.6))
    assert binary_kl(0.3, 0.3) == 0.0
    assert binary_kl(0.0, 0.5) == pytest.approx(math.log(2.0))
