import numpy as np

from osj_envs.testing.vision import difference, lab


def test_the_colour_difference_is_that_of_the_standard():
    white, black, red = (np.full((1, 1, 3), c, np.uint8) for c in (255, 0, (255, 0, 0)))
    np.testing.assert_allclose(lab(white)[0, 0], [100, 0, 0], atol=0.02)
    np.testing.assert_allclose(lab(red)[0, 0], [53.24, 80.09, 67.2], atol=0.02)
    assert difference(white, black) == 1.0
    assert difference(white, white) == 0.0
