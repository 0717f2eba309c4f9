"""How fast the environments are on this machine: `python -m osj_envs.bench`."""
