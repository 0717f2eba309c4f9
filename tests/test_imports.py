"""Who may import whom: packages meet in `osj_envs` alone, and an environment reads in layers."""

import ast
import pathlib
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]

PACKAGES = {
    "osj_envs": frozenset({"osj_envs"}),
    "baselines": frozenset({"baselines", "osj_envs"}),
    "algorithms": frozenset({"algorithms", "osj_envs"}),
    "llm_eval": frozenset({"llm_eval", "osj_envs"}),
}
OURS = frozenset({*PACKAGES, "tests", "configs"})

# Modules of an environment's folder, from the ground up; a module imports only from rows above it.
LAYERS = (
    ("constants", "names"),
    ("types",),
    ("rules",),
    ("maps",),
    ("acceptance",),
    ("generate_layouts",),
    ("layouts",),
    ("dynamics",),
    ("observation",),
    ("watches",),
    ("evidence",),
    ("text", "render"),
    ("legend",),
    ("env",),
    ("metrics",),
    ("__init__",),
)
LAYER_OF = {module: depth for depth, row in enumerate(LAYERS) for module in row}

# The only places outside an environment's folder, within `osj_envs`, that name one.
KNOW_ENVIRONMENTS = frozenset({"registry", "testing"})


def in_environment(root: pathlib.Path, parts: list[str]) -> bool:
    return parts[0] == "osj_envs" and root.joinpath(*parts[:2], "env.py").exists()


def dotted(root: pathlib.Path, path: pathlib.Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def imported_names(path: pathlib.Path, module: str) -> Iterator[str]:
    """Every dotted name that the file imports, deferred imports and import strings included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            if "." in name and all(part.isidentifier() for part in name.split(".")):
                yield name


def imported_modules(root: pathlib.Path, path: pathlib.Path) -> set[str]:
    """The files of ours that the file imports, as dotted names; a package is its `__init__`."""
    found = set()
    for name in imported_names(path, dotted(root, path)):
        parts = name.split(".")
        if parts[0] in OURS:
            found.add(next(_existing(root, parts), name))
    return found


def _existing(root: pathlib.Path, parts: list[str]) -> Iterator[str]:
    """The longest prefixes of the dotted name that are files."""
    for length in range(len(parts), 0, -1):
        place = root.joinpath(*parts[:length])
        if place.with_suffix(".py").exists():
            yield ".".join(parts[:length])
        elif (place / "__init__.py").exists():
            yield ".".join([*parts[:length], "__init__"])


def broken_edges(root: pathlib.Path) -> list[str]:
    """Every import that the layout forbids, as one line each."""
    return [
        f"{dotted(root, path)} imports {target}: {why}"
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
        for target in sorted(imported_modules(root, path))
        if (why := fault(root, path, target))
    ]


def fault(root: pathlib.Path, path: pathlib.Path, target: str) -> str:
    """Why the file must not import the target; empty if it may."""
    source, aim = dotted(root, path).split("."), target.split(".")
    allowed = PACKAGES[source[0]]
    if aim[0] not in allowed:
        return f"{source[0]} may import only {', '.join(sorted(allowed))}"
    if not in_environment(root, aim):
        return ""
    if not in_environment(root, source):
        shared = source[0] == "osj_envs" and source[1] not in KNOW_ENVIRONMENTS
        return "what all environments share knows none of them" if shared else ""
    if source[:2] != aim[:2]:
        return "environments do not import each other"
    return layer_fault(source[2], aim[2])


def layer_fault(source: str, target: str) -> str:
    """Why a module of an environment must not import another of the same folder."""
    if source == target:
        return ""
    for name in (source, target):
        if name not in LAYER_OF:
            return f"{name} has no place among the layers"
    if LAYER_OF[target] >= LAYER_OF[source]:
        return f"{target} lies above {source}, or beside it"
    return ""


def test_every_import_is_one_that_the_layout_allows():
    assert not (broken := broken_edges(ROOT)), "\n".join(broken)


def test_the_walk_sees_the_code():
    for package in PACKAGES:
        assert (ROOT / package / "__init__.py").exists()
    assert "osj_envs.registry" in imported_modules(ROOT, ROOT / "osj_envs" / "__init__.py")
    assert in_environment(ROOT, ["osj_envs", "cleanup", "rules"])


@pytest.fixture
def toy(tmp_path: pathlib.Path) -> pathlib.Path:
    """A tree with every package and two environments, in which nothing imports anything."""
    modules = [name for row in LAYERS for name in row]
    folders = {package: ["__init__", "entry"] for package in PACKAGES}
    folders |= {"osj_envs/alpha": modules, "osj_envs/beta": modules, "osj_envs/grid": ["beam"]}
    folders |= {"osj_envs": ["__init__", "registry", "trials"], "tests": ["__init__"]}
    for folder, names in folders.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name in names:
            (tmp_path / folder / f"{name}.py").write_text("")
    return tmp_path


FORBIDDEN = {
    "osj_envs/trials.py": ["import baselines", "from algorithms import entry", "import llm_eval"],
    "osj_envs/grid/beam.py": [
        "from osj_envs.alpha import rules",
        "from ..alpha.types import World",
    ],
    "baselines/entry.py": ["from algorithms.entry import x", "def f():\n    import llm_eval"],
    "algorithms/entry.py": ["import baselines.entry", "NAME = 'baselines.entry:greedy'"],
    "llm_eval/entry.py": ["import tests", "import osj_envs, algorithms"],
    "osj_envs/alpha/constants.py": ["from osj_envs.alpha import types"],
    "osj_envs/alpha/types.py": ["from osj_envs.alpha.rules import rank", "from . import dynamics"],
    "osj_envs/alpha/rules.py": [
        "from osj_envs.alpha.layouts import pool",
        "from .env import Alpha",
    ],
    "osj_envs/alpha/dynamics.py": ["from osj_envs.alpha import observation"],
    "osj_envs/alpha/observation.py": ["from osj_envs.alpha.text import x", "from . import env"],
    "osj_envs/alpha/text.py": ["from osj_envs.alpha import render", "import osj_envs.alpha"],
    "osj_envs/alpha/env.py": ["from osj_envs.beta import dynamics", "import osj_envs.beta"],
    "osj_envs/alpha/helpers.py": ["from osj_envs.alpha import rules"],
}
ALLOWED = {
    "osj_envs/registry.py": ["ENTRY = 'osj_envs.alpha.env:Alpha'"],
    "osj_envs/trials.py": ["import jax, numpy", "from osj_envs import registry"],
    "baselines/entry.py": ["from osj_envs.alpha import rules", "import osj_envs"],
    "algorithms/entry.py": ["from algorithms import entry", "TEXT = 'baselines are elsewhere.'"],
    "osj_envs/alpha/env.py": [
        "from osj_envs.alpha import dynamics, text",
        "from ..trials import x",
    ],
    "osj_envs/alpha/dynamics.py": ["from osj_envs.grid.beam import hit", "from .rules import rank"],
}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(file, source) for file, sources in table.items() for source in sources]


@pytest.mark.parametrize(("file", "source"), cases(FORBIDDEN))
def test_a_forbidden_import_is_found(toy: pathlib.Path, file: str, source: str):
    (toy / file).write_text(source)
    assert len(broken_edges(toy)) == 1


@pytest.mark.parametrize(("file", "source"), cases(ALLOWED))
def test_an_allowed_import_passes(toy: pathlib.Path, file: str, source: str):
    (toy / file).write_text(source)
    assert not broken_edges(toy)
