"""Writes the golden records anew: `python tests/golden/regenerate.py [NAME ...]`."""

import json
import pathlib
import sys

import jax

from osj_envs.testing.golden import CASES, record

if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    for name in sys.argv[1:] or CASES:
        text = json.dumps(record(CASES[name]), indent=2)
        pathlib.Path(__file__).with_name(f"{name}.json").write_text(f"{text}\n")
        print(f"wrote {name}.json")
