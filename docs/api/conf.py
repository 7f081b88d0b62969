"""Sphinx: the pages of the programming interface, from docstrings.

Built into the site by workflow/rules/api.smk. tests/test_api.py asks that every public name is on a
page, and that its example runs.
"""

from bestarm import __version__

project, author, release = "bestarm", "The bestarm developers", __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
default_role = "code"  # docstrings are plain text with names in backquotes

html_theme = "furo"
html_title = f"bestarm {release}"
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_use_index = html_domain_indices = False
html_sidebars = {"**": [f"sidebar/{part}.html" for part in ("brand", "navigation")]}


def setup(app):
    """No search, since there are nine pages and it would be as large as three; and plain text."""
    app.connect("builder-inited", lambda app: setattr(app.builder, "search", False))
    app.connect("autodoc-process-docstring", absolute_values)


def absolute_values(app, what, name, thing, options, lines):
    """Let |x| be an absolute value in text; in reStructuredText it would be a substitution."""
    for i, line in enumerate(lines):
        if not line.startswith("    "):
            lines[i] = line.replace("|", "\\|")
