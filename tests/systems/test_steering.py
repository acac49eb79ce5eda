"""Algorithms that move a mix while a model trains, against their definitions, by hand."""

import math

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.systems import algorithm, algorithm_names
from olmix.systems.ado import ADO, fit_law
from olmix.systems.aioli import Aioli, one_hots
from olmix.systems.doge import DoGE
from olmix.systems.doremi import DoReMi
from olmix.systems.kinds.steering import MovingMix, Seen, Steering, make_steering
from olmix.systems.odm import ODM, exploration
from olmix.systems.skill_it import SkillIt, skill_graph

HALF = np.array([0.5, 0.5])
STEERING = [name for name in algorithm_names() if issubclass(algorithm(name), Steering)]


def seen(losses=(), held_out=(), tokens=()) -> Seen:
    return Seen(np.array(tokens, float), np.array(losses, float), np.array(held_out, float))


# DoReMi


def test_doremi_two_steps_by_hand():
    """α ∝ exp(η·excess), mixed with the uniform; the answer is the mean of both α."""
    algorithm = DoReMi(HALF, 2, rate=1.0, smoothing=0.1)
    algorithm.update(np.array([0.3, 0.1]))
    share = math.exp(0.3) / (math.exp(0.3) + math.exp(0.1))
    first = 0.9 * share + 0.05
    assert algorithm.weights == pytest.approx([first, 1 - first])
    # The second batch has nothing of the first domain: its last excess stands.
    algorithm.update(np.array([np.nan, 0.5]))
    up = [first * math.exp(0.3), (1 - first) * math.exp(0.5)]
    second = 0.9 * up[0] / sum(up) + 0.05
    assert algorithm.weights == pytest.approx([second, 1 - second])
    assert algorithm.answer[0] == pytest.approx((first + second) / 2)


# DoGE


