"""Language models as players of the environments of `osj_envs`."""
