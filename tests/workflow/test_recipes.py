"""CONTRIBUTING's recipes carried out: the files each names make a toy one, and no others.

In a copy of the repository a toy strategy, question, figure, ... is added with exactly the files
that its recipe names, is planned and drawn, and is removed again, which leaves the copy as it was.
Snakemake runs where that is cheap; elsewhere the toy is drawn by the library's own functions, in a
process that imports the copy.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

# What runs leave in a copy.
MADE = (".snakemake", "drawn", "figures", "results")
GUIDE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """A part of the guide, by its heading."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^##|\Z)", GUIDE, re.M | re.S)
    assert found, f"CONTRIBUTING.md has no part '{title}'"
    return found[2]


def named_files(title: str) -> list[str]:
    """The files that a part of the guide numbers."""
    return re.findall(r"^\d+\. `([^`]+)`", section(title), re.M)


def recipe(title: str, **names: str) -> set[str]:
    """The files of a recipe, with its placeholders filled in."""
    files = named_files(title)
    for placeholder, name in names.items():
        files = [file.replace(f"<{placeholder}>", name) for file in files]
    assert files, f"the recipe '{title}' names no file"
    assert not [file for file in files if "<" in file]
    return set(files)


def contents(folder: Path) -> dict[str, str]:
    """Every file of a copy that is the repository's, with a hash of what it holds."""
    inside = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {
        str(path): sha256((folder / path).read_bytes()).hexdigest()
        for path in inside
        if path.parts[0] not in MADE and "__pycache__" not in path.parts
    }


@contextmanager
def carried_out(clone: Any, named: set[str], changes: Mapping[str, str | Callable]) -> Iterator:
    """Change a copy by some files, which the recipe must name; undo it at the end.

    A change is a new file's text, or a function of an old one's. A folder that is named stands for
    everything inside.
    """
    folders = tuple(name for name in named if name.endswith("/"))
    touched = {next((f for f in folders if path.startswith(f)), path) for path in changes}
    assert touched == named
    before, old = contents(clone.folder), {}
    for path, change in changes.items():
        file = clone.folder / path
        old[file] = file.read_text(encoding="utf-8") if file.exists() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(change(old[file]) if callable(change) else dedent(change), encoding="utf-8")
    changed = {path for path, found in contents(clone.folder).items() if before.get(path) != found}
    assert changed == set(changes), "every change is one"
    try:
        yield
    finally:
        for file, text in old.items():
            if text is None:
                file.unlink()
            else:
                file.write_text(text, encoding="utf-8")
    assert contents(clone.folder) == before


def replacing(old: str, new: str) -> Callable[[str], str]:
    """An edit of one place in a file."""

    def edit(text: str) -> str:
        assert text.count(old) == 1, f"expected once: {old}"
        return text.replace(old, new)

    return edit


def run(clone: Any, program: str) -> None:
    """Run a program on the library of a copy."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        cwd=clone.folder,
        env=os.environ | {"PYTHONPATH": str(clone.folder / "scripts"), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


PLAN = """
from pathlib import Path
import numpy as np
import pandas as pd
from olmix.questions.catalogue import load_questions, plan_study
from olmix.study.scale import load_scale

plan = plan_study(load_scale("config/scales", "smoke"), ".")
here = Path("drawn")
here.mkdir(exist_ok=True)


def legend(figure):
    found = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    for axis in figure.axes:
        found += axis.get_legend_handles_labels()[1]
    return found
