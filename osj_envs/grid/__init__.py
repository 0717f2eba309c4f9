"""What the grid worlds share: codes, movement, beams and views."""
