"""Features of a candidate arc against a source tree, in slow plain Python: features are tuples of values.

Of qsproj it imports the readers of single cells (tags, relations) and the templates, which are data.
"""

from __future__ import annotations

from qsproj.features.adaptation_templates import CLOSED_CLASSES, TAG_CLASSES, base_relation, shallow_relation

MAX_STEPS = 5
MAX_UP, MAX_DOWN = 6, 6


def chain(heads, node):
    """Return the node and all above it."""
    nodes = [node]
    while heads[nodes[-1]] >= 0:
        nodes.append(heads[nodes[-1]])
    return nodes


def path(heads, head, dependent):
    """Return nodes up from the dependent, nodes from the top down to the head, and the ancestor; or None."""
    above_dependent, above_head = chain(heads, dependent), chain(heads, head)
    shared = [node for node in above_dependent if node in above_head]
    if not shared:
        return None
    up = above_dependent[: above_dependent.index(shared[0])]
    down = above_head[: above_head.index(shared[0])][::-1]
    return up, down, shared[0]


def node_value(sentence, node, name):
    """Return what a column holds for a node; None is no node."""
    n = len(sentence)
    heads = sentence.heads.tolist()
    dependents = [k for k in range(1, n + 1) if heads[k] == node]
    base = [base_relation(relation) for relation in sentence.deprels]
    tags = ["<root>", *sentence.upos]
    if node is None:
        return "<none>"
    if name == "left":
        return ("left", *[base[k - 1] for k in reversed(dependents) if k < node])
    if name == "right":
        return ("right", *[base[k - 1] for k in dependents if k > node])
    if name == "children":
        return ("children", *sorted(base[k - 1] for k in dependents))
    if name == "previous":
        return tags[node - 1] if node > 0 else "<none>"
    if name == "next":
        return tags[node + 1] if node < n else "<none>"
    if name in ("inner", "outer", "side"):
        if heads[node] < 0:
            return "<none>"
        head = heads[node]
        side = [k for k in range(1, n + 1) if heads[k] == head and (k < head) == (node < head)]
        side.sort(key=lambda k: abs(k - head))
        place = side.index(node) + (1 if name == "outer" else -1)
        if name == "side":
            return "right" if head < node else "left"
        return base[side[place] - 1] if 0 <= place < len(side) else "<none>"
    if node == 0:
        return "<root>"
    tag, form, lemma = sentence.upos[node - 1], sentence.forms[node - 1].lower(), sentence.lemmas[node - 1]
    return {
        "base": base[node - 1],
        "relation": shallow_relation(sentence.deprels[node - 1]),
        "tag": tag,
        "class": TAG_CLASSES.get(tag, "content"),
        "fine": sentence.xpos[node - 1],
        "word": form if tag in CLOSED_CLASSES else tag,
        "lemma": form if lemma == "_" else lemma,
        "features": sentence.feats[node - 1],
    }[name]


def runs(values):
    return [value for k, value in enumerate(values) if k == 0 or value != values[k - 1]]


def side_of(node, other):
    return (node > other) - (node < other)


def pair_value(sentence, head, dependent, up, down, ancestor, name, turned_heads):
    """Return what an atom of the pair holds."""
    heads = sentence.heads.tolist()
    gap = abs(head - dependent)
    votes = tuple(bool(tree[dependent] == head) for tree in turned_heads)
    head_branch, dependent_branch = (down or [ancestor])[0], (up or [ancestor])[-1]
    siblings = [k for k in range(1, len(sentence) + 1) if heads[k] == ancestor]
    low, high = sorted((head_branch, dependent_branch))
    between = [k for k in siblings if low < k < high]

    def like(nodes, branch):
        return sum(node_value(sentence, k, "base") == node_value(sentence, branch, "base") for k in nodes)

    def beyond(branch):
        return [
            k
            for k in siblings
            if side_of(k, branch) == side_of(branch, ancestor) and branch != ancestor and k != branch
        ]

    def column(nodes, name):
        return [node_value(sentence, k, name) for k in nodes]

    return {
        "shape": lambda: (
            *(len(up), len(down), head < dependent),
            *(side_of(ancestor, head), side_of(ancestor, dependent)),
        ),
        "coarse": lambda: (min(len(up), 2), min(len(down), 2), head < dependent),
        "bases": lambda: (*column(up, "base"), "top", *column(down, "base")),
        "relations": lambda: (*column(up, "relation"), "top", *column(down, "relation")),
        "runs": lambda: (*runs(column(up, "relation")), "top", *runs(column(down, "relation"))),
        "tags": lambda: (
            tuple(column(up[1:], "tag")),
            node_value(sentence, ancestor, "tag") if up and down else "",
            tuple(column(down[:-1], "tag")),
        ),
        "kinds": lambda: (
            min(like(between, head_branch), 2),
            min(like(between, dependent_branch), 2),
            bool(like(beyond(head_branch), head_branch)),
            bool(like(beyond(dependent_branch), dependent_branch)),
        ),
        "between": lambda: min(len(between), 3),
        "gap": lambda: (gap if gap < 5 else 5 if gap < 10 else 10, head < dependent),
        "ends": lambda: bool(beyond(head_branch)),
        "votes": lambda: votes,
        "stay": lambda: votes[0],
        "move": lambda: votes[1],
    }[name]()


def features_of(sentence, templates, head, dependent, turned_heads):
    """Return the features of one arc, (template, values); of too long a path the first template alone."""
    found = path(sentence.heads.tolist(), head, dependent)
    if found is None:
        return [(templates[0], "far")]
    up, down, ancestor = found
    turned = any(tree[dependent] == head for tree in turned_heads)
    if len(up) > MAX_UP or len(down) > MAX_DOWN or (len(up) + len(down) > MAX_STEPS and not turned):
        return [(templates[0], "far")]
    heads = sentence.heads.tolist()
    nodes = {
        "head": head,
        "dep": dependent,
        "head-parent": heads[head] if heads[head] >= 0 else None,
        "dep-parent": heads[dependent] if heads[dependent] >= 0 else None,
        "ancestor": ancestor,
        "head-branch": (down or [ancestor])[0],
        "dep-branch": (up or [ancestor])[-1],
    }
    features = []
    for template in templates:
        values = []
        for atom in template:
            place, _, name = atom.partition(".")
            if place == "pair":
                values.append(pair_value(sentence, head, dependent, up, down, ancestor, name, turned_heads))
            else:
                values.append(node_value(sentence, nodes[place], name))
        features.append((template, tuple(values)))
    return features
