"""Reports as HTML and Markdown.

Oracles: an HTML parser (the standard library's) that reads back text, links and pictures; the
bytes of the pictures.
"""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from heelstrike.errors import HeelstrikeError
from heelstrike.view.pages.html import html, write_html
from heelstrike.view.pages.markdown import markdown, plain, write_markdown
from heelstrike.view.pages.page import Page, Paragraph, Picture, Section, Table, TableRow

NASTY = "a < b & |v| * f_n [N] `x` </td><script>alert(1)</script>"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
VOID = {"meta", "link", "img", "input"}


class Read(HTMLParser):
    """Every tag with its attributes, every text, and whether tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def page(tmp_path):
    picture = tmp_path / "pictures" / "a.png"
    picture.parent.mkdir()
    picture.write_bytes(PNG)
    table = Table(
        ("quantity", "ours"),
        (TableRow((NASTY, "1")), TableRow(("x", "differs"), kind="differs", to="inner")),
        ("ours",),
    )
    inner = Section("Inner", "inner", (Picture(picture, NASTY),))
    outer = Section(NASTY, "outer", (Paragraph(NASTY), table), (inner,))
    first = (Paragraph("first"), Paragraph("a\n  b", code=True))
    return Page(NASTY, first, (outer,), filters=("differs",))


def test_html_reads_back(page):
    read = Read(html(page))
    assert read.open == []
    assert read.all("script") == []
    # title, heading, contents, section, paragraph and cell; attributes are beside
    assert read.texts.count(NASTY) == 7
    assert [a["id"] for a in read.all("section")] == ["outer", "inner"]


def test_html_asks_for_nothing(page):
    """Everything that a browser would fetch is inside, and every link leads to a section."""
    text = html(page)
    read = Read(text)
    wanted = {value for _, a in read.tags for key, value in a.items() if key in ("href", "src")}
    anchors = {"#" + a["id"] for a in read.all("section")}
    assert all(one.startswith("data:") or one in anchors for one in wanted)
    assert not re.search(r"url\(|@import|https?:", text)
    (policy,) = [a["content"] for a in read.all("meta") if "http-equiv" in a]
    assert "default-src 'none'" in policy


def test_pictures_are_inside(page):
    (picture,) = Read(html(page)).all("img")
    assert base64.b64decode(picture["src"].split(",")[1]) == PNG
    assert picture["alt"] == NASTY


def test_kinds_colour_their_cell_and_can_be_hidden(page):
    text = html(page)
    assert '<tr class="differs">' in text
    assert '<span class="kind">differs</span>' in text
    assert "body:has(#hide-differs:checked) section tr.differs { display: none; }" in text


def test_markdown(page, tmp_path):
    text = markdown(page, tmp_path)
    assert text.startswith("# a \\< b & \\|v\\| \\* f_n \\[N]")
    assert "](<pictures/a.png>)" in text
    assert "\n    a\n      b\n" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    # a bar that is not escaped is a border: three of them in every row of two columns
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3, 3, 3, 3]
    assert rows[1] == "| --- | ---: |"
    assert "[x](#inner)" in rows[3]
    assert "\n### Inner\n" in text


def test_headings_of_the_same_words_have_links_of_their_own():
    sections = tuple(Section("The same, twice", name) for name in ("a", "b"))
    table = Table(("x",), (TableRow(("to b",), to="b"),))
    text = markdown(Page("", (table,), sections), Path())
    assert "(#the-same-twice)" in text
    assert text.count("(#the-same-twice-1)") == 2


def test_plain_text_in_markdown():
    assert plain("a_b _c_ $x$ ~y~\n z") == "a_b \\_c\\_ \\$x\\$ \\~y\\~ z"


def test_whole_or_not_at_all(page, tmp_path):
    """A picture that is gone is told, and no page is left."""
    (tmp_path / "pictures" / "a.png").unlink()
    with pytest.raises(HeelstrikeError, match=r"cannot read the picture"):
        write_html(page, tmp_path / "report.html")
    assert not list(tmp_path.glob("*report*"))
    write_markdown(page, tmp_path / "report.md")
    assert [path.name for path in tmp_path.glob("*.md")] == ["report.md"]


def test_mistakes_are_told():
    with pytest.raises(HeelstrikeError, match="a row has 1 cells, but the table has 2"):
        Table(("a", "b"), (TableRow(("1",)),))
    with pytest.raises(HeelstrikeError, match="share an anchor: x"):
        Page("", (), (Section("a", "x"), Section("b", "y", sections=(Section("c", "x"),))))


def test_missing_style_would_be_noticed():
    """The style sheet is part of the package, and both looks are in it."""
    style = Read(html(Page("", (), ()))).texts
    assert any("prefers-color-scheme: dark" in text and "@media print" in text for text in style)
    assert Path(__file__).parents[2].joinpath("src/heelstrike/view/pages/page.css").is_file()
