"""C++ as the compiler sees it: comments and layout make no difference."""

import re

#: The longer first if one is a prefix of another.
_PUNCTUATORS = (
    *("<=>", "->*", "...", "<<=", ">>="),
    *("##", "::", ".*", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"),
    *("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="),
)
_PREFIX = r"(?:u8|u|U|L)?"
_TOKEN = re.compile(
    "|".join(
        [
            rf'(?P<raw>{_PREFIX}R"(?P<mark>[^()\\\s]{{0,16}})\(.*?\)(?P=mark)")',
            rf'(?P<text>{_PREFIX}"(?:\\.|[^"\\\n])*")',
            rf"(?P<char>{_PREFIX}'(?:\\.|[^'\\\n])+')",
            r"(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)",
            r"(?P<number>\.?\d(?:[eEpP][+-]|'?\w|\.)*)",
            r"(?P<word>[^\W\d]\w*)",
            r"(?P<line>\n)",
            r"(?P<space>(?:\\\n|[^\S\n])+)",
            f"(?P<mark_>{'|'.join(map(re.escape, _PUNCTUATORS))})",
            r"(?P<other>.)",
        ]
    ),
    re.DOTALL,
)


def tokens(text: str) -> list[str]:
    """Split C++ into its tokens; a preprocessor line ends with the token of a line break.

    Two texts with the same tokens compile to the same code, except for line numbers in messages.
    """
    found: list[str] = []
    begins, directive = True, False  # at the beginning of a line; in a preprocessor line
    for match in _TOKEN.finditer(text.replace("\r\n", "\n")):
        kind, part = match.lastgroup, match.group()
        if kind == "line":
            if directive:
                found.append("\n")
            begins, directive = True, False
        elif kind in ("space", "comment"):
            if directive:
                found.append(" ")  # `#define F (x)` is not `#define F(x)`
        else:
            directive = directive or (begins and part == "#")
            begins = False
            found.append(part)
    return found