"""


def test_a_strategy_is_a_class_and_its_entry(clone):
    package = "scripts/olmix/updates/strategies"
    changes = {
        f"{package}/toy.py": '''
            """Toy: full mixture reuse under another name."""

            from olmix.updates.strategies.mixture_reuse import FullMixtureReuse


            class Toy(FullMixtureReuse):
                """As full mixture reuse."""

                name = "toy"
                label = "toy strategy"
                short = "toy"
                colour = "#999999"
                marker = "P"
            ''',
        f"{package}/__init__.py": lambda text: replacing(
            "(*PAPER, AUTO_PARTIAL_REUSE)", "(*PAPER, AUTO_PARTIAL_REUSE, Toy())"
        )(text.replace("\n\n__all__", "\nfrom olmix.updates.strategies.toy import Toy\n\n__all__")),
    }
    program = PLAN + dedent(
        """
        from dataclasses import replace
        from olmix.presentation.style import style
        from olmix.questions.updates.answer import by_strategy, improvements
        from olmix.questions.updates.figures import main_results
        from olmix.simulation.law import random_law
        from olmix.study.chain import Chain
        from olmix.study.jobs import Jobs
        from olmix.study.proposals import olmix_base
        from olmix.study.update_chain import StageWork

        updates, jobs = plan.updates, Jobs(plan)
        toys = [chain for chain in updates.groups["main"].chains if chain.strategy == "toy"]
        assert len(toys) == plan.scale["seeds"]
        assert {chain.name for chain in toys} <= set(plan.swarms["main-target"].proposals)

        # Followed through the first update on a law that is known.
        chain, stage = toys[0], updates.updates[0]
        catalogue = updates.sequence.stages()
        tables = {}
        for number, name in enumerate(("initial", stage)):
            domains = catalogue[number].domains
            law = random_law(domains, ["one", "two"], seed=1, noise=0.0)
            work = StageWork(
                updates.sequence, name, here, olmix_base(), jobs.request_of("olmix_base"),
                plan.scale["swarm"]["updates"],
            )
            if name == "initial":
                runs = updates.pool_size(name)
                mixes = np.random.default_rng(0).dirichlet(np.ones(len(domains)), runs)
                names = [f"pool-{i}" for i in range(runs)]
                tables[name, "pool"] = law.run_swarm(mixes, names, 0)
            else:
                runs = updates.runs(chain, name)
                mixes = work.of(chain).sample(runs, seed=1)
                names = [chain.run_name(name, 1, i) for i in range(runs)]
                tables[name, "own"] = law.run_swarm(mixes, names, 0)
            proposal = replace(work, tables=tables).propose(chain)
            proposal.save(here / f"{chain.name}.json")
            assert proposal.mix.names == domains.names

        costs = updates.costs("main")
        bpb = {"natural": 1.0} | {Chain(**chain).name: 0.9 for chain, _ in costs}
        frame = improvements(bpb, costs)
        frame.to_csv(here / "main_results.csv", index=False)
        by_strategy(frame).to_csv(here / "main_results_by_strategy.csv", index=False)
        with style():
            assert "toy strategy" in legend(main_results(here))
        """
    )
    with carried_out(clone, recipe("A strategy", name="toy"), changes):
        run(clone, program)


QUESTION = {
    "__init__.py": '"""Toy: how far the BPB of a swarm\'s runs spread."""\n',
    "plan.py": '''
        """Toy: how far the BPB of the main swarm's runs spread."""

        from olmix.study.plan import Plan
        from olmix.study.question import Question
        from olmix.study.spec import Reads


        def plan(study: Plan) -> Reads:
            """The main swarm, which other questions share."""
            swarm = study.topics()
            return Reads(swarms=[swarm], planned={"swarm": swarm})


        QUESTION = Question(
            title="Toy How far do runs spread?",
            doing="Answering a toy question",
            place=99,
            plan=plan,
            tables=("spread",),
        )
        ''',
    "answer.py": '''
        """Toy: the spread of a swarm."""

        import pandas as pd

        from olmix.questions.answer import Answer, QuestionData


        def answer(data: QuestionData, result: Answer) -> None:
            """BPB of every run, and how far apart they are."""
            bpb = pd.Series(data.averages(data.planned["swarm"]))
            result.table("spread", bpb.rename_axis("run").reset_index(name="bpb"))
            result.finish({"range": float(bpb.max() - bpb.min())})
        ''',
    "figures.py": '''
        """Figure of the toy question."""

        from pathlib import Path

        import matplotlib.pyplot as plt
        import pandas as pd


        def toy_spread(answer: Path) -> plt.Figure:
            """BPB of every run of the main swarm."""
            figure, axis = plt.subplots(figsize=(3, 2), layout="constrained")
            axis.plot(pd.read_csv(answer / "spread.csv")["bpb"], "o")
            axis.set_xlabel("run")
            axis.set_ylabel("average BPB")
            return figure
        ''',
    "captions.py": '''
        """Captions of the toy question."""

        from pathlib import Path

        from olmix.files import read_json

        TABLES = {"spread": "BPB of every run."}


        def finding(answer: Path) -> str:
            """How far apart runs are."""
            return f"Runs are {read_json(answer / 'summary.json')['range']:.3f} BPB apart."
        ''',
}


@pytest.mark.slow
def test_a_question_is_a_folder(clone):
    folder = "scripts/olmix/questions/toy"
    changes = {f"{folder}/{name}": text for name, text in QUESTION.items()}
    with carried_out(clone, recipe("A question", name="toy"), changes):
        done = clone.snakemake("--cores", "1", "figures/toy_spread.pdf", "results/report/toy")
        assert done.returncode == 0, done.stdout + done.stderr
        table = pd.read_csv(clone.folder / "results" / "toy" / "spread.csv")
        assert len(table) == 14
        assert (clone.folder / "figures" / "toy_spread.pdf").stat().st_size > 5000
        caption = (clone.folder / "figures" / "toy_spread.rst").read_text()
        spread = table["bpb"].max() - table["bpb"].min()
        assert caption.strip() == (
            f"BPB of every run of the main swarm. Runs are {spread:.3f} BPB apart."
        )
        assert (clone.folder / "results" / "report" / "toy" / "spread.html").is_file()
    assert clone.snakemake("-n", "results/toy").returncode != 0


