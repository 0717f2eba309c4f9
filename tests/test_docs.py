"""The documents say what is there: links resolve, commands exist, the example runs as written."""

import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "osj_envs/**/*.md", "algorithms/**/*.md")
    for path in ROOT.glob(pattern)
)
COMMANDED = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def fenced(text: str, language: str) -> list[str]:
    return [body for name, body in FENCE.findall(text) if name == language]


def anchors(text: str) -> set[str]:
    """The headings' names as links write them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def broken_links(path: pathlib.Path) -> list[str]:
    """The links of the document to files or headings that are not there."""
    broken = []
    for link in LINK.findall(FENCE.sub("", path.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(link)
    return broken


def documented_commands(text: str) -> list[str]:
    """The commands of the fenced blocks, and those between backticks in the first table column."""
    in_blocks = [
        line.strip()
        for block in fenced(text, "bash")
        for line in block.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return in_blocks + re.findall(r"^\| `((?:make|python|pytest) [^`]+)` \|", text, re.MULTILINE)


def command_fault(command: str) -> str:
    """Why the command cannot be typed from the checkout; empty if it can."""
    program, *arguments = shlex.split(command)
    if program == "make":
        return _missing(
            set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)), arguments
        )
    if program in ("python", "pytest"):
        return "" if (ROOT / arguments[0]).exists() else f"no {arguments[0]} here"
    if program == "pip":
        return _missing_extras(arguments[-1])
    if program.startswith(".venv/bin/"):
        tool = program.rpartition("/")[2]
        locked = (ROOT / "requirements.lock").read_text().replace("_", "-")
        return "" if f"\n{tool}==" in locked else f"{tool} is not in the lock file"
    return "" if (ROOT / program).is_file() else f"no {program} here"


def _missing(targets: set[str], arguments: list[str]) -> str:
    asked = [argument for argument in arguments if "=" not in argument]
    return "".join(f"no make target {name}" for name in asked if name not in targets)


def _missing_extras(requirement: str) -> str:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    asked = re.findall(r"[\w-]+", requirement.partition("[")[2])
    return "".join(f"no extra {name}" for name in asked if name not in extras)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_the_documents_resolve(path: pathlib.Path):
    assert not broken_links(path)


def test_a_broken_link_is_found(tmp_path: pathlib.Path):
    page = tmp_path / "page.md"
    page.write_text("# One thing\n[a](gone.md) [b](page.md#one-thing) [c](#two) ![d](e.png)")
    assert broken_links(page) == ["gone.md", "#two", "e.png"]


@pytest.mark.parametrize("path", COMMANDED, ids=lambda path: path.name)
def test_the_documented_commands_exist(path: pathlib.Path):
    commands = documented_commands(path.read_text())
    assert commands
    assert not {command: fault for command in commands if (fault := command_fault(command))}


@pytest.mark.parametrize(
    "command",
    ["make trian", "python algorithms/gone.py env=cleanup", "pip install -e '.[gpu]'", "conda x"],
)
def test_a_command_that_is_not_there_is_found(command: str):
    assert command_fault(command)


def test_the_readme_names_the_two_commands():
    assert {"make train", "make test"} <= set(documented_commands((ROOT / "README.md").read_text()))


def test_the_readme_example_runs_as_written(tmp_path: pathlib.Path):
    (example,) = fenced((ROOT / "README.md").read_text(), "python")
    (tmp_path / "example.py").write_text(example)
    ran = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    apples = re.search(r"by agent: \[([\d.\s]+)\]", ran.stdout)
    assert apples is not None, ran.stdout
    assert sum(map(float, apples[1].split())) > 0
