import itertools
import string

import numpy as np
import pytest

from osj_envs.rendering.canvas import Canvas
from osj_envs.rendering.lettering import text_shape, text_sprite

INK = (0, 0, 0)
# The digit and the capital look alike, as in many fonts: no name holds both.
LETTERS = [c for c in string.ascii_uppercase + string.digits + ":.,-+()/" if c != "0"]


def drawn(text: str) -> np.ndarray:
    return Canvas(32).paint(text_shape(text, (0.5, 0.5), 0.6), INK).sprite()[..., 3]


def test_every_two_letters_differ():
    forms = {letter: drawn(letter) for letter in LETTERS}
    pairs = itertools.combinations(LETTERS, 2)
    alike = [pair for pair in pairs if (abs(forms[pair[0]] - forms[pair[1]]) > 0.5).sum() < 10]
    assert not alike


def test_lower_case_is_written_in_capitals():
    np.testing.assert_array_equal(text_sprite("tool", 16, INK), text_sprite("TOOL", 16, INK))


def test_a_longer_text_is_wider_and_as_high():
    short, long = text_sprite("A", 16, INK), text_sprite("A TOOL", 16, INK)
    assert short.shape[0] == long.shape[0] == 16
    assert long.shape[1] > 4 * short.shape[1]


def test_a_text_is_centred():
    rows, cols = np.nonzero(drawn("HOH") > 0.5)
    assert rows.mean() == pytest.approx(15.5, abs=0.5)
    assert cols.mean() == pytest.approx(15.5, abs=0.5)


def test_an_unknown_letter_is_named():
    with pytest.raises(ValueError, match="'É' has no letter form"):
        text_shape("É", (0.5, 0.5), 0.5)
