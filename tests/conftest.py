"""Settings shared by all tests: the CPU, a compilation cache on disk, reproducible examples.

The environment variables are set before JAX is imported, and reach the programs that tests start.
"""

import os
import pathlib
from collections.abc import Iterator

import hypothesis
import pytest

CACHE = pathlib.Path(__file__).resolve().parents[1] / ".cache" / "jax"

MOST_MAPPINGS = 20_000

FAST_TO_COMPILE = "--xla_backend_optimization_level=0"

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
os.environ.setdefault("WANDB_MODE", "offline")
os.environ.setdefault("MPLBACKEND", "agg")

# the first example of a test compiles: no deadline; the same examples on every run
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Compiles for benchmarks and slow tests as users do, and for other tests in less time.

    Most tests run what they compile for some milliseconds, so that machine code need not be good.
    Benchmarks time compilation, so they must not find it on disk either.
    """
    if config.getoption("benchmark_only"):
        os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    elif config.option.markexpr == "not slow":
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{FAST_TO_COMPILE} {flags}".strip()


@pytest.fixture(autouse=True, scope="module")
def _few_programs() -> Iterator[None]:
    """Lets go of what was compiled before a process reaches Linux's limit of 65,530 mappings.

    Every program holds several, and past the limit compiling ends in a segmentation fault.
    """
    yield
    maps = pathlib.Path("/proc/self/maps")
    if maps.exists() and maps.read_text().count("\n") > MOST_MAPPINGS:
        import jax

        jax.clear_caches()
