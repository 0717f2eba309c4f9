"""Other forms of an environment's observations."""

from osj_envs.wrappers.one_hot import OneHotView, one_hot_view

__all__ = ["OneHotView", "one_hot_view"]
