"""Reports as HTML or Markdown.

page.py       the content of a report: sections, paragraphs, tables and pictures
html.py, markdown.py          writers of a page
comparison.py, bench.py       the pages of `heelstrike compare` and `heelstrike bench`
"""
