"""How Sphinx builds the site; `invoke docs` puts this file beside the pages (tools/docs.py)."""

project = "pyorch"
author = "the authors of pyorch"
extensions = ["myst_parser"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_heading_anchors = 4
html_theme = "furo"
html_title = "pyorch"
html_show_copyright = False
html_copy_source = False
html_last_updated_fmt = None
highlight_language = "text"
