"""Each item is predicted by a model of the others, and by no model that has seen it."""

import numpy as np
import pytest

from qsproj.training.cross_fitting import HeldOut, cross_fit, helpful_share, in_order, likeliest_temperature
from qsproj.training.objectives import LabelLikelihood


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


def held_out(rng, *, help_, noise=1.0, words=60):
    """Words of which scores before know a little, and whose change is right by ``help_`` on the mean."""
    right = rng.integers(0, 3, size=words)
    before = rng.normal(size=(words, 3))
    before[np.arange(words), right] += 0.5
    change = noise * rng.normal(size=(words, 3))
    change[np.arange(words), right] += help_
    # Much too confident: without a temperature of its own, any change that blurs would be welcome.
    return [HeldOut(LabelLikelihood(right), 8.0 * before, 8.0 * (before + change))]


@pytest.mark.parametrize("help_", [-1.0, 0.0, 0.3, 3.0])
def test_the_share_is_the_best_of_a_grid_at_the_best_temperature(help_):
    items = held_out(np.random.default_rng(2), help_=help_)

    def loss(share, scale):
        return sum(
            one.objective.value_and_gradient(scale * (one.before + share * (one.after - one.before)))[0]
            for one in items
        )

    shares, scales = np.linspace(0.0, 1.0, 51), np.exp(np.linspace(-6.0, 2.0, 161))
    best = min(shares, key=lambda share: min(loss(share, scale) for scale in scales))
    assert helpful_share(items) == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_temperature_is_the_likeliest_of_a_grid(share):
    items = held_out(np.random.default_rng(2), help_=0.5)
    grid = np.exp(np.linspace(-1.0, 4.0, 501))

    def loss(temperature):
        scores = (one.before + share * (one.after - one.before) for one in items)
        each = zip(items, scores, strict=True)
        return sum(one.objective.value_and_gradient(of / temperature)[0] for one, of in each)

    assert likeliest_temperature(items, share) == pytest.approx(min(grid, key=loss), rel=0.02)


def test_a_change_that_harms_is_not_made_and_one_that_helps_is_made_in_full():
    rng = np.random.default_rng(3)
    assert helpful_share(held_out(rng, help_=-1.0)) == 0.0
    assert helpful_share(held_out(rng, help_=3.0, noise=0.1)) == 1.0
    assert 0.0 < helpful_share(held_out(rng, help_=0.3, words=2000)) < 1.0
    assert helpful_share([]) == 1.0


def test_one_item_does_not_decide():
    """Nine items are against a change that a tenth is much in favour of."""
    rng = np.random.default_rng(4)
    against = [one for _ in range(9) for one in held_out(rng, help_=-0.1, words=20)]
    outlier = held_out(rng, help_=3.0, words=200)
    assert helpful_share(against) == 0.0 < helpful_share(outlier)
    assert helpful_share([*against, *outlier]) == 0.0
