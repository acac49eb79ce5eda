"""The explorer in a browser, used as a person would, against the library's exact solver."""

import json
import time
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest

from olmix.mix import Mix
from olmix.presentation.explorer.content import Exploration
from olmix.presentation.explorer.page import write_explorer
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request, read_mix
from olmix.proposers.uncertainty import Refits, refitted
from olmix.regressors import regressor_from_dict
from olmix.regressors.surrogate import Surrogate, fit_surrogate

pytestmark = pytest.mark.slow

WEIGHTS, OBJECTIVE = 1e-3, 1e-5
DESKTOP, PHONE = (1400, 900), (360, 740)


class Page:
    """An open explorer: what it shows, and what a person does with it."""

    def __init__(self, browser, path):
        self.browser, self.path = browser, path
        self.downloads = path.parent / "downloads"

    def open(self, size=DESKTOP, **state):
        """Open it afresh, at a link that holds a state."""
        width, height = size
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior",
            {"behavior": "allow", "downloadPath": str(self.downloads)},
        )
        self.browser.get("about:blank")
        words = urlencode(state, doseq=True)
        self.browser.get(self.path.as_uri() + (f"#{words}" if words else ""))
        return self

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def run(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def settle(self):
        """Wait until order, link and intervals have followed."""
        time.sleep(0.1)
        done = "return document.querySelectorAll('#domains .bars .interval:not([hidden])').length"
        self.until(lambda: self.run(done) > 0)
        return self

    def until(self, holds, seconds=10):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "the page did not follow"
            time.sleep(0.05)

    def take(self):
        """Download mix.json and read it."""
        for old in self.downloads.glob("*"):
            old.unlink()
        self.find("#export").click()
        found = self.downloads / "mix.json"
        self.until(found.exists)
        return json.loads(found.read_text(encoding="utf-8"))

    def click(self, selector):
        """Scroll it to the middle, where nothing covers it, and click it."""
        found = self.find(selector)
        self.run("arguments[0].scrollIntoView({ block: 'center' })", found)
        found.click()

    def open_families(self):
        for place, _ in enumerate(self.all("#families h3")):
            self.click(f"#families > .gain-row:nth-of-type({2 * place + 1}) h3 button")

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

    def control(self, label):
        """The field of this label."""
        return self.find(f"#{self.find_label(label).get_attribute('for')}")

    def find_label(self, label):
        return self.browser.find_element("xpath", f'//label[normalize-space()="{label}"]')


@pytest.fixture
def opened(browser, tmp_path):
    """``opened(exploration)``: its page, ready to be opened at a state."""

    def write(exploration):
        write_explorer(tmp_path / "explore.html", exploration)
        return Page(browser, tmp_path / "explore.html")

    return write


def without_held(surrogate, request, held):
    """The same problem over the free domains alone, for a solver that knows of nothing held.

    With p = (1 − F)·q on them, A·p is linear in q, and KL(p‖p₀) is (1 − F)·KL(q‖p₀) and a constant.
    """
    names = [name for name in surrogate.domains if name not in held]
    free = [surrogate.domains.index(name) for name in names]
    total = 1 - sum(held.values())
    record = surrogate.regressor.to_dict()
    coef = np.array(record["learned"]["coef_"])
    fixed = sum(share * coef[:, surrogate.domains.index(name)] for name, share in held.items())
    record["learned"]["coef_"] = (total * coef[:, free] + np.c_[fixed]).tolist()
    record["domains"] = len(free)
    prior = request.prior.weights[free]
    return (
        replace(surrogate, domains=tuple(names), regressor=regressor_from_dict(record)),
        Request(
            Mix(tuple(names), prior / prior.sum()), total * request.kl, request.tokens[free],
            request.repetition, None if request.requested is None else total * request.requested,
        ),
    )  # fmt: skip


def exact_answer(base, shares=None, held=None, **request):
    """The library's answer to a changed request: weights and objective."""
    shares = base.surrogate.weights if shares is None else shares
    surrogate = replace(base.surrogate, weights=shares)
    asked = replace(base.request, **request)
    if not held:
        exact = propose_exact(surrogate, asked)
        return exact.mix.weights, exact.objective
    exact = propose_exact(*without_held(surrogate, asked, held))
    total = 1 - sum(held.values())
    weights = np.array([held[n] if n in held else total * exact.mix[n] for n in surrogate.domains])
    used = weights > 0
    divergence = (weights[used] * np.log(weights[used] / asked.prior.weights[used])).sum()
    return weights, surrogate.average(weights[None])[0] + asked.kl * divergence


def shares_of(base, family=(), task=()):
    """Task weights after some families and tasks were given other factors."""
    shares = base.surrogate.weights.copy()
    for name, factor in family:
        shares[[base.surrogate.outputs.index(t) for t in base.families[name]]] *= factor
    for name, factor in task:
        shares[base.surrogate.outputs.index(name)] *= factor
    return shares / shares.sum()


def assert_agrees(found, weights, objective):
    np.testing.assert_allclose(found["weights"], weights, atol=WEIGHTS)
    assert found["objective"] == pytest.approx(objective, abs=OBJECTIVE)


def test_agrees_with_the_exact_solver_at_every_setting(opened, exploration):
    base = exploration(64, 52)
    page, total = opened(base), base.request.tokens.sum()
    held = {"d3": 0.2, "d10": 0.0, "d40": 0.01}
    settings = [
        ({}, {}),
        ({"k": 2}, {"repetition": 2.0}),
        ({"k": 1.5, "R": 1.4 * total}, {"repetition": 1.5, "requested": 1.4 * total}),
        ({"R": total / 50, "kl": 0}, {"requested": total / 50, "kl": 0.0}),
        ({"kl": 0.001}, {"kl": 0.001}),
        ({"kl": 1}, {"kl": 1.0}),
        ({"capped": "no", "kl": 0}, {"repetition": np.inf, "kl": 0.0}),
        ({"family": "math~0"}, {"shares": shares_of(base, family=[("math", 0)])}),
        (
            {"family": ["code~3", "qa~0.5"], "task": ["task0~4", "task51~0"]},
            {"shares": shares_of(
                base, [("code", 3), ("qa", 0.5)], [("task0", 4), ("task51", 0)]
            )},
        ),
        ({"capped": "no", "hold": [f"{n}~{s}" for n, s in held.items()]},
         {"repetition": np.inf, "held": held}),
        ({"k": 8, "hold": "d5~0.03"}, {"repetition": 8.0, "held": {"d5": 0.03}}),
    ]  # fmt: skip
    for state, request in settings:
        found = page.open(**state).take()
        assert_agrees(found, *exact_answer(base, **request))


def test_agrees_for_curved_laws_and_says_what_each_law_predicts(
    opened, exploration, general_law, with_terms
):
    base = exploration(12, 8)
    plain, curved = general_law
    model = with_terms(general_law, base.surrogate.domains)
    families = {"all": list(model.outputs)}
    base = replace(base, surrogate=model, replicates=(), families=families)
    page = opened(base).open()
    found = page.take()
    mixes = np.array([base.natural.weights, found["weights"]])
    before, after = sum(t.weight * t.predict(mixes) for t in general_law).mean(1)
    assert found["average"] == pytest.approx(after, abs=1e-9)
    gains = [(before - after) / before]
    for term in (plain, curved):
        before, after = term.predict(mixes).mean(1)
        gains.append((before - after) / before)
    shown = [row.text.splitlines() for row in page.all("#laws .law")]
    assert [row[0] for row in shown] == ["all together", "log-linear", "diminishing returns"]
    assert [row[-1] for row in shown] == [
        f"{100 * gain:+.1f} %".replace("-", "−") for gain in gains
    ]
    assert "no interval" in page.text("#gain-interval")


def test_an_interval_of_several_laws_spans_those_of_each(
    opened, exploration, general_law, with_terms
):
    base = exploration(12, 8)
    refits = [
        tuple(replace(term, linear=factor * term.linear) for term in general_law)
        for factor in (0.9, 1.0, 1.1)
    ]
    model, *replicates = (
        with_terms(terms, base.surrogate.domains) for terms in (general_law, *refits)
    )
    families = {"all": list(model.outputs)}
    base = replace(base, surrogate=model, replicates=replicates, families=families)
    page = opened(base).open().settle()
    found = page.take()
    mixes = np.array([base.natural.weights, found["weights"]])
    gains = []
    for terms in refits:
        together = sum(term.weight * term.predict(mixes) for term in terms)
        averages = [values.mean(1) for values in (together, *(t.predict(mixes) for t in terms))]
        gains.append([1 - after / before for before, after in averages])
    low, high = np.quantile(gains, [0.05, 0.95], axis=0)
    assert low.argmin() != 0
    assert high.argmax() != 0
    expected = (low.min(), high.max())
    assert found["made_from"]["bootstrap"]["gain"] == pytest.approx(expected, abs=1e-5)
    assert "of 3 refits on resampled runs, over the laws" in page.text("#gain-interval")


def test_agrees_for_an_ensemble_that_was_fitted(opened, make_world):
    world = make_world(8, 5, seed=2)
    swarm = world.swarm(60, seed=0, noise=0.01)
    model, known = fit_surrogate(swarm, family="ensemble"), world.domains
    request = Request.for_domains(
        known, kl=0.05, repetition=4.0, requested=float(known.tokens.sum())
    )
    models = list(refitted(swarm, model, replicates=3))
    base = Exploration(model, request, known.natural(), known, replicates=models)
    page = opened(base)
    for state, changed in (({}, {}), ({"kl": 0, "k": 2}, {"kl": 0.0, "repetition": 2.0})):
        found = page.open(**state).settle().take()
        assert_agrees(found, *exact_answer(base, **changed))
        # The interval that `fit` prints: it spans those of the single laws.
        mix = Mix(base.surrogate.domains, np.array(found["weights"]))
        expected = Refits.of(models, mix, base.natural, base.level)
        low, high = expected.gain_interval()
        assert found["made_from"]["bootstrap"]["gain"] == pytest.approx((low, high), abs=1e-5)


def test_the_download_is_a_mix_like_the_librarys(opened, exploration, tmp_path):
    base = exploration(10, 6, made_from={"runs": 40})
    found = opened(base).open(hold="d1~0.05").settle().take()
    library = propose_exact(base.surrogate, base.request).to_dict()
    assert list(found) == list(library)
    assert set(found["solver"]) >= set(library["solver"])
    mix = read_mix(tmp_path / "downloads" / "mix.json")
    assert mix.names == base.surrogate.domains
    assert found["predicted"] == pytest.approx(base.surrogate.predict_mix(mix))
    assert found["average"] == pytest.approx(np.mean(list(found["predicted"].values())))
    caps = dict(zip(mix.names, base.request.caps.tolist(), strict=True))
    assert found["caps"] == pytest.approx(caps)
    assert found["active_caps"] == [n for n in mix.names if mix[n] >= caps[n] * (1 - 1e-6)]
    seen = mix.weights * base.request.requested / base.request.tokens
    assert list(found["repetition"].values()) == pytest.approx(seen.tolist())
    assert found["solver"]["held"] == {"d1": 0.05}
    assert found["made_from"]["runs"] == 40


def test_intervals_are_those_of_the_replicates(opened, exploration):
    base = exploration(10, 6, replicates=7, level=0.8)
    page = opened(base).open(kl=0.02).settle()
    found = page.take()
    mixes, gains, weights = np.array([base.natural.weights, found["weights"]]), [], []
    for model in base.replicates:
        before, after = model.average(mixes)
        gains.append((before - after) / before)
        weights.append(propose_exact(model, replace(base.request, kl=0.02)).mix.weights)
    spread = found["made_from"]["bootstrap"]
    assert (spread["replicates"], spread["level"], spread["baseline"]) == (7, 0.8, "natural")
    assert spread["gain"] == pytest.approx(np.quantile(gains, [0.1, 0.9]), abs=1e-5)
    low, high = np.quantile(weights, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(list(spread["weights"].values()), np.c_[low, high], atol=WEIGHTS)
    low, high = (f"{100 * end:+.1f} %" for end in np.quantile(gains, [0.1, 0.9]))
    assert f"{low} to {high} in 80 % of 7 refits" in page.text("#gain-interval").replace("−", "-")


def test_what_is_shown_is_what_is_downloaded(opened, exploration):
    base = exploration(10, 6)
    page = opened(base).open(k=2).settle()
    found = page.take()
    natural = float(base.surrogate.average(base.natural.weights[None])[0])
    gain = 100 * (natural - found["average"]) / natural
    assert page.text("#gain") == f"{gain:+.1f} %".replace("-", "−")
    assert f"{found['average']:.4f}, natural {natural:.4f}" in page.text("#gain-bpb")
    rows = [row.text for row in page.all("#domains tbody tr")]
    ranked = sorted(zip(found["domains"], found["weights"], strict=True), key=lambda x: -x[1])
    for row, (name, weight) in zip(rows, ranked, strict=True):
        digits = 1 if 100 * weight >= 9.95 else 2
        assert row.startswith(f"{name}\n") or row.startswith(f"{name} ")
        assert f"{100 * weight:.{digits}f} %" in row
        assert ("at cap" in row) == (name in found["active_caps"])
        assert f"{found['repetition'][name]:.2f}×" in row
    tasks = page.all("#families .members .name")
    assert len(tasks) == 6
    assert not any(task.is_displayed() for task in tasks)
    page.open_families()
    assert all(task.is_displayed() for task in tasks)
    shown = [row.text for row in page.all("#families .members .numbers")]
    before, after = base.surrogate.predict(np.array([base.natural.weights, found["weights"]]))
    order = [t for tasks in base.families.values() for t in tasks]
    places = [base.surrogate.outputs.index(task) for task in order]
    assert shown == [f"{before[i]:.3f} → {after[i]:.3f}" for i in places]


def test_sources_and_domains_are_in_the_order_that_was_chosen(opened, exploration):
    names = [f"{source}:{number}" for source in "abc" for number in range(3)]
    base = exploration(9, 6, names=names)
    page = opened(base).open().settle()
    weights = dict(zip(names, page.take()["weights"], strict=True))
    shares = {source: sum(weights[f"{source}:{n}"] for n in range(3)) for source in "abc"}

    def shown(table):
        return [row.text.split()[0] for row in page.all(f"#{table} tbody tr")]

    assert shown("sources") == sorted(shares, key=lambda source: -shares[source])
    assert shown("domains") == sorted(names, key=lambda name: -weights[name])
    page.find("#order option[value=source]").click()
    page.settle()
    assert shown("sources") == list("abc")
    assert shown("domains") == names


def test_the_keyboard_moves_everything(opened, exploration):
    from selenium.webdriver.common.keys import Keys

    base = exploration(10, 6)
    page = opened(base).open()
    page.find("#capped").click()
    page.press(Keys.SPACE)
    page.until(page.control("Repetition factor k").is_displayed)
    focused = (
        "return document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"
    )
    page.press(Keys.TAB)
    assert page.run(focused) == page.control("Repetition factor k").get_attribute("id")
    page.press(Keys.TAB)
    assert page.run(focused) == "Repetition factor k, slider"
    page.press(*[Keys.ARROW_LEFT] * 4)  # half an octave
    page.until(lambda: page.control("Repetition factor k").get_property("value") == "2.8")
    assert_agrees(page.take(), *exact_answer(base, repetition=2.8))
    field = page.control("KL weight λ")
    field.click()
    page.press(Keys.ARROW_UP)
    page.until(lambda: field.get_property("value") == "0.063")
    page.press(Keys.BACKSPACE, Keys.BACKSPACE, "2", Keys.TAB)
    page.until(lambda: field.get_property("value") == "0.02")
    assert_agrees(page.take(), *exact_answer(base, repetition=2.8, kl=0.02))
    page.find("input[aria-label='hold d4']").send_keys(Keys.SPACE)
    weight = page.find("input[aria-label='weight of d4 in percent']")
    weight.send_keys(Keys.CONTROL + "a")
    share = round(0.7 * float(base.request.caps[4]) / 2, 3)
    weight.send_keys(f"{100 * share:.1f}")
    assert_agrees(page.take(), *exact_answer(base, repetition=2.8, kl=0.02, held={"d4": share}))


def test_everything_that_can_be_moved_has_a_name_and_shows_its_focus(opened, exploration):
    page = opened(exploration(20, 6)).open()
    page.click("#more")
    page.open_families()
    controls = [c for c in page.all("input, select, button") if c.is_displayed()]
    names = [control.accessible_name for control in controls]
    assert len(controls) > 40
    assert all(names)
    assert len(set(names)) == len(names)
    from selenium.webdriver.common.keys import Keys

    page.press(Keys.TAB, Keys.TAB, Keys.TAB)
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert page.run(outline) == "solid"


def test_a_link_reproduces_the_state_and_reset_forgets_it(opened, exploration):
    from selenium.webdriver.common.keys import Keys

    base = exploration(10, 6, names=[f"web:topic {j}" for j in range(10)])
    page = opened(base).open()
    start = page.take()
    page.control("Target tokens R").click()
    page.press(Keys.ARROW_UP, Keys.ARROW_UP)
    page.find("input[aria-label='hold web:topic 4']").click()
    page.run("document.querySelector('#families h3 button').click()")
    page.find("input[aria-label='weight of task0, slider']").send_keys(Keys.ARROW_RIGHT)
    page.until(lambda: "task=" in page.run("return location.hash"))
    moved, link = page.take(), page.browser.current_url
    assert np.abs(np.array(moved["weights"]) - start["weights"]).max() > 1e-3
    page.browser.get("about:blank")
    page.browser.get(link)
    assert page.take() == moved
    page.find("#reset").click()
    page.until(lambda: page.run("return location.hash") == "")
    assert page.take()["weights"] == start["weights"]


def test_a_link_of_another_model_changes_nothing(opened, exploration):
    page = opened(exploration(5, 4))
    start = page.open().take()
    odd = page.open(k="-1", kl="x", R="0", hold=["nobody~0.5", "d1~"], family="~2", task="~")
    assert odd.take() == start


@pytest.mark.parametrize("size", [PHONE, (320, 600), (768, 1024), DESKTOP])
def test_no_width_scrolls_sideways(opened, exploration, size):
    names = [f"a_source_with_a_long_name:and_a_topic_that_is_longer_still_{j}" for j in range(18)]
    page = opened(exploration(18, 8, names=names)).open(size, hold=f"{names[0]}~0.1").settle()
    page.click("#more")
    page.open_families()
    page.click("#method summary")
    outside = page.run(
        "return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility()"
        " && getComputedStyle(e).clipPath === 'none' && !e.closest('thead')"
        " && e.getBoundingClientRect().right > arguments[0] + 1)"
        ".map((e) => e.outerHTML.slice(0, 80))",
        size[0],
    )
    assert outside == []
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    small = page.run(
        "return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility()"
        " && parseFloat(getComputedStyle(e).fontSize) < 12).length"
    )
    assert small == 0


def test_on_a_phone_the_gain_stays_in_sight(opened, exploration):
    page = opened(exploration(18, 8)).open(PHONE).settle()
    page.run("document.querySelector('#tasks').scrollIntoView()")
    bar = page.find("#gain-small")
    assert page.text("#gain") in bar.text
    box = page.run("const r = arguments[0].getBoundingClientRect(); return [r.top, r.bottom]", bar)
    assert 0 <= box[0] < box[1] <= PHONE[1]


def test_an_impossible_request_says_so_and_what_to_do(opened, exploration):
    from selenium.webdriver.common.keys import Keys

    base = exploration(5, 4)
    page = opened(base).open(R=10 * base.request.tokens.sum())
    problem = page.find("#problem")
    assert "caps k·N/R sum to 40.0 %" in problem.text
    assert "Request at most" in problem.text
    assert not page.find("#export").is_enabled()
    most = problem.text.split("at most ")[1].split(" tokens")[0]
    field = page.control("Target tokens R")
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys(most)
    page.until(lambda: not page.find("#problem").is_displayed())
    found = page.take()
    assert sum(found["weights"]) == pytest.approx(1)
    assert len(found["active_caps"]) >= 4


def test_weights_of_nothing_but_zero_are_refused(opened, exploration):
    page = opened(exploration(5, 4)).open(family=["math~0", "code~0", "qa~0"])
    assert "every task has weight 0" in page.text("#problem")


def test_without_token_counts_there_is_nothing_to_cap(opened, exploration):
    base = exploration(5, 4)
    request = Request(base.request.prior, 0.1, base.request.prior.weights)
    page = opened(replace(base, request=request, domains=None)).open()
    assert page.run("return document.getElementById('capped')") is None
    found = page.take()
    assert set(found["caps"].values()) == {None}
    assert found["repetition"] is None
    assert_agrees(found, *exact_answer(replace(base, request=request)))


def test_nothing_is_fetched_and_nothing_fails(opened, exploration):
    hostile = ["</script><script>document.title='owned'</script>", "<b>bold</b>", "a&amp;b", "é~#"]
    page = opened(exploration(4, 4, names=hostile, title="Mixes & <more>"))
    page.browser.get_log("browser")
    page.open(hold=f"{hostile[3]}~0.1").settle()
    assert page.browser.title == page.text("h1") == "Mixes & <more>"
    shown = {row.text for row in page.all("#domains tbody th")}
    assert shown == set(hostile)
    assert page.take()["solver"]["held"] == {hostile[3]: 0.1}
    entries = "return performance.getEntriesByType('resource').map((e) => e.name)"
    assert [name for name in page.run(entries) if not name.startswith("blob:")] == []
    assert [entry for entry in page.browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_models_of_families_and_of_the_average_have_pages_too(opened, exploration):
    base = exploration(5, 1)
    average = Surrogate(
        base.surrogate.domains, ("average",), np.ones(1), "aggregated", base.surrogate.regressor
    )
    page = opened(replace(base, surrogate=average, families={"qa": ["arc"]})).open()
    assert list(page.take()["predicted"]) == ["average"]
