"""Sphinx: the documentation and the programming interface, from docs/ and from docstrings.

Built into site/docs by workflow/rules/docs.smk. The contents are the lists of README.md. Links to
files that are not in docs/ lead to the replication site, which is beside it.
"""

import os
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref
from sphinx.util.osutil import relative_uri

from bestarm import __version__
from bestarm.publish.site.links import Links, reading_anchor
from bestarm.publish.site.texts import equation, sections, slug

project, author, release = "bestarm", "The bestarm developers", __version__
root_doc = "README"
exclude_patterns = ["paper"]  # of a journal, which makes its own pages
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
default_role = "code"  # docstrings are plain text with names in backquotes

html_theme = "furo"
html_title = f"bestarm {release}"
html_static_path = ["docs.css"]
html_css_files = ["docs.css"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_use_index = html_domain_indices = html_show_search_summary = False

ROOT = Path(__file__).parents[1]
LINKS = Links(ROOT)


def setup(app):
    app.add_html_math_renderer("mathml", (math, None), (math, None))
    app.connect("source-read", contents)
    app.connect("doctree-read", links_to_the_site, priority=400)  # before Sphinx copies files
    app.connect("doctree-read", anchors)
    app.connect("autodoc-process-docstring", absolute_values)
    app.connect("html-page-context", way_back)
    app.connect("build-finished", first_page)


def contents(app, docname, source):
    """Add a table of contents per list of README.md; a page is where it is listed first."""
    if docname != root_doc:
        return
    listed = set()
    for caption, links in sections(source[0]).items():
        pages = dict.fromkeys(re.findall(r"\]\(([\w/-]+)\.(?:md|rst)", links))
        new = [page for page in pages if page not in listed]
        listed.update(new)
        tree = "\n".join(new)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{tree}\n```\n"


def links_to_the_site(app, doctree):
    """Of links to files outside of docs/, those that the replication site shows."""
    here = f"docs/{app.env.docname}.html"
    for node in [*doctree.findall(download_reference), *doctree.findall(pending_xref)]:
        target = node["reftarget"]
        if node.get("refdomain") == "doc":  # outside of docs/ its path is absolute, without ending
            target += f".md#{node['reftargetid'] or ''}".rstrip("#")
        elif node["reftype"] != "myst":
            continue
        path = os.path.relpath((ROOT / here).parent / target, ROOT)
        page = LINKS.page("", path)
        if page and not page.startswith("docs/"):
            uri = relative_uri(here, page)
            node.replace_self(nodes.reference("", "", *node.children, refuri=uri))


def anchors(app, doctree):
    """Names of headings as texts of the replication site link them, and of readings."""
    taken = {name for node in doctree.findall(nodes.Element) for name in node.get("ids", ())}

    def add(node, name):
        if name not in taken:
            taken.add(name)
            node["ids"].append(name)

    for section in doctree.findall(nodes.section):
        heading = section[0].astext()
        add(section, slug(heading))
        if app.env.docname == "readings":
            for code in section.findall(nodes.literal):
                if name := reading_anchor(heading, code.astext()):
                    add(code, name)


def math(writer, node):
    """An equation as MathML, as in the replication site."""
    block = isinstance(node, nodes.math_block)
    writer.body.append(equation(node.astext(), {"display_mode": block}))
    raise nodes.SkipNode


def way_back(app, pagename, templatename, context, doctree):
    """Above each page, links to the replication site."""
    pages = {"index.html": "Replication site", "arena.html": "Arena", "rerun.html": "Rerun it"}
    context["theme_announcement"] = " · ".join(
        f'<a href="{relative_uri(f"docs/{pagename}.html", page)}">{name}</a>'
        for page, name in pages.items()
    )


def first_page(app, error):
    """The first page under the name that servers look for."""
    if not error and app.builder.name == "html":
        shutil.copy(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def absolute_values(app, what, name, thing, options, lines):
    """Let |x| be an absolute value in text; in reStructuredText it would be a substitution."""
    for i, line in enumerate(lines):
        if not line.startswith("    "):
            lines[i] = line.replace("|", "\\|")
