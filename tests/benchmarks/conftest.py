"""Benchmarks use every core: each is a device of its own, before JAX is first used."""

from algorithms.devices import prepare_backend

prepare_backend()
