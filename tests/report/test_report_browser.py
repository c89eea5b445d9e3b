"""The report's page in a real browser: nothing goes wrong, everything loads, light and dark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyorch.base.paths import Paths
from pyorch.report.figures.network_live import PAUSE, PLAY
from pyorch.report.write import write_report
from tests.browser import HINT, Browser, program
from tests.report.test_report import FIGURES, TIMESERIES, experiment, make_spec, make_store, sweep
from tests.strategies import ROOT
from tools.reproduction.claims import HOLDS, REFUTED, Evidence
from tools.reproduction.page import Row, from_csv, write_page
from tools.reproduction.published import Document, Published, load_published

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

LOADED = "[...document.images].every((i) => i.complete && i.naturalWidth > 0)"
DRAWN = """[...document.querySelectorAll('.live')].every(
  (f) => f.querySelector('.main-svg') && f.getBoundingClientRect().height > 100)"""
SHADE = r"getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]"
RUNS = len(sweep(1))
FIGURE = "document.querySelector('#map .live')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    if program() is None:
        if os.environ.get("CI"):
            pytest.fail(f"no Chromium: {HINT}")
        pytest.skip(f"no Chromium: {HINT}")
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every kind of live figure, and one that only has a picture."""
    only = {"where": {"variant": "PFC", "load": 0.3, "response": "1us"}}
    names = ("deadlock_map", "pause_map", "link_load", "line")
    figures = [{**TIMESERIES, "columns": None, **only}, *(FIGURES[name] for name in names)]
    figures[0] = {key: value for key, value in figures[0].items() if value is not None}
    specs = sweep(1)
    folder = tmp_path_factory.mktemp("report")
    result = write_report(experiment(figures), make_store(specs), specs, folder)
    assert result.figure_errors == ()
    return result.index


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1100, 420])
def test_the_page_opens_without_an_error(
    browser: Browser, page: Path, dark: bool, width: int
) -> None:
    """No error of the console, no address but its own, every picture and live figure there."""
    seen = browser.open(page, dark=dark, width=width)
    assert seen.errors == []
    assert all(url.startswith((page.as_uri(), "data:", "blob:")) for url in seen.requests)
    assert browser.value(LOADED)
    assert browser.value("document.querySelectorAll('.live').length") == 3
    assert browser.value(DRAWN)
    assert (browser.value(SHADE) < 60) == dark
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_hostile_texts_of_a_study_run_nothing(browser: Browser, tmp_path: Path) -> None:
    """Names and titles with HTML, scripts and links reach the page as text, in live figures too."""
    attack = """<img src=x onerror="window.taken=1"><script>window.taken=1</script>"""
    attack += """<a href="javascript:window.taken=1">x</a>"""
    specs = [make_spec(name, 1, load=0.3, response="1us") for name in (attack, "GFC")]
    live = {**TIMESERIES, "title": attack}
    live["rows"] = [{**row, "label": attack} for row in TIMESERIES["rows"]]
    line = FIGURES["line"] | {"title": attack, "y_label": attack, "x_label": attack}
    study = experiment([live, line])
    study.title = study.question = study.source = attack
    result = write_report(study, make_store(specs), specs, tmp_path)
    assert result.figure_errors == ()
    seen = browser.open(result.index)
    browser.wait_for(DRAWN)
    assert browser.value("document.querySelectorAll('.live').length") > 0
    assert seen.errors == []
    assert browser.value("window.taken === undefined")
    made = "document.querySelectorAll('img[src=x], a[href^=javascript]').length"
    assert browser.value(made) == 0
    assert attack in browser.value("document.querySelector('#runs tbody').textContent")


def test_the_slider_moves_the_network(browser: Browser, page: Path) -> None:
    """The map opens at the deadlock; its first step shows an earlier time and no cycle."""
    browser.open(page)
    title = f"{FIGURE}.querySelector('.gtitle').textContent"
    cycle = f"{FIGURE}.data.find((t) => t.name === 'wait for each other').x.filter(Number).length"
    assert "deadlock" in browser.value(title)
    assert browser.value(cycle) > 0
    seen = browser.seen
    browser.value(f"Plotly.animate({FIGURE}, ['0'], {{mode: 'immediate'}}).then(() => 1)")
    assert "deadlock" not in browser.value(title)
    assert browser.value(cycle) == 0
    assert seen.errors == []


def click(browser: Browser, name: str) -> None:
    """Press a button of the map, as a mouse does."""
    found = f"[...{FIGURE}.querySelectorAll('.updatemenu-button')]"
    place = f"{found}.find((b) => b.textContent.includes('{name}')).getBoundingClientRect()"
    browser.value(f"{FIGURE}.scrollIntoView({{block: 'center'}})")
    box = browser.value(f"(() => {{ const b = {place}; return [b.x + b.width / 2, b.y + 8]; }})()")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call(
            "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1
        )


def test_a_map_that_plays_shows_the_time_of_its_slider(browser: Browser, page: Path) -> None:
    """In every moment of the play; pausing holds it, and throws nothing."""
    browser.open(page)
    browser.value(f"Plotly.animate({FIGURE}, ['0'], {{mode: 'immediate'}}).then(() => 1)")
    # what a person reads after each paint: title, slider, and which cycle is drawn
    browser.value(
        f"""(() => {{ window.seen = []; const look = () => {{
          const map = {FIGURE};
          const active = map.layout.sliders[0].active;
          window.seen.push([map.querySelector('.gtitle').textContent,
            map.querySelector('.slider-label').textContent,
            map._transitionData._frames[active].layout.title.text]);
          requestAnimationFrame(look); }}; look(); }})()"""
    )
    click(browser, PLAY)
    browser.wait_for("new Set(window.seen.map((one) => one[0])).size > 2")
    click(browser, PAUSE)
    browser.value("new Promise((done) => setTimeout(done, 300))")
    before = browser.value(f"{FIGURE}.layout.sliders[0].active")
    browser.value("new Promise((done) => setTimeout(done, 500))")
    assert browser.value(f"{FIGURE}.layout.sliders[0].active") == before
    assert browser.seen.errors == []
    for title, slider, frame in browser.value("window.seen"):
        assert slider == f"Time {title.partition(':')[0]}"
        assert title == frame


