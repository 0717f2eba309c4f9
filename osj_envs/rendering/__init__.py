"""Pictures of worlds: palette, sprites and canvas."""
