"""Inputs and options of a bootstrap, stored in its workspace so that its model can be retrained."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from qsproj.errors import DataError, UsageError
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import write_json

_NAME = "bootstrap.{}.json"


@dataclass(frozen=True, slots=True)
class BootstrapCall:
    """Texts and options of :func:`qsproj.pipelines.bootstrap.bootstrap.bootstrap`."""

    texts: tuple[SourceText, ...]
    options: BootstrapOptions

    @property
    def language(self) -> str:
        return self.texts[0].languages[1]

    @property
    def files(self) -> list[str]:
        read = [path for text in self.texts for path in (*text.treebanks, *text.bitext)]
        return [*read, *self.options.files]

    def save(self, folder: Path) -> None:
        """Write the call to a workspace, with absolute paths and without the options of parser training."""
        options = _absolute(asdict(self.options))
        del options["soft"]
        texts = [_absolute(asdict(text)) for text in self.texts]
        write_json(folder / _NAME.format(self.language), {"texts": texts, "options": options})

    @classmethod
    def load(cls, folder: Path, language: str | None) -> "BootstrapCall":
        """Read the call of a language, or the only one.

        Raises UsageError when there is none or several, DataError when it is damaged.
        """
        found = {path.name.split(".")[1]: path for path in sorted(folder.glob(_NAME.format("*")))}
        if language is None and len(found) > 1:
            raise UsageError(f"{folder}: holds {', '.join(found)}; name one: --language {next(iter(found))}")
        path = next(iter(found.values()), None) if language is None else found.get(language)
        if path is None:
            found_none = "found no bootstrap" + ("" if language is None else f" of {language}")
            raise UsageError(f"{folder}: {found_none}; make one: qsproj bootstrap ... --work {folder}")
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            texts = tuple(SourceText(**_with_tuples(text)) for text in record["texts"])
            known = {field.name for field in fields(BootstrapOptions)}
            options = {name: value for name, value in record["options"].items() if name in known}
            return cls(texts, BootstrapOptions(**_with_tuples(options)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            expected, remedy = "the call of a bootstrap", "run the bootstrap again"
            raise DataError(str(path), None, "a damaged record", expected, remedy) from error


_FILES = ("treebanks", "bitext", "also", "tagged", "annotated", "parsed", "text", "lexicon", "alignment")


def _absolute(record: dict[str, Any]) -> dict[str, Any]:
    for name in record.keys() & _FILES:
        if isinstance(value := record[name], str):
            record[name] = str(Path(value).resolve())
        elif value:
            record[name] = [str(Path(path).resolve()) for path in value]
    return record


def _with_tuples(record: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
