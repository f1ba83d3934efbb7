"""Former spellings of commands, mapped to the present ones."""

import shlex
from collections.abc import Sequence

# Former action of a command -> present command.
_ACTIONS = {
    ("biparse", "train"): "train-biparser",
    ("biparse", "join"): "join-biparser",
    ("biparse", "parse"): "biparse",
    ("biparse", "cotrain"): "cotrain",
    ("styles", "convert"): "convert",
}


def present_spelling(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the former name of a command and its present command line, None if it has not changed."""
    if len(words) < 2:
        return None
    command, *rest = words
    if (command, rest[0]) in _ACTIONS:
        return f"{command} {rest[0]}", _line(_ACTIONS[command, rest[0]], *rest[1:])
    if command == "tag" and (found := _taken(rest, "--train")) is not None:
        treebanks, others = found
        return "tag --train", _line("train-tagger", *treebanks, *others)
    if command == "tag" and "--project" in rest:
        return "tag --project", _line("project-tags", *(word for word in rest if word != "--project"))
    if command == "adapt" and any(word.startswith("-m") or word.startswith("--model") for word in rest):
        source, others = _taken(rest, "--source") or ([], rest)
        return "adapt -m", _line("convert", *source, *others)
    return None


def _line(command: str, *words: str) -> str:
    return shlex.join(["qsproj", command, *words])


def _taken(words: Sequence[str], option: str) -> tuple[list[str], list[str]] | None:
    values, others, given, inside = list[str](), list[str](), False, False
    for word in words:
        if word == option:
            given = inside = True
        elif word.startswith(f"{option}="):
            given, inside = True, False
            values.append(word.removeprefix(f"{option}="))
        elif inside and (word == "-" or not word.startswith("-")):
            values.append(word)
        else:
            inside = False
            others.append(word)
    return (values, others) if given else None