def test_a_figure_is_a_function(clone):
    path = "scripts/olmix/questions/rq6/figures.py"
    drawn = '''

        def toy_weights(answer: Path) -> plt.Figure:
            """Every proposed weight, sorted."""
            figure, axis = plt.subplots(figsize=(3, 2), layout="constrained")
            axis.plot(pd.read_csv(answer / "weights.csv")["weight"].sort_values(), label="toy")
            return figure
        '''
    program = PLAN + dedent(
        """
        from olmix.questions.rq6.figures import toy_weights

        assert load_questions()["rq6"].figures[-1] == "toy_weights"
        pd.DataFrame({"weight": [0.5, 0.2, 0.3]}).to_csv(here / "weights.csv")
        assert legend(toy_weights(here)) == ["toy"]
        """
    )
    changes = {path: lambda text: text + dedent(drawn)}
    with carried_out(clone, recipe("A figure", question="rq6"), changes):
        run(clone, program)
        assert clone.planned("figures/toy_weights.pdf")["draw_figure"] == 1


def test_a_family_is_a_class_and_its_entry(clone):
    entry = """        Family(
            "toy", "olmix.regressors.toy.Toy", label="toy family", colour="#777777", marker="<",
            solver="search",
        ),
"""
    changes = {
        "scripts/olmix/regressors/toy.py": '''
            """Toy: the mean of all runs, whatever the mix."""

            import numpy as np

            from olmix.regressors.base import Regressor


            class Toy(Regressor):
                """Every mix has the mean BPB."""

                family = "toy"
                learned = ("mean_",)

                def _fit(self, X, Y):
                    self.mean_ = Y.mean(0)

                def _predict(self, X):
                    return np.tile(self.mean_, (len(X), 1))
            ''',
        "scripts/olmix/regressors/__init__.py": replacing(
            '        Family(\n            "search"', f'{entry}        Family(\n            "search"'
        ),
    }
    program = PLAN + dedent(
        """
        from olmix.questions.rq4.answer import fit_curve
        from olmix.questions.rq4.figures import fit_by_domains
        from olmix.study.proposals import olmix_base
        from olmix.tables import SwarmTable

        names = {proposal.name: proposal for proposal in plan.studies["rq4"].proposals}
        assert {"topics-toy", "sources-toy"} <= set(names)
        assert names["topics-toy"].proposer == "search"
        mixes = np.random.default_rng(0).dirichlet(np.ones(3), 16)
        runs = tuple(f"run{i}" for i in range(16))
        swarm = SwarmTable(runs, ("a", "b", "c"), mixes, ("one",), 1 + mixes[:, :1])
        curves = fit_curve(swarm, [8], olmix_base(), held_out=4, seeds=[0])
        assert curves.set_index("family").loc["toy", "fit"] == 0
        curves.assign(domains=3).to_csv(here / "fit_by_domains.csv", index=False)
        assert "toy family" in legend(fit_by_domains(here))
        """
    )
    with carried_out(clone, recipe("A regression family", name="toy"), changes):
        run(clone, program)


def test_a_solver_is_a_function_and_its_entry(clone):
    entry = 'Solver("toy", "olmix.proposers.toy.solve", label="toy solver", compared=True)'
    changes = {
        "scripts/olmix/proposers/toy.py": '''
            """Toy: always the prior."""

            from olmix.proposers.proposal import Proposal


            def solve(surrogate, swarm, request, *, seed, settings):
                """The prior, whatever the model says."""
                solver = {"name": "toy"}
                return Proposal.from_weights(
                    request.prior.weights, request, status="toy", solver=solver
                )
            ''',
        "scripts/olmix/proposers/__init__.py": replacing(
            '        Solver("best_run"', f'        {entry},\n        Solver("best_run"'
        ),
    }
    program = PLAN + dedent(
        """
        from dataclasses import replace
        from olmix.domains import DomainSet
        from olmix.files import write_json
        from olmix.proposers.proposal import Request
        from olmix.questions.rq7.figures import solvers
        from olmix.study.proposals import olmix_base

        planned = plan.reads["rq7"].planned["solvers"]
        assert planned[-1] == "toy"
        request = Request.for_domains(DomainSet.from_token_counts({"a": 3, "b": 1}))
        method = replace(olmix_base(), proposer="toy")
        assert method.propose(None, None, request).mix["a"] == 0.75
        rows = [
            {"level": "topics", "solver": name, "measured_bpb": 1.0, "measured_error": 0.1,
             "predicted_bpb": 0.9}
            for name in planned
        ]
        pd.DataFrame(rows).to_csv(here / "solvers.csv", index=False)
        write_json(here / "provenance.json", {"target_repeats": 2})
        ticks = [tick.get_text() for tick in solvers(here).axes[0].get_xticklabels()]
        assert "toy solver" in ticks
        """
    )
    with carried_out(clone, recipe("A solver", name="toy"), changes):
        run(clone, program)