def test_doge_one_step_by_hand():
    """log α += min(rate·⟨g_i, Σg⟩/mean‖g‖, 5·rate)/μ, never less than 0."""
    algorithm = DoGE(np.full(4, 0.25), 1, mu=0.01, peak_rate=5e-4)
    gradients = np.array([[3.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [30.0, 0.0]])
    total = gradients.sum(0)
    products, norms = gradients @ total, np.linalg.norm(gradients, axis=1)
    algorithm.update(products, norms, rate=0.5)
    rate = 0.5 * 5e-4
    expected = [min(max(rate * g @ total / norms.mean(), 0), 5 * rate) / 0.01 for g in gradients]
    assert expected[2] == 0
    assert expected[3] == pytest.approx(5 * rate / 0.01)
    assert algorithm.weights == pytest.approx(np.exp(expected) / np.exp(expected).sum())


def test_doge_leaves_a_domain_alone_that_a_batch_has_nothing_of():
    algorithm = DoGE(HALF, 1)
    algorithm.update(np.array([2.0, np.nan]), np.array([1.0, np.nan]), rate=1.0)
    up = math.exp(5e-4 * 2.0 / 0.01)
    assert algorithm.weights == pytest.approx([up / (up + 1), 1 / (up + 1)])


# ODM


def test_odm_has_the_bandits_probabilities():
    """R ← 0.9·R + 0.1·exp(loss) and p = (1 − Kε)·R/ΣR + ε, in closed form."""
    losses = np.array([2.0, 1.0, 3.0, 0.5])
    algorithm = ODM(np.full(4, 0.25), 1000, updates=1000)
    for turn in range(1, 31):
        played = algorithm.next_mix(seen(losses))
        reward = (1 - 0.9**turn) * np.exp(losses)
        least = min(1 / 4, math.sqrt(math.log(4) / (4 * turn)))
        assert exploration(4, turn) == least
        assert played == pytest.approx((1 - 4 * least) * reward / reward.sum() + least)
        assert played.sum() == pytest.approx(1)
    # However seldom the mix is decided, t are steps: 500 when the first of two stretches is over.
    assert ODM(HALF, 1, updates=1).next_mix(seen([1, 5])) == pytest.approx(HALF)
    least = math.sqrt(math.log(2) / (2 * 500))
    reward = np.exp([1.0, 5.0])
    played = ODM(HALF, 1000, updates=2).next_mix(seen([1, 5]))
    assert played == pytest.approx((1 - 2 * least) * reward / reward.sum() + least)


def test_odm_keeps_the_reward_of_a_domain_it_did_not_read():
    algorithm = ODM(HALF, 10)
    algorithm.next_mix(seen([1.0, 2.0]))
    before = algorithm.rewards[1]
    algorithm.next_mix(seen([1.0, np.nan]))
    assert algorithm.rewards[1] == before
    assert algorithm.rewards[0] == pytest.approx(0.19 * math.e)


# ADO


@pytest.mark.parametrize("law", [(1.5, 40.0, 0.4), (0.0, 9.0, 0.15), (2.0, 300.0, 0.9)])
def test_ado_finds_the_law_of_exact_losses(law):
    level, slope, exponent = law
    tokens = np.geomspace(500, 60_000, 12)
    losses = level + slope * tokens**-exponent
    found = fit_law(tokens, losses)
    for at in (60_000.0, 200_000.0):
        assert found[0] + found[1] * at ** -found[2] == pytest.approx(
            level + slope * at**-exponent, rel=2e-3
        )
    assert found[2] == pytest.approx(exponent, abs=0.03)


def test_ado_law_is_not_moved_by_one_odd_point():
    tokens = np.geomspace(500, 60_000, 12)
    losses = 1.5 + 40 * tokens**-0.4
    losses[5] *= 1.5
    level, slope, exponent = fit_law(tokens, losses)
    assert level + slope * 60_000**-exponent == pytest.approx(1.5 + 40 * 60_000**-0.4, rel=0.02)


def test_ado_plays_its_definition():
    """Step by step, as the public code has it: the laws are of all tokens, so that 1/n cancels."""
    laws = [(1.0, 50.0, 0.5), (2.0, 20.0, 0.3)]
    prior, each = np.array([0.7, 0.3]), 5
    algorithm = ADO(prior, 40, updates=8, warmup=0.5)
    tokens, played, history, preferences = np.zeros(2), prior, prior, [prior] * 4 * each
    for number in range(1, 8):
        tokens = tokens + 1000 * played
        read = tokens.sum()
        for _ in range(each):
            history = 0.9 * history + 0.1 * played
        losses = [e + a * read**-b for e, a, b in laws]
        before, played = played, algorithm.next_mix(seen(losses, tokens=tokens))
        if number < 4:
            assert played == pytest.approx(prior)
            continue
        wanted = [b * (loss - e) / read for (e, _, b), loss in zip(laws, losses, strict=True)]
        wanted = prior * wanted * np.sqrt(history)
        wanted = wanted / wanted.sum()
        average = np.mean(preferences, axis=0)
        assert played == pytest.approx(0.9 * average + 0.1 * wanted, abs=2e-3)
        assert np.abs(played - before).max() > 1e-4
        preferences += [wanted] * each


def test_ado_reads_more_of_what_it_prefers_as_the_run_goes_on():
    """Its mean forgets the prior: of preferences, not of mixes that are mostly the prior."""
    algorithm = ADO(np.array([0.5, 0.5]), 1000, updates=20)
    tokens, played = np.zeros(2), np.array([0.5, 0.5])
    for _ in range(19):
        tokens = tokens + 1000 * played
        read = tokens.sum()
        played = algorithm.next_mix(seen([1 + 90 * read**-0.5, 2 + 1 * read**-0.5], tokens=tokens))
    assert played[0] > 0.85


def test_ado_has_a_floor():
    algorithm = ADO(np.array([0.999, 0.001]), 40, updates=4, warmup=0.0)
    tokens = np.zeros(2)
    for number in range(3):
        tokens = tokens + 1000
        algorithm.next_mix(seen([1 + 50 * tokens[0] ** -0.5, 3.0 - number * 1e-9], tokens=tokens))
    assert algorithm.preference()[1] == pytest.approx(0.01 / 1.01)


# Skill-It


def test_skill_it_by_hand():
    graph = skill_graph(np.array([4.0, 2.0]), np.array([[2.0, 2.0], [3.0, 1.0]]))
    assert graph.tolist() == [[0.5, 0.0], [0.25, 0.5]]
    algorithm = SkillIt(HALF, 40, graph=graph.tolist(), rate=0.4, window=2)
    measured = [[3.0, 2.0], [2.0, 1.8], [1.5, 1.6]]
    for losses in measured:
        played = algorithm.next_mix(seen(held_out=losses))
    sums = np.array(measured[1:]).sum(0)
    expected = np.exp(0.4 * graph @ sums)
    assert played == pytest.approx(expected / expected.sum())


def test_skill_graph_never_punishes():
    assert skill_graph(np.array([1.0, 1.0]), np.array([[0.5, 2.0], [2.0, 0.5]])).min() == 0


# Aioli


def test_aioli_learns_the_matrix_of_linear_drops():
    """Losses that fall by A·p in each sweep give A/ΣA back, and p ∝ exp(η·column sums)."""
    matrix = np.array([[0.4, 0.1, 0.0], [0.0, 0.3, 0.2], [0.1, 0.1, 0.5]])
    mixes = one_hots(3, 0.75)
    assert mixes.sum(1) == pytest.approx(1)
    algorithm = Aioli(np.full(3, 1 / 3), 60, rounds=2, rate=0.5)
    losses, played, orders = np.array([5.0, 5.0, 5.0]), [], []
    for place in range(4):
        mix = algorithm.next_mix(seen(held_out=losses))
        played.append(mix)
        if place < 3:
            assert mix == pytest.approx(mixes[mix.argmax()])
            losses = losses - matrix @ mix
    orders.append([mix.argmax() for mix in played[:3]])
    share = matrix / matrix.sum()
    expected = np.exp(0.5 * share.sum(0))
    assert played[3] == pytest.approx(expected / expected.sum())
    # The next round counts 0.9; what the first one said counts 0.1.
    other, played = matrix[::-1], []
    for _ in range(4):
        mix = algorithm.next_mix(seen(held_out=losses))
        played.append(mix)
        losses = losses - other @ mix
    orders.append([mix.argmax() for mix in played[:3]])
    second = 0.9 * other / other.sum() + 0.1 * share
    expected = np.exp(0.5 * second.sum(0))
    assert mix == pytest.approx(expected / expected.sum())
    # Every sweep is over all domains, each in an order of its own.
    assert [sorted(order) for order in orders] == [[0, 1, 2]] * 2
    assert orders[0] != orders[1]


def test_aioli_shifts_what_hurts_to_zero():
    algorithm = Aioli(HALF, 60, rounds=2)
    algorithm.drops = algorithm.mixes @ np.array([[0.5, -0.1], [0.2, 0.4]]).T
    algorithm._learn()
    shifted = np.array([[0.6, 0.0], [0.3, 0.5]])
    assert algorithm.matrix == pytest.approx(shifted / shifted.sum())


# All


@pytest.mark.parametrize("name", STEERING)
def test_every_algorithm_takes_up_its_state(name):
    """Told the same, an algorithm and a copy made from its state in the middle say the same."""
    rng = np.random.default_rng(0)
    mix, settings = np.full(3, 1 / 3), {"graph": np.eye(3).tolist()} if name == "skill_it" else {}

    def tell(algorithm, told):
        if isinstance(algorithm, MovingMix):
            tokens, losses, held_out = told
            return algorithm.next_mix(seen(losses, held_out, tokens))
        values = (told[1],) if algorithm.measures == "excess" else (told[1], told[2], 0.7)
        algorithm.update(*values)
        return algorithm.answer

    told = np.sort(rng.uniform(1, 4, (12, 3, 3)), axis=0)[::-1].copy()
    told[:, 0] = 1000 * np.arange(1, 13)[:, None]  # tokens grow, losses fall
    one = make_steering(name, settings, mix, 100)
    said = [tell(one, part) for part in told[:6]]
    other = make_steering(name, settings, mix, 100)
    other.resume(one.state())
    for part in told[6:]:
        mine, copied = tell(one, part), tell(other, part)
        assert np.array_equal(mine, copied)
        assert mine.sum() == pytest.approx(1)
        assert (mine >= 0).all()
        said.append(mine)
    assert len(np.unique(np.round(said, 9), axis=0)) > 2


@pytest.mark.parametrize("name", [n for n in STEERING if issubclass(algorithm(n), MovingMix)])
@pytest.mark.parametrize("steps", [40, 41, 120, 1000])
def test_stretches_follow_one_another_to_the_end(name, steps):
    settings = {"graph": np.eye(3).tolist()} if name == "skill_it" else {}
    ends = make_steering(name, settings, np.full(3, 1 / 3), steps).ends
    assert ends[-1] == steps
    assert (np.diff([0, *ends]) > 0).all()


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("magic", {}, "no algorithm 'magic'; expected one of admire, ado"),
        ("climb", {}, "algorithm 'climb' moves nothing while a model trains"),
        ("odm", {"arms": 3}, "algorithm 'odm': .*unexpected keyword argument 'arms'"),
        ("skill_it", {"graph": [[1.0]]}, r"a graph of \(1, 1\) for 2 domains"),
        ("aioli", {"rounds": 20}, "40 steps for 20 rounds over 2 domains; expected at least 61"),
        ("odm", {"updates": 0}, "a run in 0 stretches"),
    ],
)
def test_what_makes_no_sense_is_refused(name, settings, message):
    with pytest.raises(OlmixError, match=message):
        _ = make_steering(name, settings, HALF, 40).ends
