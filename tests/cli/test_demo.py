"""The demo: what it prints, and that projection beats what knows nothing."""

import re


def test_the_demo_projects_and_says_how_well(run_cli):
    outcome = run_cli("demo", "--corpora", "corpora")
    assert outcome.code == 0
    scores = dict(re.findall(r"^  (\S.*?) +UAS +([\d.]+)%", outcome.out, re.MULTILINE))
    assert len(scores) == 5
    blind = max(float(score) for name, score in scores.items() if name.startswith("every"))
    assert float(scores["hard projection"]) > blind + 30
    assert float(scores["English parser of tags alone"]) > blind + 30


def test_the_demo_beats_its_baseline(run_cli):
    """What is shown as the result must be better than a parser that read no bitext."""
    for seed in (1, 2, 3):
        outcome = run_cli("demo", "--corpora", "corpora", "--seed", seed)
        scores = dict(re.findall(r"^  (\S.*?) +UAS +([\d.]+)%", outcome.out, re.MULTILINE))
        assert float(scores["soft projection"]) > float(scores["English parser of tags alone"])
        assert float(scores["soft projection"]) > float(scores["hard projection"])


def test_a_missing_sample_is_one_line(run_cli, tmp_path):
    outcome = run_cli("demo", "--corpora", tmp_path)
    assert outcome.code == 2
    assert outcome.err.startswith("qsproj demo: found no ")
    assert outcome.err.count("\n") == 1
