"""The loop: order, early stopping, records."""

import numpy as np

from qsproj.training.loop import learn, run_epochs


def test_every_example_is_seen_once_an_epoch_in_an_order_of_the_seed():
    def orders(seed):
        seen = []
        run_epochs(5, lambda i: seen.append(i) or 0.0, epochs=3, rng=np.random.default_rng(seed))
        return [tuple(seen[k : k + 5]) for k in range(0, 15, 5)]

    assert all(sorted(order) == list(range(5)) for order in orders(1))
    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    assert len(set(orders(1))) > 1


def test_losses_are_means_and_scores_are_kept():
    scores = iter([1.0, 2.0])
    records = run_epochs(
        4, float, epochs=2, rng=np.random.default_rng(0), evaluate=lambda: next(scores), patience=5
    )
    assert [(record.epoch, record.loss, record.score) for record in records] == [(1, 1.5, 1.0), (2, 1.5, 2.0)]


def test_training_stops_after_patience_and_keeps_the_best():
    scores = iter([1.0, 3.0, 2.0, 3.0, 9.0])
    kept = []
    records = run_epochs(
        1,
        lambda i: 0.0,
        epochs=10,
        rng=np.random.default_rng(0),
        evaluate=lambda: next(scores),
        keep_best=lambda: kept.append(True),
        patience=2,
    )
    assert len(records) == 4
    assert len(kept) == 2


def test_finish_epoch_runs_before_the_evaluation():
    calls = []
    run_epochs(
        1,
        lambda i: 0.0,
        epochs=2,
        rng=np.random.default_rng(0),
        finish_epoch=lambda: calls.append("finish"),
        evaluate=lambda: calls.append("evaluate") or 0.0,
    )
    assert calls == ["finish", "evaluate"] * 2


def test_what_is_learned_is_the_best_of_all_epochs_on_held_out_data_and_else_the_last():
    state = []
    quality = {1: 3.0, 2: 5.0, 3: 4.0, 4: 5.0}

    def train(score):
        state.clear()
        return learn(
            1,
            lambda i: state.append(i) or 0.0,
            lambda: len(state),
            epochs=4,
            rng=np.random.default_rng(0),
            score=score,
        )

    best, records = train(quality.get)
    assert best == 2
    assert [record.score for record in records] == [3.0, 5.0, 4.0, 5.0]
    assert train(None)[0] == 4
