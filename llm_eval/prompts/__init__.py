"""All that models are told, as templates that a person can read and edit.

A template is a Markdown file in this folder; `$name` stands for what the suite puts there.
"""

import functools
import pathlib
import string

FOLDER = pathlib.Path(__file__).parent


def fill(name: str, **fields: object) -> str:
    """A template with its placeholders filled.

    Args:
        name: of the template, without its ending.
        **fields: the text of each placeholder.

    Raises:
        ValueError: there is no such template, or its placeholders are not these.
    """
    template = _read(name)
    if not template.is_valid():
        raise ValueError(f"The prompt {name}.md has a $ that begins no placeholder; write $$.")
    wanted = set(template.get_identifiers())
    if unknown := sorted(wanted - fields.keys()):
        raise ValueError(
            f"The prompt {name}.md has the placeholder ${unknown[0]}; allowed are "
            f"{', '.join(f'${field}' for field in sorted(fields)) or 'none'}."
        )
    if missing := sorted(fields.keys() - wanted):
        raise ValueError(f"The prompt {name}.md lacks the placeholder ${missing[0]}.")
    return template.substitute({field: str(text) for field, text in fields.items()})


def template_names() -> list[str]:
    """All templates."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


@functools.cache
def _read(name: str) -> string.Template:
    path = FOLDER / f"{name}.md"
    if not path.is_file():
        raise ValueError(f"There is no prompt {name}; there are {', '.join(template_names())}.")
    return string.Template(path.read_text(encoding="utf-8").strip())