def test_the_table_of_runs_filters(browser: Browser, page: Path) -> None:
    """Words in its search leave the runs that have them."""
    browser.open(page)
    rows = "document.querySelectorAll('#runs tbody tr').length"
    assert browser.value("document.querySelector('.dt-info').textContent") == f"{RUNS} runs"
    search = "document.querySelector('.dt-search input')"
    browser.value(f"{search}.value = 'GFC'; {search}.dispatchEvent(new Event('input'))")
    browser.wait_for(f"{rows} === {RUNS // 2}")
    assert "GFC" in browser.value("document.querySelector('#runs tbody').textContent")
    assert "PFC" not in browser.value("document.querySelector('#runs tbody').textContent")


def test_a_column_of_times_sorts_by_time(browser: Browser, page: Path) -> None:
    """10 us comes after 5 us, not before it."""
    browser.open(page)
    cells = "[...document.querySelectorAll('#runs tbody tr')].map((r) => r.cells[{n}].textContent)"
    heads = "[...document.querySelectorAll('#runs thead th')].map((h) => h.textContent.trim())"
    column = next(n for n, h in enumerate(browser.value(heads)) if h.startswith("response"))
    button = f"document.querySelectorAll('#runs thead th')[{column}].querySelector('.dtcc-button')"
    browser.value(f"{button}.click()")
    found = browser.value(cells.replace("{n}", str(column)))
    assert [float(text.split()[0]) for text in found] == sorted(float(t.split()[0]) for t in found)
    assert len({len(text) for text in found}) > 1


def test_without_scripts_the_pictures_stand(browser: Browser, page: Path) -> None:
    """Who does not run JavaScript sees the printed figures and the whole table."""
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url=page.as_uri())
        browser.wait_for("document.readyState === 'complete'")
        assert browser.value(LOADED)
        assert browser.value(
            "[...document.images].every((i) => i.getBoundingClientRect().width > 99)"
        )
        assert browser.value("document.querySelectorAll('#runs tbody tr').length") == RUNS
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("dark", [False, True])
def test_the_reproduction_page_opens_without_an_error(
    browser: Browser, tmp_path: Path, dark: bool
) -> None:
    """Text with signs of HTML is text."""
    document = Document(key="d", title="A <paper>", sources=["paper"])
    rows = [
        Row(
            "d",
            "p. 1",
            "a < b & c",
            "3 KB",
            "one",
            "gfc/two-to-one",
            "e",
            origin="published",
            found=Evidence((0,)),
            verdict=HOLDS,
        ),
        Row(
            "d",
            "p. 2",
            "d",
            "4 KB",
            "two",
            "gfc/ring",
            "f",
            found=Evidence((0, 1), (0, 1)),
            verdict=REFUTED,
        ),
    ]
    published = Published(document=[document])
    page, *_ = write_page(rows, published, tmp_path, {"gfc/two-to-one": "../x/index.html"})
    seen = browser.open(page, dark=dark, width=420)
    assert seen.errors == []
    assert browser.value("document.querySelector('h2').textContent") == "A <paper>"
    assert browser.value("document.querySelector('.claim strong').textContent") == "a < b & c"
    assert browser.value("document.documentElement.scrollWidth") <= 420
    left = "[...document.querySelectorAll('.claim:not([hidden]) strong')].map((e) => e.textContent)"
    assert browser.value(left) == ["a < b & c", "d"]
    browser.value("document.querySelector('button[data-verdict=refuted]').click()")
    assert browser.value(left) == ["a < b & c"]
    browser.value("document.querySelector('button[data-verdict=refuted]').click()")
    browser.value(
        "(() => { words.value = 'gfc/ring'; words.dispatchEvent(new Event('input')); })()"
    )
    assert browser.value(left) == ["d"]
    choose = "(() => {{ const one = document.getElementById('{0}'); one.value = '{1}';"
    choose += " one.dispatchEvent(new Event('change')); }})()"
    browser.value("(() => { words.value = ''; words.dispatchEvent(new Event('input')); })()")
    browser.value(choose.format("origin", "published"))
    assert browser.value(left) == ["a < b & c"]
    browser.value(choose.format("origin", ""))
    assert browser.value(left) == ["a < b & c", "d"]
    browser.value(choose.format("document", "d"))
    assert browser.value(left) == ["a < b & c", "d"]


def test_every_claim_of_the_page_fits_a_telephone(browser: Browser, tmp_path: Path) -> None:
    """The claims of the repository as a page: nothing is cut off, and a filter makes it short."""
    paths = Paths(ROOT)
    rows = from_csv(paths.reproduction.with_suffix(".csv").read_text(encoding="utf-8"))
    page, *_ = write_page(rows, load_published(paths.published), tmp_path, {})
    seen = browser.open(page, width=390, height=844)
    assert seen.errors == []
    assert browser.value("document.documentElement.scrollWidth") <= 390
    browser.value("document.querySelectorAll('.claim').forEach((one) => { one.open = true; })")
    assert browser.value("document.documentElement.scrollWidth") <= 390
    browser.value("(() => { words.value = 'zzz'; words.dispatchEvent(new Event('input')); })()")
    assert browser.value("document.documentElement.scrollHeight") < 4 * 844
