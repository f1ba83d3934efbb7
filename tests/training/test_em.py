"""The EM loop on a mixture of two coins, where every step can be written down."""

from __future__ import annotations

import math

import pytest

from qsproj.training.em import EMProblem, LikelihoodFellError, run_em


def em(start, *, iterations=100, tolerance=1e-4, resume=None, after_iteration=lambda _: None, **given):
    problem = EMProblem(iterations=iterations, tolerance=tolerance, **given)
    return run_em(start, problem, resume=resume, after_iteration=after_iteration)


THROWS, HEADS = 10, (9, 8, 2, 9, 1, 1, 8, 2)


def likelihoods(parameters, heads):
    return [p**heads * (1 - p) ** (THROWS - heads) for p in parameters]


def e_step(parameters):
    """Give expected heads and throws of each coin, and the log-likelihood."""
    counts, total = [[0.0, 0.0], [0.0, 0.0]], 0.0
    for heads in HEADS:
        joint = likelihoods(parameters, heads)
        for coin in (0, 1):
            share = joint[coin] / sum(joint)
            counts[coin][0] += share * heads
            counts[coin][1] += share * THROWS
        total += math.log(sum(joint) / 2)
    return counts, total


def m_step(counts):
    return tuple(heads / throws for heads, throws in counts)


def test_it_finds_the_coins_and_never_falls():
    result = em((0.6, 0.5), e_step=e_step, m_step=m_step, tolerance=1e-12)
    assert result.converged
    assert result.parameters == pytest.approx((0.85, 0.15), abs=0.02)
    objectives = [record.objective for record in result.records]
    assert objectives == sorted(objectives)
    assert [record.iteration for record in result.records] == list(range(1, len(objectives) + 1))


def test_a_wrong_m_step_is_caught():
    def too_far(counts):
        return tuple(p / 2 for p in m_step(counts))

    with pytest.raises(LikelihoodFellError, match="iteration"):
        em((0.8, 0.2), e_step=e_step, m_step=too_far)


def test_a_likelihood_that_is_no_number_is_caught():
    with pytest.raises(LikelihoodFellError):
        em(0, e_step=lambda step: (step, math.nan if step else 0.0), m_step=lambda step: step + 1)


def test_iterations_run_out():
    seen = []
    result = em(
        0,
        e_step=lambda step: (step, float(step)),
        m_step=lambda step: step + 1,
        iterations=3,
        after_iteration=lambda state: seen.append((len(state.records), state.parameters)),
    )
    assert (result.parameters, result.converged) == (3, False)
    assert seen == [(1, 1), (2, 2), (3, 3)]


def test_smoothing_counts_in_the_objective():
    """Added counts pull away from the maximum of the likelihood, not from that of the objective."""

    def smoothed(counts):
        return tuple((heads + 5) / (throws + 10) for heads, throws in counts)

    def log_prior(parameters):
        return 5 * sum(math.log(p) + math.log(1 - p) for p in parameters)

    start = (0.95, 0.05)
    result = em(start, e_step=e_step, m_step=smoothed, log_prior=log_prior, tolerance=1e-12)
    assert result.parameters[0] < 0.8
    with pytest.raises(LikelihoodFellError):
        em((0.85, 0.15), e_step=e_step, m_step=smoothed)


@pytest.mark.parametrize("stopped_after", [1, 2, 3, 4])
def test_going_on_gives_what_never_stopping_gives(stopped_after):
    states = []
    steps = {
        "e_step": lambda step: (step, float(step)),
        "m_step": lambda step: step + 1,
        "tolerance": -1e9,
    }
    whole = em(0, iterations=5, after_iteration=states.append, **steps)
    resumed = em(99, iterations=5, resume=states[stopped_after - 1], **steps)
    assert resumed == whole
    assert len(whole.records) == 5


def test_a_run_that_is_over_is_not_run_again():
    states = []
    em(0, e_step=lambda n: (n, float(n)), m_step=lambda n: n + 1, iterations=3, after_iteration=states.append)
    again = em(0, e_step=None, m_step=None, iterations=3, resume=states[-1])
    assert (again.parameters, len(again.records)) == (3, 3)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("gain", "converged"), [(0.00009, True), (0.00011, False)])
def test_unless_told_it_goes_on_for_a_gain_of_a_ten_thousandth(gain, converged, scale):
    levels = [scale * (-1.0 - gain), -scale]
    result = em(
        0, e_step=lambda step: (step, levels[step]), m_step=lambda step: step + 1, iterations=len(levels)
    )
    assert result.converged == converged


@pytest.mark.parametrize(("fall", "caught"), [(0.9e-9, False), (1.1e-9, True)])
def test_what_rounding_takes_off_is_no_fall(fall, caught):
    def run():
        return em(
            0,
            e_step=lambda step: (step, -1.0 - step * fall),
            m_step=lambda step: step + 1,
            tolerance=-1.0,
            iterations=2,
        )

    if not caught:
        assert len(run().records) == 2
        return
    with pytest.raises(LikelihoodFellError):
        run()


def test_without_a_prior_the_objective_is_the_likelihood():
    result = em((0.6, 0.5), e_step=e_step, m_step=m_step, iterations=3)
    assert [record.objective for record in result.records] == [
        record.log_likelihood for record in result.records
    ]
