"""How Sphinx builds the site; `invoke docs` puts this file beside the pages (tools/docs.py)."""

project = "pyorch"
author = "the authors of pyorch"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "off"  # notebooks show what is stored in them, which a test compares
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
nitpick_ignore_regex = [("py:.*", ".*")]  # types in signatures need not be on the site
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]  # small pictures
html_theme = "furo"
html_title = "pyorch"
html_logo = html_favicon = "images/icon.svg"
html_show_copyright = False
html_copy_source = False
html_last_updated_fmt = None
highlight_language = "text"
html_static_path = ["static"]
html_css_files = ["site.css"]
