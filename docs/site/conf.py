"""How Sphinx makes the site: pages as they lie in the repository, so that links work in both, and the API."""

import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "docs" / "site")]

import commands  # noqa: E402

import qsproj  # noqa: E402

project = "qsproj"
release = qsproj.__version__
copyright = "the qsproj maintainers, MIT licence"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
root_doc = "docs/site/index"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "corpora/README.md", "docs/**.md"]

# Pages: links between headings are checked, too. Console blocks hold file names that no lexer knows.
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

# Reference: numpy docstrings, the order of the source, types in the signature.
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

smartquotes = False
html_theme = "furo"
html_title = "qsproj"
html_copy_source = False
html_show_sourcelink = False
# A summary would be fetched from the page, which pages that are read from a folder may not do.
html_show_search_summary = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
templates_path = ["templates"]
html_additional_pages = {"index": "to_the_start.html"}


def fields_as_lists(app, what, name, obj, options, lines):
    """Make a list of a paragraph of fields: lines that begin with a name, and indented ones below."""
    paragraphs = "\n".join(lines).split("\n\n")
    for place, paragraph in enumerate(paragraphs):
        rows = paragraph.strip("\n").split("\n")
        if rows[0].startswith("``") and all(re.match(r"``\w| {4}\S", row) for row in rows):
            paragraphs[place] = re.sub(
                "^    ", "  ", re.sub("^``", "- ``", paragraph, flags=re.M), flags=re.M
            )
    lines[:] = "\n\n".join(paragraphs).split("\n")


def commands_filled_in(app, docname, source):
    """Fill in the reference of the commands."""
    source[0] = source[0].replace("{{commands}}", commands.reference())


def setup(app):
    """Connect what changes pages and docstrings; of the latter, before napoleon reads what is left."""
    app.connect("source-read", commands_filled_in)
    app.connect("autodoc-process-docstring", fields_as_lists, priority=100)
