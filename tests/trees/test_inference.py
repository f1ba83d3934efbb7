"""One suite for both kinds of trees: agreement with enumeration, and properties that hold at every size."""

from __future__ import annotations

import math
from functools import partial
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from qsproj.errors import QsprojError, UsageError
from qsproj.kernels.trees.eisner import charts
from qsproj.kernels.trees.tree_sampling import probability_charts
from qsproj.trees import nonprojective, projective
from qsproj.trees.family import NoTreeError
from tests.oracles.finite_differences import gradient
from tests.oracles.trees import Enumeration, is_projective, is_tree, number_of_trees, tree_score

KINDS = pytest.mark.parametrize("trees", [projective, nonprojective], ids=["projective", "nonprojective"])
ROOTS = pytest.mark.parametrize("single_root", [False, True], ids=["multi_root", "single_root"])
FIXED = settings(derandomize=True, max_examples=40)


def random_scores(
    seed: int, n: int, scale: float, *, ties: bool = False, forbidden: float = 0.0
) -> np.ndarray:
    """Normal scores; NaN where no function may look."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n + 1, n + 1))
    if ties:
        scores = np.round(scores)
    scores *= scale
    scores[rng.random(scores.shape) < forbidden] = -np.inf
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.nan)
    return scores


def enumerate_trees(trees: ModuleType, scores: np.ndarray, single_root: bool) -> Enumeration:
    return Enumeration(scores.tolist(), projective=trees is projective, single_root=single_root)


def arcs(n: int) -> list[tuple[int, int]]:
    return [(head, dependent) for head in range(n + 1) for dependent in range(1, n + 1) if head != dependent]


small_scores = st.builds(
    random_scores,
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.sampled_from([1.0, 10.0, 100.0, 1000.0]),
    ties=st.booleans(),
    forbidden=st.sampled_from([0.0, 0.0, 0.3, 0.6]),
)
large_scores = st.builds(
    random_scores,
    st.integers(0, 10_000),
    st.integers(1, 40),
    st.sampled_from([1.0, 10.0, 40.0, 200.0]),
    ties=st.booleans(),
)


@KINDS
@ROOTS
@FIXED
@given(scores=small_scores)
def test_agrees_with_enumeration(trees: ModuleType, single_root: bool, scores: np.ndarray) -> None:
    oracle = enumerate_trees(trees, scores, single_root)
    if not oracle.trees:
        for function in (trees.best, trees.posterior, trees.marginals, trees.entropy, trees.max_marginals):
            with pytest.raises(NoTreeError, match="found no tree"):
                function(scores, single_root=single_root)
        return
    n = oracle.n
    heads, score = trees.best(scores, single_root=single_root)
    assert score == pytest.approx(oracle.trees[0][1], abs=1e-9)
    assert tree_score(scores.tolist(), heads.tolist()) == pytest.approx(score, abs=1e-9)
    posterior = trees.posterior(scores, single_root=single_root)
    assert posterior.log_z == pytest.approx(oracle.log_z, abs=1e-9)
    log_z, marginals = trees.marginals(scores, single_root=single_root)
    assert log_z == pytest.approx(oracle.log_z, abs=1e-9)
    np.testing.assert_allclose(marginals, posterior.marginals, atol=1e-11)
    best_with = trees.max_marginals(scores, single_root=single_root)
    for arc in arcs(n):
        exact = oracle.log_marginal(*arc)
        assert posterior.log_marginals[arc] == pytest.approx(exact, rel=1e-9, abs=1e-9)
        assert posterior.marginals[arc] == pytest.approx(math.exp(exact), abs=1e-11)
        assert best_with[arc] == pytest.approx(oracle.max_marginal(*arc), abs=1e-9)
    ignored = np.ones(scores.shape, dtype=bool)
    ignored[tuple(np.transpose(arcs(n)))] = False
    assert np.all(posterior.marginals[ignored] == 0.0)
    assert np.all(posterior.log_marginals[ignored] == -np.inf)
    assert np.all(best_with[ignored] == -np.inf)


@KINDS
@ROOTS
@FIXED
@given(scores=small_scores, alpha=st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf]))
def test_entropies_agree_with_enumeration(
    trees: ModuleType, single_root: bool, scores: np.ndarray, alpha: float
) -> None:
    oracle = enumerate_trees(trees, scores, single_root)
    if not oracle.trees:
        return
    probabilities = np.array(oracle.probabilities)
    seen = probabilities[probabilities > 0.0]
    shannon = -math.fsum(seen * np.log(seen))
    assert trees.entropy(scores, single_root=single_root) == pytest.approx(shannon, abs=1e-9)
    if alpha == 0.0:
        expected = math.log(len(oracle.trees))
    elif alpha == 1.0:
        expected = shannon
    elif alpha == math.inf:
        expected = -math.log(seen.max())
    else:
        expected = math.log(math.fsum(seen**alpha)) / (1.0 - alpha)
    assert trees.renyi_entropy(scores, alpha, single_root=single_root) == pytest.approx(expected, abs=1e-9)


@KINDS
@ROOTS
@FIXED
@given(scores=small_scores, k=st.sampled_from([1, 3, 10, 2000]))
def test_k_best_lists_the_best_trees_once(
    trees: ModuleType, single_root: bool, scores: np.ndarray, k: int
) -> None:
    oracle = enumerate_trees(trees, scores, single_root)
    if not oracle.trees:
        return
    k = min(k, 150) if oracle.n == 5 else k
    ranked = trees.k_best(scores, k, single_root=single_root)
    assert len(ranked) == min(k, len(oracle.trees))
    assert len({tuple(heads.tolist()) for heads, _ in ranked}) == len(ranked)
    for (heads, score), (_, exact) in zip(ranked, oracle.trees, strict=False):
        assert score == pytest.approx(exact, abs=1e-9)
        assert tree_score(scores.tolist(), heads.tolist()) == pytest.approx(score, abs=1e-9)


@KINDS
@ROOTS
@FIXED
@given(scores=small_scores)
def test_expectation_agrees_with_enumeration(
    trees: ModuleType, single_root: bool, scores: np.ndarray
) -> None:
    oracle = enumerate_trees(trees, scores, single_root)
    if not oracle.trees:
        return
    values = np.random.default_rng(3).normal(size=scores.shape)
    expected, slope = trees.expectation(scores, values, single_root=single_root)
    mean = oracle.expect(lambda heads, _: tree_score(values, heads))
    assert expected == pytest.approx(mean, abs=1e-9)
    for head, dependent in arcs(oracle.n):

        def with_arc(heads: tuple[int, ...], _: float, head: int = head, dependent: int = dependent) -> float:
            return (heads[dependent] == head) * (tree_score(values, heads) - mean)

        assert slope[head, dependent] == pytest.approx(oracle.expect(with_arc), abs=1e-9)


@KINDS
@ROOTS
def test_expectation_gradient_is_that_of_finite_differences(trees: ModuleType, single_root: bool) -> None:
    scores = np.nan_to_num(random_scores(5, 7, 1.5), nan=-np.inf)
    values = np.random.default_rng(6).normal(size=scores.shape)
    _, slope = trees.expectation(scores, values, single_root=single_root)
    numeric = gradient(lambda point: trees.expectation(point, values, single_root=single_root)[0], scores)
    np.testing.assert_allclose(slope, numeric, atol=1e-8)


@KINDS
@ROOTS
def test_marginals_are_the_gradient_of_log_z(trees: ModuleType, single_root: bool) -> None:
    scores = np.nan_to_num(random_scores(8, 9, 2.0), nan=-np.inf)
    numeric = gradient(lambda point: trees.posterior(point, single_root=single_root).log_z, scores)
    marginals = trees.posterior(scores, single_root=single_root).marginals
    np.testing.assert_allclose(marginals, numeric, atol=1e-8)


@KINDS
@ROOTS
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("scale", [0.7, 3.0])
def test_samples_follow_the_distribution(trees: ModuleType, single_root: bool, n: int, scale: float) -> None:
    scores = random_scores(n, n, scale)
    oracle = enumerate_trees(trees, scores, single_root)
    size = 4000
    drawn = trees.sample(scores, size, np.random.default_rng(1), single_root=single_root)
    assert drawn.shape == (size, n + 1) and drawn.dtype == np.int32
    counts = dict.fromkeys((heads for heads, _ in oracle.trees), 0)
    for heads in drawn.tolist():
        counts[tuple(heads)] += 1
    observed, expected = np.array(list(counts.values())), size * np.array(oracle.probabilities)
    rare = expected < 5.0
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 1e-9
    if keep.sum() > 1:
        # What is left out of the expected is rounding; older versions want equal sums.
        scaled = expected[keep] * (observed[keep].sum() / expected[keep].sum())
        assert chisquare(observed[keep], scaled).pvalue > 1e-3


@KINDS
@ROOTS
@FIXED
@given(scores=large_scores)
def test_properties_at_every_size_and_scale(trees: ModuleType, single_root: bool, scores: np.ndarray) -> None:
    n = scores.shape[0] - 1
    posterior = trees.posterior(scores, single_root=single_root)
    heads, score = trees.best(scores, single_root=single_root)
    assert is_tree(heads.tolist())
    assert trees is nonprojective or is_projective(heads.tolist())
    assert not single_root or np.count_nonzero(heads == 0) == 1
    assert posterior.log_z >= score - 1e-12 * abs(score)
    np.testing.assert_allclose(posterior.marginals[:, 1:].sum(axis=0), 1.0, atol=1e-9)
    np.testing.assert_allclose(np.exp(posterior.log_marginals), posterior.marginals, rtol=1e-9, atol=1e-200)
    assert np.all(np.isfinite(posterior.log_marginals[tuple(np.transpose(arcs(n)))]))
    shifted = scores.copy()
    shifted[:, n] += 50.0
    assert trees.posterior(shifted, single_root=single_root).log_z == pytest.approx(posterior.log_z + 50.0)
    best_with = trees.max_marginals(scores, single_root=single_root)
    np.testing.assert_allclose(best_with[:, 1:].max(axis=0), score, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(best_with[heads[1:], np.arange(1, n + 1)], score, rtol=1e-12, atol=1e-9)
    _, slope = trees.expectation(scores, np.where(np.isfinite(scores), scores, 0.0), single_root=single_root)
    np.testing.assert_allclose(slope.sum(axis=0), 0.0, atol=1e-7)


@KINDS
@ROOTS
@pytest.mark.parametrize("n", [1, 2, 3, 6, 15, 40])
def test_log_z_of_zero_scores_counts_the_trees(trees: ModuleType, single_root: bool, n: int) -> None:
    count = number_of_trees(n, projective=trees is projective, single_root=single_root)
    log_z = trees.posterior(np.zeros((n + 1, n + 1)), single_root=single_root).log_z
    assert log_z == pytest.approx(math.log(count), abs=1e-11)
    number = trees.renyi_entropy(np.zeros((n + 1, n + 1)), 0, single_root=single_root)
    assert number == pytest.approx(math.log(count), abs=1e-11)


@pytest.mark.slow
@KINDS
@ROOTS
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_long_sentences(trees: ModuleType, single_root: bool, scale: float) -> None:
    posterior = trees.posterior(random_scores(4, 300, scale), single_root=single_root)
    np.testing.assert_allclose(posterior.marginals[:, 1:].sum(axis=0), 1.0, atol=1e-9)
    assert np.isfinite(posterior.log_z)


@KINDS
@ROOTS
def test_one_possible_tree(trees: ModuleType, single_root: bool) -> None:
    scores = np.full((4, 4), -np.inf)
    scores[0, 2], scores[2, 1], scores[2, 3] = 1.0, -700.0, 900.0
    posterior = trees.posterior(scores, single_root=single_root)
    assert posterior.log_z == 201.0
    np.testing.assert_array_equal(posterior.marginals, np.isfinite(scores))
    assert trees.entropy(scores, single_root=single_root) == 0.0
    drawn = trees.sample(scores, 3, np.random.default_rng(0), single_root=single_root)
    assert drawn.tolist() == [[-1, 2, 0, 2]] * 3
    [(heads, score)] = trees.k_best(scores, 5, single_root=single_root)
    assert heads.tolist() == [-1, 2, 0, 2] and score == 201.0


@KINDS
def test_bad_arguments_are_refused(trees: ModuleType) -> None:
    scores = np.zeros((3, 3))
    with pytest.raises(UsageError, match="k is 0"):
        trees.k_best(scores, 0)
    with pytest.raises(UsageError, match="size is -1"):
        trees.sample(scores, -1, np.random.default_rng(0))
    with pytest.raises(UsageError, match=r"rng is 1, expected a generator"):
        trees.sample(scores, 1, 1)
    for alpha in (-0.5, "2", None, np.ones(2)):
        with pytest.raises(UsageError, match="alpha"):
            trees.renyi_entropy(scores, alpha)
    with pytest.raises(ValueError, match="shape"):
        trees.posterior(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="expected finite or -inf"):
        trees.best(np.full((3, 3), np.inf))
    with pytest.raises(ValueError, match=r"values\[0, 1\] is nan, expected finite where"):
        trees.expectation(scores, np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="shape"):
        trees.expectation(scores, np.zeros((2, 2)))
    for count in (2.5, float("nan"), "3", True):
        with pytest.raises(UsageError, match=r"k is .*, expected a whole number of at least 1"):
            trees.k_best(scores, count)
    bad = scores.copy()
    bad[0, 2] = np.nan
    with pytest.raises(ValueError, match=r"scores\[0, 2\] is nan, expected finite or -inf for an arc 0 -> 2"):
        trees.posterior(bad)
    assert issubclass(NoTreeError, QsprojError) and issubclass(NoTreeError, ValueError)


@KINDS
def test_cells_of_no_arc_may_have_any_value(trees: ModuleType) -> None:
    scores = np.random.default_rng(3).normal(size=(4, 4))
    drawn = trees.sample(scores, 20, np.random.default_rng(1))
    np.fill_diagonal(scores, 1e4)
    scores[:, 0] = 1e4
    with np.errstate(all="raise", under="ignore"):
        assert (trees.sample(scores, 20, np.random.default_rng(1)) == drawn).all()


@KINDS
def test_what_stands_in_the_way_of_a_tree_is_told(trees: ModuleType) -> None:
    scores = np.zeros((4, 4))
    scores[[0, 1, 3], 2] = -np.inf
    with pytest.raises(NoTreeError, match=r"scores\[:, 2\] forbids all arcs to word 2: allow one"):
        trees.k_best(scores, 1)
    scores = np.full((4, 4), -np.inf)
    scores[0, 1] = scores[2, 3] = scores[3, 2] = 0.0
    with pytest.raises(
        NoTreeError, match="word 2 cannot be reached from the root: allow arcs that lead there"
    ):
        trees.posterior(scores)
    scores[0, 2] = 0.0
    with pytest.raises(NoTreeError, match=r"exactly one root child .*; allow more arcs"):
        trees.sample(scores, 1, np.random.default_rng(0), single_root=True)


@KINDS
@ROOTS
def test_more_trees_than_there_are_gives_all(trees: ModuleType, single_root: bool) -> None:
    ranked = trees.k_best(np.zeros((4, 4)), 10**9, single_root=single_root)
    assert len(ranked) == len({tuple(heads.tolist()) for heads, _ in ranked})
    assert len(ranked) == number_of_trees(3, projective=trees is projective, single_root=single_root)


@KINDS
def test_inputs_are_left_alone_and_results_read_only(trees: ModuleType) -> None:
    scores = np.arange(16.0).reshape(4, 4)
    before = scores.copy()
    posterior = trees.posterior(scores)
    trees.k_best(scores, 3)
    trees.sample(scores, 2, np.random.default_rng(0), single_root=True)
    trees.expectation(scores, scores)
    np.testing.assert_array_equal(scores, before)
    assert not posterior.marginals.flags.writeable and not posterior.log_marginals.flags.writeable


@ROOTS
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.1])
def test_trees_are_drawn_alike_from_sums_and_from_logs(monkeypatch, single_root, scale, forbidden) -> None:
    used = []
    for kernel in (projective.charts, projective.probability_charts):
        counted = partial(lambda kernel, *given: used.append(kernel) or kernel(*given), kernel)
        monkeypatch.setattr(projective, "charts" if kernel is charts else "probability_charts", counted)
    for seed in range(10):
        scores = random_scores(seed, 10 + 3 * seed, scale, forbidden=forbidden)
        draw = partial(projective.sample, scores, 30, single_root=single_root)
        found = draw(np.random.default_rng(seed))
        with monkeypatch.context() as context:
            context.setattr(projective, "IN_RANGE", 0.5)
            assert np.array_equal(found, draw(np.random.default_rng(seed)))
    assert used.count(probability_charts) == 20
    if forbidden == 0.0 and scale <= 10.0:
        assert used.count(charts) == 10
