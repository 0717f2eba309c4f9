"""Learned agents: recurrent PPO across trials (RL²), on the environments of `osj_envs`."""
