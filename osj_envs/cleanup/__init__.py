"""OpenCleanup: a public good behind hidden tool recipes (paper, section 3.2)."""
