"""The project's own Markdown as pages: links that stay on the site, equations, anchors."""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bestarm.core.inputs import InputError
from bestarm.publish.site.code import preformatted

#: A comment, with its line if it has one of its own.
COMMENT = re.compile(r"^<!--(?:(?!-->).)*-->\n|<!--.*?-->", re.DOTALL | re.MULTILINE)


class Heading(NamedTuple):
    level: int
    text: str
    anchor: str


class Text(NamedTuple):
    """A page of prose."""

    title: str
    body: str  # HTML
    headings: list[Heading]
    anchors: set[str]


def render(
    markdown: str,
    link: Callable[[str], str | None],
    readings: Callable[[str, str], str | None] = lambda heading, code: None,
) -> Text:
    """Markdown, with equations between $ or $$, as HTML; its first heading becomes the title.

    Args:
        markdown: the text.
        link: from a relative link to one that works on the site, or None to leave plain text.
        readings: from the last second-level heading and a piece of code to an anchor, or None.

    Raises:
        InputError: an equation is not TeX that MathML has.
    """
    highlight = lambda code, language, _: preformatted(code, language)  # noqa: E731
    parser = MarkdownIt("commonmark", {"html": False, "highlight": highlight}).enable("table")
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=equation)
    tokens = parser.parse(COMMENT.sub("", markdown))
    title, tokens = _without_title(tokens)
    headings, anchors, section = [], set(), ""
    _label_cells(tokens)
    for token, inner in zip_longest(tokens, tokens[1:]):
        if token.type == "heading_open":
            text = _plain(inner)
            heading = Heading(int(token.tag[1]), text, _free(slug(text), anchors))
            headings.append(heading)
            token.attrSet("id", heading.anchor)
            section = heading.text if heading.level == 2 else section
        elif token.type == "inline":
            _relink(token.children or [], link)
            for child in token.children or []:
                anchor = child.type == "code_inline" and readings(section, child.content)
                if anchor and anchor not in anchors:
                    child.attrSet("id", anchor)
                    anchors.add(anchor)
    body = parser.renderer.render(tokens, parser.options, {})
    region = '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>'
    body = body.replace("<table>", region).replace("</table>", "</table></div>")
    return Text(title, body, headings, anchors)


def sections(markdown: str) -> dict[str, str]:
    """What stands under second-level headings, by these."""
    return dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", markdown, re.DOTALL | re.M))


def section(markdown: str, heading: str) -> str:
    """A second-level section with its heading, or nothing if there is none of that name."""
    by_heading = sections(markdown)
    return f"## {heading}\n{by_heading[heading]}" if heading in by_heading else ""


def bullets(markdown: str) -> dict[str, str]:
    """List items that start with a bold name, such as `- **BAICS.** With ...`, by that name."""
    items = re.findall(r"^- \*\*(.+?)\.?\*\*\s*(.*?)(?=^- |^\S|\Z)", markdown, re.DOTALL | re.M)
    return {name: re.sub(r"\n +", "\n", body) for name, body in items}


def about(paper: str, names: Iterable[str]) -> str | None:
    """The first of some headings that speaks of a paper: the one whose first word is its key."""
    begins = re.compile(rf"{re.escape(paper)}\b", re.IGNORECASE)
    return next((name for name in names if begins.match(name)), None)


def equation(tex: str, options: dict[str, Any]) -> str:
    """TeX as MathML."""
    try:
        mathml = tex2mathml(tex.strip(), as_block=options["display_mode"])
    except MathError as error:
        raise InputError(f"the equation {tex.strip()}: {error}") from None
    return re.sub(r"\n *", "", mathml)


def _without_title(tokens: list[Token]) -> tuple[str, list[Token]]:
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return _plain(tokens[1]), tokens[3:]
    return "", tokens


def _label_cells(tokens: list[Token]) -> None:
    """Give each cell of a table the heading of its column, for screens too narrow for columns."""
    heads, column = list[str](), 0
    for token, inner in pairwise(tokens):
        if token.type == "thead_open":
            heads = []
        elif token.type == "th_open":
            heads.append(_plain(inner))
        elif token.type == "tr_open":
            column = 0
        elif token.type == "td_open":
            token.attrSet("data-label", heads[column])
            column += 1


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or [])


def slug(text: str) -> str:
    """A text as a name for anchors and attributes.

    Example:
        >>> slug("best mixture, known limits")
        'best-mixture-known-limits'
    """
    return re.sub(r"\W+", "-", re.sub("['’]", "", text.lower())).strip("-") or "section"


def _free(anchor: str, taken: set[str]) -> str:
    """An anchor not taken yet, and take it."""
    name, k = anchor, 1
    while name in taken:
        k += 1
        name = f"{anchor}-{k}"
    taken.add(name)
    return name


def _relink(tokens: list[Token], link: Callable[[str], str | None]) -> None:
    """Turn links to the project's files into links to pages; those without a page become text.

    Pictures are those of the site, a paper's in place of the section that shows it; those that it
    does not have become their text alternatives.
    """
    tag = "a"
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrGet("href"))
            there = href if re.match(r"\w+:|#", href) else link(href)
            tag = "a" if there else "span"
            token.attrs = {"href": there} if there else {}
        if token.type in ("link_open", "link_close"):
            token.tag = tag
        if token.type == "image":
            if there := link(str(token.attrGet("src"))):
                token.attrSet("src", re.sub(r"^(\w+)\.html#(.+)", r"figures/\1/\2.svg", there))
            else:
                token.type = "text"
