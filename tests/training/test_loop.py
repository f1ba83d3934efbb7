"""The loop: order, early stopping, records."""

from time import process_time

import numpy as np
import pytest

from qsproj.training.loop import Trainer, learn


class Listing(Trainer[float, int]):
    """Learns nothing but what it was given; its model is the number of steps so far."""

    def __init__(self) -> None:
        self.calls: list[float | str] = []

    def step(self, example: float) -> float:
        self.calls.append(example)
        return example

    def regularise(self) -> None:
        self.calls.append("regularise")

    def averaged(self) -> int:
        return sum(call != "regularise" for call in self.calls)


def run(examples, *, epochs, seed=0, **options):
    trainer = Listing()
    model, records = learn(trainer, examples, epochs=epochs, rng=np.random.default_rng(seed), **options)
    return trainer.calls, model, records


def test_every_example_is_seen_once_an_epoch_in_an_order_of_the_seed():
    def orders(seed):
        calls, _, _ = run(range(5), epochs=3, seed=seed)
        assert calls[5::6] == ["regularise"] * 3
        return [tuple(calls[k : k + 5]) for k in range(0, 18, 6)]

    assert all(sorted(order) == list(range(5)) for order in orders(1))
    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    assert len(set(orders(1))) > 1


def test_losses_are_means_and_scores_are_kept():
    scores = {4: 1.0, 8: 2.0}
    _, _, records = run(range(4), epochs=2, score=scores.get)
    assert [(record.epoch, record.loss, record.score) for record in records] == [(1, 1.5, 1.0), (2, 1.5, 2.0)]
    assert run([3.0], epochs=1)[2][0].loss == 3.0


@pytest.mark.parametrize(("patience", "epochs", "best"), [(2, 4, 2), (3, 6, 5), (None, 6, 5)])
def test_training_stops_after_patience_and_keeps_the_best(patience, epochs, best):
    scores = {1: 1.0, 2: 3.0, 3: 2.0, 4: 3.0, 5: 9.0, 6: 1.0}
    calls, model, records = run([0.0], epochs=6, score=scores.get, patience=patience)
    assert len(records) == epochs
    assert model == best
    assert calls == [0.0, "regularise"] * epochs


def test_without_held_out_data_the_last_model_is_kept():
    assert run([0.0], epochs=4)[1] == 4


def test_seconds_are_those_of_the_passes():
    start = process_time()
    _, _, records = run(range(3), epochs=2)
    assert 0.0 <= sum(record.seconds for record in records) <= process_time() - start


def test_nothing_to_learn_from():
    calls, model, records = run([], epochs=2)
    assert (calls, model, [record.loss for record in records]) == (["regularise"] * 2, 0, [0.0, 0.0])
