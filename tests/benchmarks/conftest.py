"""Benchmarks use every core: each is a device of its own, before JAX is first used."""

from osj_envs.devices import prepare_backend

prepare_backend()
