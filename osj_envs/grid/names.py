"""What people call seats and headings, in text and pictures alike."""

import string

from osj_envs.grid.codes import Heading

HEADINGS = {heading: heading.name.lower() for heading in Heading}
"""Names of the headings."""


def agent_name(seat: int) -> str:
    """The letters of the agent in a seat: A to Z, then AA, AB and so on."""
    letters = string.ascii_uppercase
    before = seat // len(letters)
    return (agent_name(before - 1) if before else "") + letters[seat % len(letters)]
