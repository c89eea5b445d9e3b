"""LaTeX tables (booktabs) that compile with pdfLaTeX as they are."""

from __future__ import annotations

from collections.abc import Sequence

_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "±": r"$\pm$",
    "µ": r"\textmu{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
    "−": "$-$",
    "×": r"$\times$",
    "→": r"$\to$",
    "…": r"\ldots{}",
    "–": "--",
    "›": r"\textgreater{}",
    "\u00a0": "~",
}


def escape(text: str) -> str:
    """Text escaped for LaTeX; characters that pdfLaTeX does not know become commands."""
    return "".join(_TEX.get(letter, letter) for letter in text)


def _paragraph(width: float) -> str:
    """A column with a share of the line's width, including its separation."""
    size = rf"\dimexpr {width:g}\linewidth-2\tabcolsep\relax"
    return rf">{{\raggedright\arraybackslash}}p{{{size}}}"


def booktabs(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    label: str,
    widths: Sequence[float] = (),
    long: bool = False,
) -> str:
    """A table with booktabs rules.

    widths: shares of the line, for columns of text that breaks. long: a longtable, which goes over
    pages but only where the text has one column; else a table* over both columns.
    """
    columns = "".join(map(_paragraph, widths)) or "l" * len(heads)
    head = [r"\toprule", " & ".join(map(escape, heads)) + r" \\", r"\midrule"]
    body = [" & ".join(map(escape, row)) + r" \\" for row in rows]
    named = rf"\caption{{{escape(caption)}}}\label{{{label}}}"
    if long:
        lines = [
            "% needs \\usepackage{booktabs,array,longtable}",
            rf"\begin{{longtable}}{{{columns}}}",
            named + r" \\",
            *head,
            r"\endhead",
            *body,
            r"\bottomrule",
            r"\end{longtable}",
        ]
    else:
        lines = [
            "% needs \\usepackage{booktabs,array}",
            r"\begin{table*}",
            r"\centering\small",
            named,
            rf"\begin{{tabular}}{{{columns}}}",
            *head,
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
        ]
    return "\n".join([*lines, ""])
