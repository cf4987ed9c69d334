# SPDX-License-Identifier: Apache-2.0
"""What our pages need of Sphinx beyond its extensions: Doxygen over the headers, references of
Fortran modules and commands, diagrams, and links to folders of the tree."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import fortran
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.ext.graphviz import graphviz
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
DOXYGEN = """
INPUT = {root}/include/tailrace
OUTPUT_DIRECTORY = {out}
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
QUIET = YES
EXTRACT_STATIC = YES
WARN_AS_ERROR = FAIL_ON_WARNINGS
WARN_IF_UNDOCUMENTED = NO
WARN_IF_INCOMPLETE_DOC = NO
MACRO_EXPANSION = YES
PREDEFINED = MPI_VERSION
EXCLUDE_SYMBOLS = tailrace::io::detail
"""


def read_headers(app: Sphinx) -> None:
    """Doxygen reads the public headers, before breathe asks for what it found."""
    out = Path(app.doctreedir).parent / "doxygen"
    out.mkdir(parents=True, exist_ok=True)
    app.config.breathe_projects = {"tailrace": str(out / "xml")}
    try:
        done = subprocess.run(
            ["doxygen", "-"], input=DOXYGEN.format(root=ROOT, out=out), text=True,
            capture_output=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise ExtensionError("doxygen is missing; `make docs` installs it, or says how") from None
    if done.returncode:
        raise ExtensionError(f"doxygen does not understand a comment:\n{done.stderr}")


class FortranModule(SphinxDirective):
    """`.. fortran-module:: FILE`: the reference of a module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = ROOT / "bindings/fortran" / self.arguments[0]
        self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(fortran.page(path)), allow_section_headings=True)


def restructured(text: str) -> str:
    """Words of a help, which are Markdown, for reStructuredText."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_|\\\\])", r"\\\\\1", part) for part in parts[::2]]
    return "``".join(parts)


class Commands(SphinxDirective):
    """`.. commands::`: each command of `tailrace`, as its man page has it."""

    def run(self) -> list[nodes.Node]:
        from tailrace.cli import man_pages

        lines: list[str] = []
        for page in man_pages.pages():
            lines += [
                f".. _{page.name}:",
                "",
                page.name.replace("-", " "),
                "-" * len(page.name),
                "",
            ]
            lines += [
                f"``{page.synopsis}``",
                "",
                *(restructured(text) + "\n" for text in page.paragraphs),
            ]
            for title, entries in page.sections:
                lines += [f"**{title}**", ""]
                for term, text in entries:
                    lines += [f"``{term}``", f"   {restructured(text)}", ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def dot(flowchart: list[str]) -> str:
    """A flowchart of Mermaid's in the language of Graphviz: `a --> b & c`, and nothing else."""
    if flowchart[:1] != ["flowchart TB"]:
        raise ValueError(f'a diagram begins with "flowchart TB", not {flowchart[:1]}')
    lines = ["digraph {", "bgcolor=white; node [shape=box, height=0.3, fontsize=11];"]
    for line in flowchart[1:]:
        arrow = re.fullmatch(r" *([\w/]+) --> ([\w/]+(?: & [\w/]+)*)", line)
        if arrow is None:
            raise ValueError(f'a line of a diagram is "a --> b & c", not "{line.strip()}"')
        to = "; ".join(f'"{name}"' for name in arrow[2].split(" & "))
        lines.append(f'"{arrow[1]}" -> {{{to}}};')
    return "\n".join([*lines, "}"])


class Mermaid(SphinxDirective):
    """A diagram as GitHub draws it by itself: here Graphviz draws it when the site is made, since
    Mermaid's own way is a script that each reader's browser would have to fetch."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            code = dot(list(self.content))
        except ValueError as error:
            raise self.error(str(error)) from None
        return [graphviz("", code=code, options={"docname": self.env.docname})]


class FolderLinks(SphinxTransform):
    """A link to a folder of the tree: its name; a page has no folders to show."""

    default_priority = 5

    def apply(self, **kwargs: object) -> None:
        here = Path(self.env.doc2path(self.env.docname)).parent
        for link in list(self.document.findall(addnodes.pending_xref)):
            target = link.get("reftarget", "")
            if link.get("reftype") == "myst" and (here / target).is_dir():
                link.replace_self(nodes.literal("", link.astext()))


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("builder-inited", read_headers)
    app.add_directive("fortran-module", FortranModule)
    app.add_directive("commands", Commands)
    app.add_directive("mermaid", Mermaid)
    app.add_transform(FolderLinks)
    return {"parallel_read_safe": True}
