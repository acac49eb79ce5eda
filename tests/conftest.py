"""Worlds whose laws are known, a second opinion on optimality, and the published swarm."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.proposers.proposal import Request
from olmix.regressors import regressor_from_dict
from olmix.regressors.base import Regressor
from olmix.regressors.surrogate import Surrogate
from olmix.tables import SwarmTable, read_swarm
from olmix.tasks import fold_mmlu, outside_suite

REPOSITORY = Path(__file__).parents[1]
# What takes longest comes first where there are several processes, so that all end together; of the
# two files with a SLURM of their own one process takes one after the other.
LONGEST = ("workflow/test_smoke.py", "slurm/test_profile.py", "slurm/test_nodes.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to find what is not ours to keep here."""
    parser.addoption(
        "--published",
        type=Path,
        default=os.environ.get("OLMIX_PUBLISHED"),
        metavar="DIR",
        help="folder of the swarms the Olmix authors released (default: $OLMIX_PUBLISHED, or none)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With several processes: the longest files, then other slow ones, then the rest."""
    if not hasattr(config, "workerinput"):
        return
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def place(item: pytest.Item) -> tuple[int, bool]:
        name = "/".join(item.path.parts[-2:])
        return LONGEST.index(name) if name in LONGEST else len(LONGEST), item.path not in slow

    items.sort(key=place)


def _regressor(family: str, **learned: np.ndarray) -> Regressor:
    """A fitted regressor with the parameters given, as if a fit had found them."""
    tasks, domains = max((np.shape(value) for value in learned.values()), key=len)
    learned = {"loss_": np.zeros(tasks), "converged_": np.ones(tasks)} | learned
    record = {name: np.asarray(value).tolist() for name, value in learned.items()}
    return regressor_from_dict(
        {"family": family, "settings": {}, "domains": domains, "learned": record}
    )


def _surrogate(regressor: Regressor, names: tuple[str, ...], outputs: int) -> Surrogate:
    tasks = tuple(f"task{i}" for i in range(outputs))
    return Surrogate(tuple(names), tasks, np.full(outputs, 1 / outputs), "task", regressor)


@dataclass(frozen=True)
class LogLinearWorld:
    """Tasks that obey f_i(p) = c_i + exp(A_iᵀp) exactly, over domains of known sizes."""

    domains: DomainSet
    coef: np.ndarray  # A, (tasks, domains)
    constant: np.ndarray  # c, (tasks,)

    @property
    def surrogate(self) -> Surrogate:
        """The law itself as a fitted model."""
        model = _regressor("log_linear", coef_=self.coef, constant_=self.constant)
        return _surrogate(model, self.domains.names, len(self.coef))

    def bpb(self, mixes: np.ndarray) -> np.ndarray:
        """The law, written out again: (mixes, tasks)."""
        return np.array([[c + np.exp(a @ p) for a, c in self._laws()] for p in mixes])

    def _laws(self):
        return list(zip(self.coef, self.constant, strict=True))

    def swarm(
        self, runs: int, *, seed: int, noise: float = 0.0, concentration: float = 1.0
    ) -> SwarmTable:
        """Dirichlet mixes over the domains and their BPB, with Gaussian noise."""
        rng = np.random.default_rng(seed)
        mixes = rng.dirichlet(np.full(len(self.domains), concentration), size=runs)
        metrics = self.bpb(mixes)
        metrics = metrics + noise * rng.standard_normal(metrics.shape)
        return SwarmTable(
            runs=tuple(f"run{k}" for k in range(runs)),
            domains=self.domains.names,
            mixes=mixes,
            tasks=tuple(f"task{i}" for i in range(len(self.coef))),
            metrics=metrics,
        )

    def restricted(self, names: tuple[str, ...]) -> "LogLinearWorld":
        """The same tasks where only some of the domains exist."""
        columns = [self.domains.names.index(name) for name in names]
        return LogLinearWorld(self.domains.subset(names), self.coef[:, columns], self.constant)

    def collapsed(self, expansion: np.ndarray, names: tuple[str, ...]) -> Surrogate:
        """The law over collapsed domains: f(r·E) has coefficients A·Eᵀ."""
        model = _regressor("log_linear", coef_=self.coef @ expansion.T, constant_=self.constant)
        return _surrogate(model, names, len(self.coef))


@pytest.fixture
def make_world() -> Callable[..., LogLinearWorld]:
    """A random log-linear world: ``make_world(domains, tasks, seed=..., spread=...)``."""

    def make(domains: int, tasks: int, *, seed: int, spread: float = 1.0) -> LogLinearWorld:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(10**9, 10**11, size=domains)
        names = {f"d{j}": int(size) for j, size in enumerate(sizes)}
        return LogLinearWorld(
            DomainSet.from_token_counts(names),
            rng.normal(0.0, spread, (tasks, domains)),
            rng.uniform(0.3, 1.5, tasks),
        )

    return make


@pytest.fixture
def world_of() -> type[LogLinearWorld]:
    """The world's class, for worlds with chosen coefficients."""
    return LogLinearWorld


@pytest.fixture
def fitted() -> Callable[..., Surrogate]:
    """A surrogate with chosen parameters: ``fitted("bimix", scale_=..., exponent_=...)``."""

    def build(family: str, *, names: tuple[str, ...] | None = None, **learned) -> Surrogate:
        model = _regressor(family, **learned)
        names = names or tuple(f"d{j}" for j in range(model.n_domains_))
        return _surrogate(model, names, len(model.predict(np.eye(model.n_domains_)[:1])[0]))

    return build


class SecondOpinion:
    """Optimality checked without CVXPY.

    For convex f̂ and any feasible p, f̂(s) ≥ f̂(p) + ∇f̂(p)ᵀ(s − p). The minimum of the right-hand
    side plus λ·KL(s‖p₀) over the capped simplex is therefore a lower bound of the optimum, and it
    has a closed form up to one multiplier. Where the bound is loose (λ = 0, flat optimum), SLSQP
    started from several points and from the answer itself says whether any of them is better.
    """

    def value(self, surrogate: Surrogate, request: Request, weights: np.ndarray) -> float:
        """f̂(p) + λ·KL(p‖p₀), written out again."""
        used = weights > 0
        ratio = weights[used] / request.prior.weights[used] if request.kl else np.ones(1)
        divergence = (weights[used] * np.log(ratio)).sum()
        return float(surrogate.average(weights[None])[0] + request.kl * divergence)

    def gradient(self, surrogate: Surrogate, weights: np.ndarray) -> np.ndarray:
        """∇f̂(p) by each law's own formula."""
        model, shares = surrogate.regressor, surrogate.weights
        if model.family == "log_linear":
            return (shares * np.exp(model.coef_ @ weights)) @ model.coef_
        if model.family == "diminishing":
            above = np.exp(
                model.intercept_ + model.linear_ @ weights
                - model.curved_ @ np.log1p(weights / model.shift_)
            )  # fmt: skip
            slopes = model.linear_ - model.curved_ / (weights + model.shift_)
            return (shares * above) @ slopes
        if model.family == "bimix":
            scale, base = model.scale_, weights + model.floor
        else:
            scale, base = model.tokens**-model.exponent_, weights + model.share_
        slopes = scale * model.exponent_ * base ** (-model.exponent_ - 1)
        return -(shares[:, None] * slopes).sum(0)

    def certified_gap(self, surrogate: Surrogate, request: Request, weights: np.ndarray) -> float:
        """An upper bound of value(p) − optimum."""
        gradient = self.gradient(surrogate, weights)
        linear = surrogate.average(weights[None])[0] - gradient @ weights
        bound = linear + self._least(gradient, request)
        return self.value(surrogate, request, weights) - bound

    def _least(self, gradient: np.ndarray, request: Request) -> float:
        """min over the capped simplex of gᵀs + λ·KL(s‖p₀)."""
        caps, prior, kl = np.minimum(request.caps, 1.0), request.prior.weights, request.kl
        if kl == 0:
            filled, left = np.zeros_like(caps), 1.0
            for j in np.argsort(gradient):
                filled[j] = min(caps[j], left)
                left -= filled[j]
            return float(gradient @ filled)

        def minimiser(multiplier: float) -> np.ndarray:
            exponent = np.minimum((multiplier - gradient) / kl, 700.0)
            return np.minimum(caps, prior * np.exp(exponent))

        low, high = gradient.min() - 1.0, gradient.max() + 1.0
        while minimiser(low).sum() > 1:
            low -= 1 + 10 * kl
        while minimiser(high).sum() < 1 and high < gradient.max() + 1e3 * (1 + kl):
            high += 1 + 10 * kl
        multiplier = high  # caps that sum to one leave nothing to choose
        if minimiser(high).sum() > 1:
            multiplier = brentq(
                lambda nu: minimiser(nu).sum() - 1, low, high, xtol=1e-14, maxiter=2000
            )
        s = minimiser(multiplier)
        used = s > 0
        divergence = (s[used] * np.log(s[used] / prior[used])).sum()
        # The dual value: a lower bound for any multiplier, so its rounding cannot flatter.
        return float(multiplier + (gradient - multiplier) @ s + kl * divergence)

    def best_of_slsqp(self, surrogate: Surrogate, request: Request, starts: list) -> float:
        """The lowest value SLSQP finds, with every end point moved back onto the simplex."""
        caps = np.minimum(request.caps, 1.0)

        def value(weights: np.ndarray) -> float:
            return self.value(surrogate, request, np.clip(weights, 1e-300, None))

        def slope(weights: np.ndarray) -> np.ndarray:
            weights = np.clip(weights, 1e-300, None)
            pull = np.log(weights / request.prior.weights) + 1 if request.kl else 0.0
            return self.gradient(surrogate, weights) + request.kl * pull

        one = {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like}
        lowest = np.inf
        for start in starts:
            found = minimize(
                value, start, jac=slope, method="SLSQP", constraints=[one],
                bounds=[(0.0, cap) for cap in caps], options={"maxiter": 500, "ftol": 1e-14},
            ).x  # fmt: skip
            found = np.clip(found, 0.0, caps)
            if abs(found.sum() - 1) < 1e-6:
                # SLSQP meets the sum to about 1e-10: put the rest where there is most room.
                rest = 1 - found.sum()
                room = int(np.argmax(caps - found if rest > 0 else found))
                found[room] += rest
                if (found >= 0).all() and (found <= caps + 1e-12).all():
                    lowest = min(lowest, self.value(surrogate, request, found))
        return lowest


@pytest.fixture
def second_opinion() -> SecondOpinion:
    return SecondOpinion()


@pytest.fixture
def make_request() -> Callable[..., Request]:
    """A request over d0, d1, ... with a random prior; ``slack`` is the sum of the caps."""

    def make(
        domains: int, *, kl: float, seed: int, slack: float | None = None, names=None
    ) -> Request:
        rng = np.random.default_rng(seed)
        prior = rng.dirichlet(np.ones(domains)) * 0.9 + 0.1 / domains
        names = names or tuple(f"d{j}" for j in range(domains))
        tokens = rng.dirichlet(np.ones(domains)) + 1e-4
        if slack is None:
            return Request(Mix(names, prior), kl, tokens * 1e12)
        # k·ΣN/R = slack.
        return Request(Mix(names, prior), kl, tokens * 1e12, slack / tokens.sum(), 1e12)

    return make


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium without a screen and without a network; waits ten seconds for what it looks for."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "window-size=1400,900",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    browser = webdriver.Chrome(options=options, service=service)
    browser.implicitly_wait(10)
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def released(pytestconfig: pytest.Config) -> Path:
    """The folder of the swarms the Olmix authors released; tests skip where it is absent."""
    folder = pytestconfig.getoption("published")
    if folder is None:
        pytest.skip("no released swarms: give their folder by --published or OLMIX_PUBLISHED")
    if not (Path(folder) / "dclm_swarm").is_dir():
        pytest.skip(f"no released swarms: no folder dclm_swarm in {folder}")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def published(released: Path) -> Path:
    """The folder of the released swarm over DCLM's topics."""
    return released / "dclm_swarm"


@pytest.fixture(scope="session")
def mmlu_subjects() -> Path:
    return REPOSITORY / "config" / "tasks" / "mmlu_subjects.csv"


@pytest.fixture(scope="session")
def published_swarm(published, mmlu_subjects) -> SwarmTable:
    """Its 127 runs over 24 topics, on the paper's 52 tasks."""
    swarm = read_swarm(published / "ratios.csv", published / "metrics.csv")
    return fold_mmlu(swarm.drop_tasks(outside_suite(swarm.tasks)), mmlu_subjects)
