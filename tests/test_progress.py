"""What is said of long work where no bar shows it."""

from __future__ import annotations

from time import sleep

from qsproj.progress import logged, progress_bars, track


def test_long_work_says_now_and_then_how_far_it_is():
    said: list[str] = []
    with progress_bars(False), logged(said.append, every=0.02):
        for _ in track(range(10), "training arcs, epoch 3 of 10", total=10):
            sleep(0.005)
        assert list(track(iter("ab"), "reading", unit="line")) == ["a", "b"]
    counted: list[str] = []
    with progress_bars(False), logged(counted.append, every=0.0):
        list(track(iter("abc"), "packing", unit="pair"))
    assert 0 < len(said) < 10
    assert all(line.startswith("training arcs, epoch 3 of 10: ") for line in said)
    assert all(line.endswith(" of 10") for line in said)
    assert counted[:2] == ["packing: 1 pair", "packing: 2 pairs"]
    before = list(said)
    with progress_bars(False):
        assert list(track(range(3), "counting")) == [0, 1, 2]
    assert said == before
