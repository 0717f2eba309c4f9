"""Stops a run before it costs more than it may."""

import asyncio
from collections.abc import Mapping, Sequence

from llm_eval.clients.base import Client, Reply, Request
from llm_eval.clients.config import ClientConfig
from llm_eval.clients.errors import BudgetSpent, InfrastructureError

TOTAL = "all players"
"""Under which name the whole run's dollars are kept."""


class Budget:
    """Dollars spent and allowed, of each player and of the whole run.

    A call is begun only if it could not exceed what is allowed even at its worst; while calls in
    flight could still turn out cheaper than their worst, it waits for them.

    Args:
        total: dollars that the run may cost; None for no limit.
        by_player: dollars that a player may cost.
        spent: dollars by player of the calls that a run to be resumed has recorded.
    """

    def __init__(
        self,
        total: float | None = None,
        by_player: Mapping[str, float] | None = None,
        spent: Mapping[str, float] | None = None,
    ) -> None:
        self._allowed = dict(by_player or {})
        if total is not None:
            self._allowed[TOTAL] = total
        self._spent = dict(spent or {})
        self._spent[TOTAL] = sum(self._spent.values())
        self._held: list[tuple[str, float]] = []
        self._settled = asyncio.Condition()

    @property
    def spent(self) -> dict[str, float]:
        """Dollars by player, and under `TOTAL` of all of them."""
        return dict(self._spent)

    def limits(self, player: str) -> bool:
        """Whether anything limits the player."""
        return TOTAL in self._allowed or player in self._allowed

    async def hold(self, player: str, dollars: float) -> None:
        """Sets aside the most that a call can cost, once there is room for it.

        Raises:
            BudgetSpent: there is not, and no call in flight can make any.
        """
        async with self._settled:
            while name := self._without_room(player, dollars, self._held):
                if self._without_room(player, dollars, []):
                    raise BudgetSpent(self._sentence(name, player, dollars))
                await self._settled.wait()
            self._held.append((player, dollars))

    async def settle(self, player: str, held: float, dollars: float) -> None:
        """Puts what a call cost in the place of what was set aside for it."""
        async with self._settled:
            self._held.remove((player, held))
            for name in (player, TOTAL):
                self._spent[name] = self._spent.get(name, 0.0) + dollars
            self._settled.notify_all()

    def _sentence(self, name: str, player: str, dollars: float) -> str:
        return (
            f"The budget is spent: {name} spent {self._spent[name]:.4f} of "
            f"{self._allowed[name]:.4f} dollars, and a call of {player} may cost {dollars:.4f}; "
            "raise the budget and start the run again to go on."
        )

    def _without_room(
        self, player: str, dollars: float, held: Sequence[tuple[str, float]]
    ) -> str | None:
        """The player, or `TOTAL`, that the call could lead beyond its limit."""
        for name in (player, TOTAL):
            aside = sum(each for who, each in held if name in (who, TOTAL))
            used = self._spent.get(name, 0.0) + aside
            if name in self._allowed and used + dollars > self._allowed[name]:
                return name
        return None


class Budgeted:
    """A client whose every attempt is paid from a budget.

    Args:
        client: to ask.
        budget: of the run.
        player: who pays.
        config: of the endpoint, for prices and the most that a call can cost.

    Raises:
        ValueError: the player's dollars are limited, and its prices are unknown.
    """

    def __init__(self, client: Client, budget: Budget, player: str, config: ClientConfig) -> None:
        if budget.limits(player) and config.prices is None:
            raise ValueError(
                f"A budget needs the prices of {config.model}; set prices.input and prices.output."
            )
        self._client = client
        self._budget = budget
        self._player = player
        self._config = config

    async def complete(self, request: Request) -> Reply:
        """Asks if there is money left; see `Client`.

        Raises:
            BudgetSpent: the call could exceed the budget.
        """
        held = self._config.worst_case(request).dollars or 0.0
        await self._budget.hold(self._player, held)
        cost: float | None = 0.0
        try:
            reply = await self._client.complete(request)
            cost = reply.usage.dollars
        except InfrastructureError as error:
            cost = error.usage.dollars
            raise
        except asyncio.CancelledError:
            cost = None  # the endpoint may have answered
            raise
        finally:
            # Where the endpoint did not count, the call is taken at its worst.
            await self._budget.settle(self._player, held, held if cost is None else cost)
        return reply
