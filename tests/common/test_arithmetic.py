"""Processes are told to compute as on processors with AVX2."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from bestarm.common import arithmetic
from bestarm.common.arithmetic import NUMPY_SWITCH, same_bits, same_kernels


def told_and_used():
    """In a started process: what it would tell its own ones, and what numpy may use."""
    return same_kernels(), np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])


def test_started_processes_use_nothing_beyond_avx2():
    spawn = get_context("spawn")
    with same_bits(), ProcessPoolExecutor(1, mp_context=spawn) as process:
        told, used = process.submit(told_and_used).result()
        assert told == {name: os.environ[name] for name in told}
    assert not any(feature.startswith(("X86_V4", "AVX512")) for feature in used)


@pytest.mark.parametrize("already", ["", "X86_V3"])
def test_what_numpy_is_told_already_stays(monkeypatch, already):
    features = {"SIMD Extensions": {"baseline": ["X86_V2"], "found": ["X86_V3", "X86_V4"]}}
    monkeypatch.setattr(arithmetic.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(arithmetic.np, "show_config", lambda mode: features)
    monkeypatch.setenv(NUMPY_SWITCH, already)
    assert same_kernels()[NUMPY_SWITCH] == f"{already} X86_V4".strip()
    features["SIMD Extensions"].pop("found")
    assert same_kernels().get(NUMPY_SWITCH, "") == already


def test_other_kinds_of_processors_are_told_nothing(monkeypatch):
    monkeypatch.setattr(arithmetic.platform, "machine", lambda: "arm64")
    assert same_kernels() == {}


def test_started_processes_compute_with_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with same_bits():
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
