"""OpenHarvest: an orchard in common, with hidden pay and regrowth (paper, section 3.2)."""
