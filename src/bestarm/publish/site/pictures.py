"""The figures' SVGs as the site shows them, and what their bytes say."""

import math
import re


def smaller(picture: bytes) -> bytes:
    """An SVG of Matplotlib in about half the bytes, also as an element of a page.

    No metadata, coordinates to 0.01, short vertical lines, no turns by nothing, styles as classes,
    short ids and only where something refers to them.
    """
    svg = picture.decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"M (\S+) (\S+)\s+L \1 (\S+)", r"M\1 \2V\3", svg)
    reference = r'(?<=[("])#(\w+)'  # no colour, and no place on a page
    used = {name: f"svg-{k}" for k, name in enumerate(dict.fromkeys(re.findall(reference, svg)))}
    svg = re.sub(
        r' id="(\w+)"', lambda match: f' id="{used[match[1]]}"' if match[1] in used else "", svg
    )
    svg = re.sub(reference, lambda match: f"#{used[match[1]]}", svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    styles = list(dict.fromkeys(re.findall(r' style="([^"]*)"', svg)))
    names = {style: f"svg-{k}" for k, style in enumerate(styles)}
    svg = re.sub(r' style="([^"]*)"', lambda match: f' class="{names[match[1]]}"', svg)
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    head = '<style type="text/css">'
    return svg.replace(head, head + rules, 1).encode()


def svg_width(picture: bytes) -> int:
    """The width that an SVG of Matplotlib asks for, in CSS pixels (4/3 of its points)."""
    match = re.search(rb'<svg [^>]*?width="([\d.]+)pt"', picture)
    return round(float(match[1]) * 4 / 3) if match else 0


def widths(picture: bytes) -> tuple[int, int]:
    """The widths in CSS pixels between which an SVG is shown.

    From the first on its text has 11 pixels, exponents apart; the second is 1.6 times its own.
    """
    sizes = [float(size) for size in re.findall(rb"font-size: ([\d.]+)px", picture)]
    least = min((size for size in sizes if size >= 6.0), default=8.0)  # exponents are smaller
    own = svg_width(picture)
    return math.ceil(own * 11.0 / (least * 4 / 3)), round(1.6 * own)


def log_axes(picture: bytes | None) -> dict[str, bool]:
    """Which axes of a picture are logarithmic, by the keywords that `style.save` writes."""
    matches = re.findall(rb"<rdf:li>([xy]) (\w+)</rdf:li>", picture or b"")
    return {axis.decode(): scale == b"log" for axis, scale in matches}
