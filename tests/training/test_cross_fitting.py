"""Each item is predicted by a model of the others, and by no model that has seen it."""

import numpy as np
import pytest

from qsproj.training.cross_fitting import cross_fit, in_order


@pytest.mark.parametrize(
    ("items", "folds", "models"), [(0, 5, 0), (1, 5, 1), (3, 5, 3), (10, 5, 5), (11, 4, 4)]
)
def test_no_model_has_seen_what_it_predicts(items, folds, models):
    fitted = []

    def fit(others):
        fitted.append(set(others))
        return len(fitted) - 1

    given = dict(folds=folds, rng=np.random.default_rng(3))
    found = in_order(cross_fit(items, fit, lambda model, item: (item, model), **given))
    assert [item for item, _ in found] == list(range(items))
    assert len(fitted) == models
    for item, model in found:
        assert item not in fitted[model]
    for model, seen in enumerate(fitted):
        own = {item for item, by in found if by == model}
        assert seen | own == set(range(items))
        assert items // models <= len(own) <= -(-items // models)


def test_one_model_is_made_at_a_time():
    made = []
    given = dict(folds=2, rng=np.random.default_rng(1))
    predictions = cross_fit(4, lambda others: made.append(others), lambda model, item: None, **given)
    next(predictions)
    assert len(made) == 1


def test_without_a_generator_items_take_turns():
    found = in_order(cross_fit(5, lambda others: others, lambda model, item: model, folds=2))
    assert found == [[1, 3], [0, 2, 4], [1, 3], [0, 2, 4], [1, 3]]
