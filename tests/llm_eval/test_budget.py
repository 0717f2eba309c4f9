"""Limits on requests in flight and on dollars; a call is a dollar at its worst."""

import asyncio

import pytest

from llm_eval.clients.base import Client, Reply, Request, Usage
from llm_eval.clients.budget import TOTAL, Budget, Budgeted
from llm_eval.clients.errors import BudgetSpent, FinalError
from llm_eval.clients.limit import Limited, Limits
from llm_eval.clients.scripted import Answer, Scripted, in_order, wander
from tests.llm_eval.fakes import ask, failed, paid, run, scripted_config


class Crowd:
    """A client that counts how many ask it at a time."""

    def __init__(self) -> None:
        self.inside = self.most = 0

    async def complete(self, request: Request) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.001)
        self.inside -= 1
        if request.messages[0].content == "fail":
            raise FinalError("No.")
        return Reply("ok")


def test_an_endpoint_has_one_limit_for_all_games():
    crowd, limits = Crowd(), Limits()
    configs = [scripted_config(max_in_flight=3, model=name) for name in "ab"]

    async def games() -> None:
        clients = [Limited(crowd, limits.gate(config)) for config in configs * 3]
        asked = [c.complete(ask(t)) for c in clients for t in ("x", "fail", "y")]
        await asyncio.gather(*asked, return_exceptions=True)

    run(games())
    assert crowd.most == 3


def test_other_endpoints_have_their_own():
    limits = Limits()
    one, other = (scripted_config(base_url=f"http://{name}/v1") for name in "ab")
    assert limits.gate(one) is limits.gate(one)
    assert limits.gate(one) is not limits.gate(other)


def test_two_limits_of_one_endpoint_are_refused():
    limits = Limits()
    limits.gate(scripted_config(max_in_flight=3))
    with pytest.raises(ValueError, match="an endpoint has one limit"):
        limits.gate(scripted_config(max_in_flight=4))


def budgeted(budget: Budget, *answers: Answer, player: str = "p", latency: float = 0) -> Budgeted:
    return Budgeted(Scripted(in_order(answers), None, latency), budget, player, scripted_config())


def spend(client: Client, most: int) -> int:
    """How many calls come through before the budget is spent."""

    async def play() -> int:
        for count in range(most):
            try:
                await client.complete(ask("x"))
            except BudgetSpent:
                return count
        return most

    return int(run(play()))


def test_a_call_that_could_exceed_the_budget_is_not_begun():
    budget = Budget(total=2.5)
    client = budgeted(budget, *[paid(0.5)] * 10)
    assert spend(client, 10) == 4
    assert budget.spent == {"p": 2.0, TOTAL: 2.0}


def test_a_player_has_its_own_budget():
    budget = Budget(total=100.0, by_player={"p": 1.0})
    assert spend(budgeted(budget, *[paid(0.4)] * 5), 5) == 1
    assert spend(budgeted(budget, *[paid(0.4)] * 5, player="q"), 5) == 5
    assert budget.spent == pytest.approx({"p": 0.4, "q": 2.0, TOTAL: 2.4})


def test_the_spent_of_an_interrupted_run_counts():
    budget = Budget(total=3.0, spent={"p": 1.5, "q": 1.0})
    assert spend(budgeted(budget, paid(0.1)), 1) == 0
    message = "The budget is spent: all players spent 2.5000 of 3.0000 dollars, and a call of p"
    with pytest.raises(BudgetSpent, match=message):
        run(budgeted(budget, paid(0.1)).complete(ask("x")))


def test_calls_at_once_never_exceed_the_budget_and_use_it_up():
    budget = Budget(total=2.9)
    clients = [budgeted(budget, *[paid(0.3)] * 9, latency=0.001) for _ in range(5)]

    async def play() -> list[object]:
        asked = [c.complete(ask("x")) for c in clients for _ in range(3)]
        return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 5)

    answers = run(play())
    refused = [answer for answer in answers if isinstance(answer, BudgetSpent)]
    assert budget.spent[TOTAL] == pytest.approx(2.1)
    assert len(refused) == 15 - 7
    assert all(isinstance(a, (Reply, BudgetSpent)) for a in answers)


def test_a_call_that_nobody_counted_is_taken_at_its_worst():
    budget = Budget(total=10.0)
    run(budgeted(budget, paid(None)).complete(ask("x")))
    assert budget.spent["p"] == 1.0


def test_a_failed_attempt_costs_what_it_cost_and_frees_the_rest():
    budget = Budget(total=1.2)
    client = budgeted(budget, failed(usage=Usage(dollars=0.1)), FinalError("No."), paid(0.2))
    for _ in range(2):
        with pytest.raises(Exception, match=r"It failed\.|No\."):
            run(client.complete(ask("x")))
    run(client.complete(ask("x")))
    assert budget.spent["p"] == pytest.approx(0.3)


def test_a_budget_needs_prices():
    config = scripted_config(prices=None)
    with pytest.raises(ValueError, match=r"set prices\.input and prices\.output"):
        Budgeted(Scripted(wander), Budget(total=1.0), "p", config)
    Budgeted(Scripted(wander), Budget(by_player={"q": 1.0}), "p", config)


def test_a_prompt_costs_at_most_what_is_set_aside():
    config = scripted_config(prices={"input": 1e6, "output": 0.0})
    text = "naïve ☃ " * 20
    held = config.worst_case(ask(text)).dollars
    assert held is not None
    assert held > len(text.encode())
