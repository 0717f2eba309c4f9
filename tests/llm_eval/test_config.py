"""Configurations are checked on entry, and no key gets beyond its client."""

import pathlib
import subprocess
import sys
from typing import Any

import pytest

from llm_eval.clients.base import Usage
from llm_eval.clients.config import (
    ClientConfig,
    Prices,
    client_names,
    load_client_config,
    read_client_config,
)

PAPER = {
    "gpt-6-luna",
    "gpt-6-sol",
    "claude-opus-5.5",
    "qwen3.8-27b",
    "qwen3.5-4b",
    "deepseek-v4.1-flash",
    "gemma-4-31b",
    "glm-5.3-flash",
}


def test_the_papers_models_are_there():
    assert set(client_names()) == PAPER | {"local", "scripted"}


@pytest.mark.parametrize("name", client_names())
def test_every_shipped_configuration_is_valid(name: str):
    config = load_client_config(name)
    assert config.key_file is None
    assert (config.key_env is None) == (
        config.provider == "scripted" or "localhost" in str(config.base_url)
    )


def test_the_papers_settings():
    qwen = load_client_config("qwen3.5-4b")
    assert qwen.temperature == 1.0
    expected = {"top_p": 0.95, "top_k": 20, "presence_penalty": 1.5, "thinking_token_budget": 3000}
    assert qwen.extra_body == expected
    claude = load_client_config("claude-opus-5.5")
    assert (claude.provider, claude.reasoning_effort) == ("anthropic", "medium")
    assert claude.json_mode == "none"
    assert load_client_config("glm-5.3-flash").reasoning_effort == "low"
    assert load_client_config("deepseek-v4.1-flash").extra_body["thinking"]["type"] == "disabled"


GOOD = {"provider": "openai", "model": "m"}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"base_ulr": "x"}, "client c: unknown key 'base_ulr'; did you mean 'base_url'"),
    ({"retry": {"first_second": 1}}, "c, retry: unknown key 'first_second'; did you mean 'first_s"),
    ({"prices": {"inptu": 1}}, "client c, prices: unknown key 'inptu'; did you mean 'input'"),
    ({"provider": "opnai"}, "client c, provider: Input should be 'openai', 'anthropic' or"),
    ({"max_tokens": 0}, "client c, max_tokens: Input should be greater than or equal to 1"),
    ({"prices": {"input": -1, "output": 0}}, "prices.input: Input should be greater"),
    ({"prices": {"input": float("nan"), "output": 0}}, "prices.input: Input should be a finite"),
    ({"model": ""}, "client c, model:"),
    ({"key_env": "A", "key_file": "b"}, "client c: key_env and key_file are both set"),
    ({"provider": "anthropic", "json_mode": "json_object"}, "anthropic lacks; take json_schema"),
    ({"provider": "anthropic", "json_mode": "json_object_schema"}, "lacks; take json_schema"),
    ({"base_url": "http://me:secret@host/v1"}, "base_url holds a password"),
]


@pytest.mark.parametrize(("fields", "message"), BAD, ids=[message for _, message in BAD])
def test_a_wrong_configuration_is_refused_in_a_sentence(fields: dict[str, Any], message: str):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is checked below)
        read_client_config("c", GOOD | fields)
    assert message in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_model_names_the_nearest():
    with pytest.raises(ValueError, match=r"Unknown model: 'claude-opus'; did you mean 'claude-"):
        load_client_config("claude-opus")


def test_a_model_can_be_a_file_of_ones_own(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.yaml"
    with pytest.raises(ValueError, match=r"Unknown model: .*mine\.yaml.*; "):
        load_client_config(str(path))
    path.write_text("provider: openai\nmodel: m\nbase_url: http://localhost:9/v1\n")
    assert load_client_config(str(path)).base_url == "http://localhost:9/v1"


def test_a_key_comes_from_its_variable_or_its_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOME_KEY", " sk-1\n")
    (tmp_path / "key").write_text("sk-2\n")
    for fields, expected in (
        ({"key_env": "SOME_KEY"}, "sk-1"),
        ({"key_file": str(tmp_path / "key")}, "sk-2"),
    ):
        key = read_client_config("c", GOOD | fields).key()
        assert key is not None
        assert key.get_secret_value() == expected
    assert read_client_config("c", GOOD).key() is None


@pytest.mark.parametrize("text", ["", "two words", "clé", "a\nb"])
def test_what_is_no_key_is_refused_without_being_told(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str
):
    (tmp_path / "key").write_text(text)
    monkeypatch.setenv("SOME_KEY", text)
    for fields in ({"key_env": "SOME_KEY"}, {"key_file": str(tmp_path / "key")}):
        with pytest.raises(ValueError, match="holds no key") as caught:
            read_client_config("c", GOOD | fields).key()
        assert not text or text not in str(caught.value)


def test_a_missing_key_says_where_to_put_it(tmp_path: pathlib.Path):
    with pytest.raises(ValueError, match=r"NO_SUCH_KEY is not set; export the key of m in it\."):
        read_client_config("c", GOOD | {"key_env": "NO_SUCH_KEY"}).key()
    with pytest.raises(ValueError, match=r"does not exist; write the key of m to it\."):
        read_client_config("c", GOOD | {"key_file": str(tmp_path / "none")}).key()


def test_cached_tokens_have_their_price():
    usage = Usage(input_tokens=1000, output_tokens=10, cached_tokens=400)
    assert Prices(input=2.0, output=5.0).dollars(usage) == pytest.approx(2050e-6)
    cheap = Prices(input=2.0, output=5.0, cached_input=0.5)
    assert cheap.dollars(usage) == pytest.approx(1450e-6)


def test_a_configuration_cannot_be_changed():
    config = ClientConfig(**GOOD)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="frozen"):
        config.model = "n"


def test_sdks_are_imported_only_when_used():
    code = (
        "import sys, llm_eval.clients.connect, llm_eval.clients.openai, llm_eval.clients.anthropic,"
        " llm_eval.records, llm_eval.status, llm_eval.memory, llm_eval.parsing;"
        "assert not {'openai', 'anthropic'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
