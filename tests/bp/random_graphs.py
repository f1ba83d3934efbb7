"""Random factor graphs without a cycle, small enough to enumerate."""

from __future__ import annotations

import numpy as np

from qsproj.bp.factors.booleans import all_true, at_most_one, exactly_one, link, nand
from qsproj.bp.factors.chains import child_sequence, step_starts, valence
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.factors.trees import no_cross, projective_tree, tree
from tests.bp.links import all_links

N_BOOLEANS, N_TAGS = 6, 3


def acyclic_graph(rng, scale, *, infinite=True):
    """Return numbers of states and groups of one factor each: 6 booleans, 2 tags.

    Factors are drawn until everything hangs together; each takes variables that nothing connects yet.
    """

    def scores(*shape):
        drawn = scale * rng.normal(size=shape)
        return np.where(rng.random(shape) < 0.06, -np.inf, drawn) if infinite else drawn

    booleans, tags = list(range(N_BOOLEANS)), [N_BOOLEANS, N_BOOLEANS + 1]
    component = list(range(N_BOOLEANS))
    groups = [tag(tags, scores(2, N_TAGS))]
    evidence = scale * rng.normal(size=N_BOOLEANS)
    if infinite:
        evidence = np.where(
            rng.random(N_BOOLEANS) < 0.06, rng.choice([-np.inf, np.inf], N_BOOLEANS), evidence
        )
    groups.append(link(booleans, evidence))
    for _ in range(30):
        degree = int(rng.integers(2, 5))
        chosen, seen = [], set()
        for variable in rng.permutation(booleans).tolist():
            if component[variable] not in seen and len(chosen) < degree:
                chosen.append(variable)
                seen.add(component[variable])
        if len(chosen) < 2:
            break
        groups.append(boolean_factor(rng, scores, chosen))
        join(component, chosen)
    if rng.random() < 0.5:
        groups.append(tag_link([booleans[0]], [tags[0]], [tags[1]], scores(1, N_TAGS, N_TAGS)))
    else:
        groups.append(trigram(tags, scores(N_TAGS + 1, N_TAGS + 1, N_TAGS + 1)))
    return np.array([2] * N_BOOLEANS + [N_TAGS] * 2), groups


def join(component, chosen):
    target, joined = component[chosen[0]], {component[member] for member in chosen}
    for variable in range(len(component)):
        if component[variable] in joined:
            component[variable] = target


def boolean_factor(rng, scores, chosen):
    """Draw one factor over exactly these booleans."""
    d = len(chosen)
    kinds = ["all", "exactly", "atmost", "chain", "valence"]
    if d == 2:
        kinds += ["nand"]
    if d == 4:
        kinds += ["tree", "ptree", "nocross"]
    kind = kinds[rng.integers(len(kinds))]
    links = all_links(2)
    if d == 4:
        links[links >= 0] = np.array(chosen)[links[links >= 0]]
    if kind == "all":
        return all_true([chosen], scores(1))
    if kind == "exactly":
        return exactly_one([chosen])
    if kind == "atmost":
        return at_most_one([chosen])
    if kind == "chain":
        return child_sequence(chosen, [0, d], scores(step_starts([0, d])[-1]))
    if kind == "valence":
        return valence(chosen, [0, d], scores(1, 3))
    if kind == "nand":
        return nand([chosen])
    if kind == "nocross":
        return no_cross(links, [[1, 2]], scores(1))
    return (tree if kind == "tree" else projective_tree)(links)
