"""Lock file, declared dependencies and tracked files fit a machine that is not ours."""

import ast
import importlib.metadata
import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text().splitlines()
PINNED = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+-]+")
OURS = frozenset({"osj_envs", "algorithms", "baselines", "llm_eval", "tests"})
# spelled in two parts, so that this file does not name one
MACHINE_PATH = re.compile(r"(?<![\w.~$})*-])/(?:" + "work|tmp|root|home|Users" + r")(?=/|\b(?!\w))")


def locked_versions() -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in (x.split("==") for x in LOCK)}


def test_the_lock_holds_plain_pins_only():
    assert LOCK
    assert not [line for line in LOCK if not PINNED.fullmatch(line)]


@pytest.mark.parametrize(
    "line",
    ["jax>=0.10", "jax", "jax @ https://a.b/c.whl", "-e .", "a==1 --hash=sha256:0", "a==1;b"],
)
def test_a_line_that_is_no_plain_pin_is_found(line: str):
    assert not PINNED.fullmatch(line)


def test_the_lock_names_each_distribution_once():
    assert len(locked_versions()) == len(LOCK)


@pytest.mark.parametrize("group", ["core", "viz", "dev"])
def test_the_lock_satisfies_the_declared_dependencies(group: str):
    extras = PROJECT["optional-dependencies"]
    declared = PROJECT["dependencies"] if group == "core" else extras[group]
    locked = locked_versions()
    unmet = [
        line
        for line in declared
        if (need := Requirement(line))
        and not need.specifier.contains(
            locked.get(canonicalize_name(need.name), "0.dev0"), prereleases=True
        )
    ]
    assert declared
    assert not unmet


def test_every_dependency_has_a_lower_bound():
    extras = PROJECT["optional-dependencies"].values()
    declared = [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    assert not [
        x for x in declared if not any(s.operator == ">=" for s in Requirement(x).specifier)
    ]


def needed_distributions(root: pathlib.Path, folders: Iterable[str]) -> dict[str, str]:
    """The distribution of every foreign import in the folders, with a file that needs it."""
    providers = importlib.metadata.packages_distributions()
    needed = {}
    for path in (file for folder in folders for file in sorted((root / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            for top in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OURS:
                needed[canonicalize_name(providers.get(top, [top])[0])] = str(path)
    return needed


def declared_names(*extras: str) -> set[str]:
    optional = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in optional[extra])]
    return {canonicalize_name(Requirement(line).name) for line in lines}


def test_the_packages_declare_what_they_import():
    needed = needed_distributions(ROOT, OURS - {"tests"})
    assert {"jax", "jaxtyping"} <= needed.keys()
    declared = declared_names("llm", "viz", "adapters")
    assert not {name: path for name, path in needed.items() if name not in declared}


def test_the_tests_import_only_what_the_lock_brings():
    needed = needed_distributions(ROOT, ["tests"])
    assert not {name: path for name, path in needed.items() if name not in declared_names("dev")}


def test_an_undeclared_import_is_found(tmp_path: pathlib.Path):
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "x.py").write_text("import os, jax\nfrom orbax import checkpoint\n")
    (tmp_path / "baselines" / "y.py").write_text("def f():\n    import pandas.io\n")
    needed = needed_distributions(tmp_path, ["baselines"])
    assert needed.keys() - declared_names() == {"pandas"}


def test_the_version_is_the_same_everywhere():
    assert f'__version__ = "{PROJECT["version"]}"' in (ROOT / "osj_envs/__init__.py").read_text()
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def tracked_texts() -> dict[str, str]:
    """Every text file that git tracks, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    texts = {}
    for name in filter(None, listed.stdout.split("\0")):
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in data:
            texts[name] = data.decode()
    return texts


def test_no_tracked_file_names_a_path_of_one_machine():
    found = {
        f"{name}:{number}": line.strip()
        for name, text in tracked_texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    }
    assert not found


@pytest.mark.parametrize("folder", ["work", "tmp", "root", "home"])
def test_a_path_of_one_machine_is_found(folder: str):
    assert MACHINE_PATH.search(f"open('/{folder}/main/x.npz')")
    assert MACHINE_PATH.search(f"cd /{folder}")
    assert not MACHINE_PATH.search(f"a/{folder}/b and and/{folder} and ../{folder} $OUT/{folder}")
