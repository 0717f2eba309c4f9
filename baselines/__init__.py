"""Scripted policies, their evaluation and Schelling diagrams, on the environments of `osj_envs`."""
