"""Log of a bootstrap, one line for each stage."""

from qsproj.pipelines.bootstrap.workspace import StageResult

# Descriptions of the stages for linguists.
TITLES = {
    "source": "tagger and parser of the source language",
    "words": "both sides tokenised",
    "links": "word alignment",
    "trees": "source side parsed",
    "tagger": "target tagger, trained through the links",
    "tagged": "target side tagged",
    "prior": "parser of the source treebank, its words translated",
    "parser": "target parser, trained on projected trees",
    "model": "one model for raw text",
    "examples": "sample of parsed target text",
}


def in_short(stage: StageResult) -> str:
    """Return the log line of a stage."""
    kind, _, number = stage.name.partition("-")
    title = f"{TITLES.get(kind, kind)}{f' ({number})' if number else ''}"
    return f"{title}: {stage.report.line.partition(';')[0]} ({stage.time})"
