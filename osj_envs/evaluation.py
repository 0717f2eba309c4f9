"""Plays many problems on all devices, compiled once, and hands back NumPy records."""

import contextlib
import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Bool, UInt32

from osj_envs.progress import Advance, progress_bar
from osj_envs.records import EpisodeRecord
from osj_envs.rollout import Seats, group_seats, play
from osj_envs.seats import Policy, Roster
from osj_envs.splits import PROBLEM_SEEDS, check_split, problem_key
from osj_envs.trials import MultiTrial
from osj_envs.types import Key, Latent, Split

CPU_BATCH, ACCELERATOR_BATCH = 64, 1024
"""Problems played at once on each device: a CPU core is at its best rate with the first, while an
accelerator takes about as long for a step of few problems as for one of many."""

_AXIS = "problems"


def evaluate(
    env: MultiTrial,
    roster: Policy | Roster,
    key: Key,
    problem_seeds: Sequence[int],
    batch_size: int | None = None,
    *,
    split: Split = "held_out",
    wipe_at_trial: bool = False,
    rotate: bool = False,
    advance: Advance | None = None,
) -> EpisodeRecord:
    """Plays every problem once.

    Compiles once for an environment object, a kind of roster and a batch size: policies that are
    pytrees may come back with other arrays, and any split is played by the same program, by players
    that forget or not. An episode's chance depends on `key` and its problem
    seed alone.

    Args:
        env: what is played.
        roster: the player of each seat, or one policy for all.
        key: of all chance.
        problem_seeds: which problems; seed s of the held-out split is `env.problem(s)`.
        batch_size: problems played at once, over all devices; rounded up to a multiple of them,
            and by default what suits the machine.
        split: where the problems' latents are drawn from.
        wipe_at_trial: control: players forget everything at every trial's start.
        rotate: the seating shifts by one from each problem seed to the next, so that every
            player of a mixed roster sits everywhere.
        advance: told of the problems that are done, in place of a bar of its own.

    Returns:
        NumPy records, problems first, in the order of `problem_seeds`.

    Raises:
        ValueError: no problem, a seed out of range, an unknown split, or a roster that `play`
            refuses.
    """
    seeds = _check_seeds(problem_seeds)
    mesh = Mesh(np.asarray(jax.local_devices()), (_AXIS,))
    players, places = group_seats(roster, env.num_agents)
    arrays, frozen = _freeze(players)
    run, wipes = _Run(env, frozen, places, rotate, mesh), jnp.bool_(wipe_at_trial)
    check_split(split)
    at_once = _batch_of_this_machine(mesh) if batch_size is None else batch_size
    records = []
    bar = contextlib.nullcontext(advance) if advance else progress_bar("problems", len(seeds))
    with bar as done:
        for batch, count in _batches(seeds, at_once, mesh.size):
            latents = _sample_latents(env, split, batch)
            record = jax.device_get(_play_batch(run, arrays, key, wipes, batch, latents))
            records.append(jax.tree.map(lambda x, count=count: x[:count], record))
            done(count)
    whole: Any = jax.tree.map(lambda *parts: np.concatenate(parts), *records)
    return dataclasses.replace(whole, problem_seed=seeds)


@dataclasses.dataclass(frozen=True)
class _Frozen:
    """The parts of the policies that are no arrays; hashable."""

    structure: Any
    leaves: tuple[Any, ...]

    def thaw(self, arrays: Sequence[Array]) -> tuple[Policy, ...]:
        """The policies with these arrays."""
        rest = iter(arrays)
        leaves = [next(rest) if leaf is None else leaf for leaf in self.leaves]
        return tuple(jax.tree.unflatten(self.structure, leaves))


def _freeze(players: tuple[Policy, ...]) -> tuple[list[Array], _Frozen]:
    leaves, structure = jax.tree.flatten(players)
    is_array = [isinstance(leaf, jax.Array | np.ndarray) for leaf in leaves]
    kept = tuple(None if array else leaf for leaf, array in zip(leaves, is_array, strict=True))
    arrays = [leaf for leaf, array in zip(leaves, is_array, strict=True) if array]
    return arrays, _Frozen(structure, kept)


@dataclasses.dataclass(frozen=True)
class _Run:
    """What an evaluation is compiled for; neither the split nor whether players forget is."""

    env: MultiTrial
    frozen: _Frozen
    places: tuple[Seats, ...]
    rotates: bool
    mesh: Mesh


@functools.partial(jax.jit, static_argnums=(0, 1))
def _sample_latents(env: MultiTrial, split: Split, seeds: UInt32[Array, "batch"]) -> Latent:
    """The latents of the problems; apart, so that all splits are played by one program."""
    return jax.vmap(lambda seed: env.sample_latent(problem_key(seed), split))(seeds)


@functools.partial(jax.jit, static_argnums=0)
def _play_batch(
    run: _Run,
    arrays: list[Array],
    key: Key,
    wipes: Bool[Array, ""],
    seeds: UInt32[Array, "batch"],
    latents: Latent,
) -> EpisodeRecord:
    """Each device plays its share of the problems, with no word between them."""

    def share(
        arrays: list[Array], key: Key, wipes: Array, seeds: Array, latents: Latent
    ) -> EpisodeRecord:
        play_one = functools.partial(_play_problem, run, arrays, key, wipes)
        return jax.vmap(play_one)(seeds, latents)

    everywhere, sharded = PartitionSpec(), PartitionSpec(_AXIS)
    specs = (everywhere, everywhere, everywhere, sharded, sharded)
    spread = jax.shard_map(share, mesh=run.mesh, in_specs=specs, out_specs=sharded, check_vma=False)
    return spread(arrays, key, wipes, seeds, latents)


def _play_problem(
    run: _Run,
    arrays: list[Array],
    key: Key,
    wipes: Bool[Array, ""],
    seed: UInt32[Array, ""],
    latent: Latent,
) -> EpisodeRecord:
    env = run.env
    roster: list[Any] = [None] * env.num_agents
    for policy, places in zip(run.frozen.thaw(arrays), run.places, strict=True):
        for place in places:
            roster[place] = policy
    shift = (seed % env.num_agents).astype(jnp.int32) if run.rotates else None
    return play(env, roster, jax.random.fold_in(key, seed), latent, wipes, shift)


def _check_seeds(problem_seeds: Sequence[int]) -> UInt32[np.ndarray, "problems"]:
    seeds = np.asarray(problem_seeds)
    if seeds.ndim != 1 or seeds.size == 0:
        raise ValueError("problem_seeds must be a list of at least one problem seed.")
    if seeds.dtype.kind not in "iu" or seeds.min() < 0 or seeds.max() >= PROBLEM_SEEDS:
        raise ValueError(f"problem seeds must be whole numbers from 0 to {PROBLEM_SEEDS - 1:,}.")
    return seeds.astype(np.uint32)


def _batch_of_this_machine(mesh: Mesh) -> int:
    is_cpu = mesh.devices.flat[0].platform == "cpu"
    return mesh.size * (CPU_BATCH if is_cpu else ACCELERATOR_BATCH)


def _batches(
    seeds: UInt32[np.ndarray, "problems"], batch_size: int, devices: int
) -> Iterator[tuple[UInt32[np.ndarray, "batch"], int]]:
    """Batches of one size, and how many problems of each count; the last is filled up."""
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be at least 1.")
    size = -(-min(batch_size, len(seeds)) // devices) * devices
    for start in range(0, len(seeds), size):
        batch = seeds[start : start + size]
        yield np.pad(batch, (0, size - len(batch)), mode="edge"), len(batch)
