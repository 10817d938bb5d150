#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py TOOL FAKE_ENGINE SAMPLE_PROGRAM LOADED_CODE: opens every page that tfaot writes in headless Chromium, on a
phone and on a wide screen, light and dark. Exit code 77 if Chromium is not installed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser, find_browser

WIDTHS = (360, 768, 1600)
SCHEMES = ("light", "dark")
CHECKS = pathlib.Path(__file__).with_name("page_checks.js").read_text()
HOSTILE = "</script></title><img src=x onerror=\"hostile=1\">{{title}}'&\u202e"
failures = []


def expect(condition, page, what):
    if not condition:
        failures.append(f"{page}: {what}")


class Tool:
    """Runs tfaot in a folder of its own, with the fake engine."""

    def __init__(self, program, engine, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.environment = dict(os.environ, TFAOT_ENGINE=engine, TFAOT_CACHE_DIR=f"{folder}/cache",
                                PATH=f"{folder}/bin:{os.environ['PATH']}")
        self.exit_code = 0  # that is expected

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, check=False)
        if done.returncode != self.exit_code:
            sys.exit(f"tfaot {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def failing_page(self, name, *arguments, engine=""):
        """The page of a verb that ends with exit code 1."""
        self.exit_code = 1
        self.environment["FAKE_ENGINE"] = engine
        page = self.page(name, *arguments)
        del self.environment["FAKE_ENGINE"]
        self.exit_code = 0
        return page

    def page(self, name, *arguments):
        """The page of a verb, and what the verb prints with --json."""
        file = self.folder / f"{name}.html"
        self.run(*arguments, "--html", file.name)
        text = file.read_text()
        expect(str(self.folder) not in text, name, "names a folder of this machine")
        self.run(*arguments, "--html", file.name)
        expect(file.read_text() == text, name, "is not the same when made again")
        return file, self.run(*arguments, "--json")


def write_models(folder):
    (folder / "net").mkdir()
    (folder / "net/saved_model.pb").write_text("a graph")
    (folder / "config.yaml").write_text("""model: {name: tagger, version: 1.0.0, saved_model: net, description: Tags jets.}
compilation: {batch_sizes: [1, 4, 16, 64], cpu_levels: [x86-64, x86-64-v3, x86-64-v4]}
""")


def tune(tree):
    """Puts figures into a manifest, as 'tfaot tune' would."""
    file = tree / "manifest.json"
    manifest = json.loads(file.read_text())
    calls = [{"batch_size": size, "cpu_level": level, "ns": (400 + 90.5 * size) / speed,
              "low": (399 + 90 * size) / speed, "high": (401 + 91 * size) / speed, "repeats": 1000 + size}
             for size in manifest["batch_sizes"] for speed, level in enumerate(manifest["cpu_levels"], 1)]
    manifest["tuning"] = {"cpu": "A Processor With a Long Name v4 @ 2.70GHz", "calls": calls}
    file.write_text(json.dumps(manifest))


def write_linker(folder, loaded_code):
    """A linker that makes a library of loaded_code, with the names of the package "small", instead of linking."""
    record = json.loads((folder / "small/record.json").read_text())["compiled"]
    names = [f"--defsym={code['entry_symbol']}=tfaot_loaded_bs{code['batch_size']}" for code in record["codes"]]
    names.append(f"--defsym={record['weights_symbol']}=tfaot_loaded_weights")
    (folder / "bin").mkdir()
    linker = folder / "bin/ld"
    linker.write_text(f"""#!/bin/sh
while [ "$1" != -o ]; do shift; done
PATH=${{PATH#*:}} exec ld -shared -o "$2" '{loaded_code}' {' '.join(names)}
""")
    linker.chmod(0o755)


def corrupt(tree):
    """Puts hostile texts into a manifest."""
    file = tree / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["description"] = manifest["author"] = manifest["engine"] = HOSTILE
    for tensor in manifest["signature"]["inputs"] + manifest["signature"]["outputs"]:
        tensor["name"] = HOSTILE
    file.write_text(json.dumps(manifest))


def make_pages(tool, sample_program, loaded_code):
    """name -> the page's file, and its data if it came from a verb."""
    write_models(tool.folder)
    tool.run("compile", "-c", "config.yaml", "-o", "first", "-q")
    tool.run("compile", "-c", "config.yaml", "-o", "second", "-q", "--batch-sizes", "1,8")
    tool.run("compile", "-c", "config.yaml", "-o", "hostile", "-q")
    tool.run("compile", "-c", "config.yaml", "-o", "small", "-q", "--batch-sizes", "1,4", "--cpu-levels", "x86-64")
    write_linker(tool.folder, loaded_code)
    (tool.folder / "off").mkdir()
    (tool.folder / "off/saved_model.pb").write_text("an off graph")
    tool.run("package", "first", "-o", ".")
    archive = next(tool.folder.glob("*.tar.zst")).name
    tune(tool.folder / "second")
    corrupt(tool.folder / "hostile")
    subprocess.run([sample_program, tool.folder], check=True)
    pages = {"sample": (tool.folder / "sample.html", None), "hostile": (tool.folder / "hostile.html", None)}
    for name, *arguments in (
            ("config", "info", "config.yaml"), ("model", "info", "net"), ("archive", "info", archive),
            ("tuned", "info", "second"), ("inspection", "inspect", "config.yaml", "-q"),
            ("inspected_package", "inspect", "first", "-q"), ("compared", "inspect", "config.yaml", "-q", "--batch-sizes", "1,64"), ("hostile_package", "info", "hostile"), ("same", "diff", archive, "first"),
            ("different", "diff", "first", "second"), ("hostile_diff", "diff", "first", "hostile"),
            ("check", "check", "config.yaml", "-q"), ("operations", "check", "--ops"),
            ("predictions", "run", "small", "-i", "random", "--rows", "130"),
            ("validation", "validate", "small", "--model", "net", "-q")):
        pages[name] = tool.page(name, *arguments)
    pages["refused"] = tool.failing_page("refused", "check", "net", "-q", engine="refuse")
    pages["differing"] = tool.failing_page("differing", "validate", "small", "--model", "off", "-q")
    tool.run("validate", "small", "--model", "net", "-q", "--record")
    pages["validated"] = tool.page("validated", "info", "small")
    return pages


def check_everywhere(browser, name, file):
    grounds = set()
    for width in WIDTHS:
        for scheme in SCHEMES:
            where = f"{name} at {width} px, {scheme}"
            browser.look(width, 800, scheme)
            address = browser.open(file)
            for problem in browser.run(CHECKS):
                expect(False, where, problem)
            if width == 1600 and not name.startswith("hostile"):
                cut = browser.run("[...document.querySelectorAll('.table .box')].filter((box) => box.scrollWidth > box.clientWidth)"
                                  ".map((box) => box.ariaLabel)")
                expect(not cut, where, f"cuts columns of {cut}")
            expect(not browser.said(), where, f"the console says {browser.said()}")
            asked = set(browser.requested()) - {"data:,"}
            expect(asked == {address}, where, f"asks for {asked - {address}}")
            grounds.add((scheme, browser.run("getComputedStyle(document.body).backgroundColor")))
    expect(len({ground for _, ground in grounds}) == 2, name, f"does not follow light and dark: {grounds}")


def check_paper(browser, name, file):
    """On A4 nothing is folded or cut."""
    browser.look(794, 1123, "light")
    browser.open(file)
    browser.page("Emulation.setEmulatedMedia", media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    expect(browser.run("[...document.querySelectorAll('details')].every((one) => one.open)"), name, "folds on paper")
    cut = browser.run("[...document.querySelectorAll('pre, .listing')].filter((one) => one.scrollHeight > one.clientHeight + 2)"
                      ".map((one) => one.outerHTML.slice(0, 80))")
    expect(not cut, name, f"is cut on paper: {cut}")
    browser.page("Emulation.setEmulatedMedia", media="")


def check_without_scripts(browser, name, file):
    browser.page("Emulation.setScriptExecutionDisabled", value=True)
    browser.look(360, 800, "light")
    browser.open(file, scripts=False)
    expect(not browser.run("document.querySelector('button, input, .download')"), name, "shows what needs a script")
    expect(browser.run("document.scrollingElement.scrollWidth <= innerWidth"), name, "scrolls sideways without scripts")
    expect(len(browser.run("document.querySelector('main').innerText")) > 200, name, "shows nothing without scripts")
    browser.page("Emulation.setScriptExecutionDisabled", value=False)


def check_download(browser, name, file, data):
    browser.open(file)
    browser.run("document.querySelector('.download a').click()")
    begun = browser.wait_for("Browser.downloadWillBegin")
    browser.wait_for("Browser.downloadProgress", lambda one: one["state"] == "completed")
    saved = pathlib.Path(browser.folder.name, begun["suggestedFilename"]).read_text()
    expect(begun["suggestedFilename"].endswith(".json"), name, f"saves {begun['suggestedFilename']}")
    if name == "config":  # the page leaves out where the config lies
        expect(json.loads(saved)["source"] == "net", name, "names another source than the config")
        return
    expect(saved == data, name, "does not save what --json prints")
    pathlib.Path(browser.folder.name, begun["suggestedFilename"]).unlink()


def check_headlines(pages):
    """Each page answers its question in words."""
    for name, words in (("different", ">other code"), ("same", ">no difference"), ("validation", " of what is allowed"),
                        ("inspection", " of the estimated time is in kernels of tfaot.")):
        expect(words in pages[name][0].read_text(), name, f"does not say '{words}'")


def check_tables(browser, file):
    """Sorting, by mouse and by keyboard, and filtering."""
    browser.look(1600, 800, "light")
    browser.open(file)
    column = """[...document.querySelectorAll('table.data tbody tr:not([hidden])')].map((row) => row.cells[2].dataset.number)"""
    head = "document.querySelectorAll('table.data th button')"
    before = browser.run(column)
    numbers = sorted(map(float, before))
    expect(len(numbers) == 10 and list(map(float, before)) != numbers, "sample", "is sorted already")
    browser.run(f"{head}[2].click()")
    expect(list(map(float, browser.run(column))) == numbers[::-1], "sample", "a click does not sort by number")
    expect(browser.run(f"{head}[2].parentElement.ariaSort") == "descending", "sample", "does not say how it is sorted")
    browser.run(f"{head}[2].focus()")
    browser.press("Enter", 13)
    expect(list(map(float, browser.run(column))) == numbers, "sample", "the key Enter does not turn the order")
    names = "[...document.querySelectorAll('table.data tbody tr')].map((row) => row.cells[0].textContent)"
    browser.run(f"{head}[0].click()")
    found = browser.run(names)
    expect(found == sorted(found, key=str.lower), "sample", f"a click does not sort by text: {found}")
    expect(browser.run("document.querySelectorAll('[aria-sort]').length") == 1, "sample", "two columns are sorted")
    browser.run("""{const field = document.querySelector('.tools input'); field.value = 'RELU own';
                    field.dispatchEvent(new Event('input'));}""")
    expect(len(browser.run(column)) == 2, "sample", f"the filter shows {browser.run(column)}")
    expect(browser.run("document.querySelector('.tools output').textContent") == "2 of 10 rows", "sample", "miscounts")


def check_drawing(browser, file):
    """A large drawing: larger, smaller, moved by the mouse, and its texts found."""
    browser.look(360, 800, "dark")
    browser.open(file)
    browser.run("var box = document.querySelector('.zoomable .box'); var tool = (n) => document.querySelectorAll('.zoomable button')[n];"
                "box.scrollIntoView({block: 'center', behavior: 'instant'})")
    width = "box.querySelector('svg').getBoundingClientRect().width"
    tall = browser.run("Math.max(...[...box.querySelectorAll('text')].map((text) => text.getBoundingClientRect().height))")
    expect(tall > 7, "sample", f"texts of a drawing are {tall} pixels tall on a phone")
    browser.run("tool(2).click()")
    fitting = browser.run(width)
    browser.run("tool(0).click(); tool(0).click()")
    expect(abs(browser.run(width) / fitting - 2.25) < 0.01, "sample", "the drawing does not grow")
    expect(browser.run("document.scrollingElement.scrollWidth <= innerWidth"), "sample", "a drawing widens the page")
    before = browser.run("box.scrollLeft")
    place = browser.run("(({x, y}) => ({x, y}))(box.getBoundingClientRect())")
    for kind, move in (("mousePressed", 150), ("mouseMoved", 100), ("mouseReleased", 100)):
        browser.page("Input.dispatchMouseEvent", type=kind, x=place["x"] + move, y=place["y"] + 50, button="left", buttons=1,
                     clickCount=1)
    moved = browser.run("box.scrollLeft") - before
    expect(abs(moved - 50) <= 2, "sample", f"the mouse moves the drawing by {moved} instead of 50")
    browser.run("tool(2).click()")
    expect(browser.run(width) == fitting, "sample", "the drawing does not fit again")
    browser.run("""{const field = document.querySelector('.zoomable input'); field.value = 'DENSE';
                    field.dispatchEvent(new Event('input'));}""")
    expect(browser.run("document.querySelector('.zoomable .found').textContent") == "dense_1", "sample", "does not find a text")
    expect(browser.run("document.querySelector('.zoomable output').textContent") == "1 of 1", "sample", "miscounts texts")


def main():
    program = find_browser()
    if program is None:
        print("report.pages: Chromium is not installed; Debian's package is 'chromium'")
        sys.exit(77)
    tool_program, engine, sample_program, loaded_code = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="tfaot-pages-") as folder:
        pages = make_pages(Tool(tool_program, engine, folder), sample_program, loaded_code)
        with Browser(program) as browser:
            for name, (file, data) in pages.items():
                check_everywhere(browser, name, file)
                check_paper(browser, name, file)
                check_without_scripts(browser, name, file)
                if data is not None:
                    check_download(browser, name, file, data)
            check_headlines(pages)
            check_tables(browser, pages["sample"][0])
            check_drawing(browser, pages["sample"][0])
            if "TFAOT_PICTURES" in os.environ:
                take_pictures(browser, pages, pathlib.Path(os.environ["TFAOT_PICTURES"]))
    for failure in failures:
        print(failure)
    print(f"{len(pages)} pages, {len(failures)} failures")
    sys.exit(1 if failures else 0)


def take_pictures(browser, pages, folder):
    """For developers: every page, in every look."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (file, _) in pages.items():
        for width in WIDTHS:
            for scheme in SCHEMES:
                browser.look(width, 800, scheme)
                browser.open(file)
                browser.picture(folder / f"{name}_{width}_{scheme}.png")


if __name__ == "__main__":
    main()