def test_a_mixing_method_is_a_file_and_if_it_is_a_new_algorithm_a_module(clone):
    program = PLAN + dedent(
        """
        from olmix.domains import DomainSet
        from olmix.questions.methods.figures import methods
        from olmix.study.system_answers import RunsSoFar, answer, system_request

        assert "toy" in plan.swarms["systems-target"].proposals
        planned = plan.reads["methods"].planned
        assert planned["costs"]["toy"]["proxy_runs"] == 0
        domains = DomainSet.from_token_counts({"a": 30, "b": 10})
        system = plan.systems["toy"]
        asked = system_request(system, domains, kl=0.0, repetition=4, requested=50)
        proposal = answer(system, (), {}, RunsSoFar(domains), asked)
        assert proposal.mix["b"] == 0.8  # of which caps would allow 4 times 10 in 50
        rows = [
            {"method": found["name"], "label": found["label"], "way": found["way"],
             "proxy_runs": planned["costs"][found["name"]]["proxy_runs"], "gain": 1.0,
             "gain_low": 0.5, "gain_high": 1.5}
            for found in planned["systems"]
        ]
        pd.DataFrame(rows).to_csv(here / "methods.csv", index=False)
        drawn = [text.get_text() for text in methods(here).axes[1].texts]
        assert any("Toy system" in text for text in drawn)
        """
    )
    changes = {
        "config/methods/toy.yaml": """
            label: Toy system
            algorithm: toy
            repetition_constraint: true
            """,
        "scripts/olmix/systems/toy.py": '''
            """Toy: all weight on the smallest domain."""

            import numpy as np

            from olmix.systems.kinds.fixed import Fixed


            class Toy(Fixed):
                """The smallest domain alone."""

                def mix(self, tokens: np.ndarray, requested: float) -> np.ndarray:
                    """All weight on the smallest."""
                    return (tokens == tokens.min()).astype(float)


            ALGORITHM = Toy
            ''',
    }
    with carried_out(clone, recipe("A mixing method", name="toy"), changes):
        run(clone, program)


@pytest.mark.slow
def test_a_scale_is_a_file(clone):
    changes = {"config/scales/toy.yaml": "extends: smoke\nswarm_sizes: {topics: 17}\n"}
    with carried_out(clone, recipe("A scale", name="toy"), changes):
        target = "results/toy/sample_swarm/topics.csv"
        done = clone.snakemake("--cores", "1", target, scale="toy")
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(pd.read_csv(clone.folder / target)) == 17


@pytest.mark.slow
def test_a_sequence_of_updates_is_a_file_and_a_scale_that_names_it(clone):
    changes = {
        "config/updates/toy.yaml": """
            description: one update
            domains: ../domains/tiny.yaml
            initial: [web:politics, web:health, web:science_math_and_technology,
                      web:software_development]
            updates:
              - name: toy_update
                add: [code:python, code:java]
            """,
        "config/scales/toy.yaml": "extends: smoke\nupdates: config/updates/toy.yaml\n",
    }
    with carried_out(clone, recipe("A sequence of updates", name="toy"), changes):
        messages = clone.messages("figures/main_results.pdf", scale="toy")
        assert "Proposing the mixes of main at toy_update" in messages
        done = clone.snakemake("--cores", "1", "results/tables/domain_updates.csv", scale="toy")
        assert done.returncode == 0, done.stdout + done.stderr
        table = pd.read_csv(clone.folder / "results" / "tables" / "domain_updates.csv")
        assert table[table["scale"] == "toy"]["stage"].tolist() == ["initial", "toy_update"]


def test_every_recipe_is_carried_out():
    titles = set(re.findall(r"^### (.*)", GUIDE, re.M))
    tested = set(re.findall(r'recipe\("([^"]+)"', Path(__file__).read_text(encoding="utf-8")))
    assert tested == titles


def test_the_walk_from_a_figure_to_its_numbers_is_short_and_goes_through_files_that_are_there():
    walk = named_files("From a figure to a number in it")
    assert 5 < len(walk) <= 15
    assert all((REPOSITORY / file).is_file() for file in walk)
    # What a step names is in the file it is about.
    steps = dict(
        re.findall(r"^\d+\. `([^`]+)`: (.*)$", section("From a figure to a number in it"), re.M)
    )
    for file, text in steps.items():
        for name in re.findall(r"`([a-z_]+)`", text):
            assert name in (REPOSITORY / file).read_text(encoding="utf-8"), (file, name)
