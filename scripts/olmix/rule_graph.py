"""The rules of the workflow as a graph, read from Snakemake's own graph of jobs.

Rules depend on one another in circles (a swarm's runs lead to mixes, whose runs are listed by the
same rule again); jobs do not. What is implied by other arrows is therefore left out among the
jobs, and only then are jobs of one rule drawn together.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from olmix.errors import OlmixError

__all__ = ["STAGES", "JobGraph", "RuleGraph", "RuleNode", "read_dot", "rule_graph", "stage_of"]

# The stages in the order of the work. A file of workflow/rules/ that is not named here is a stage
# of its own, after these.
STAGES = (
    "domains",
    "swarm",
    "regression",
    "optimization",
    "targets",
    "updates",
    "questions",
    "claims",
    "figures",
    "tables",
    "published",
    "report",
)
_STAGE_OF_FILE = {
    "swarms": "swarm",
    "simulate": "swarm",
    "proposals": "optimization",
    "rule_graph": "figures",
}
_STAGE_OF_RULE = {"fit_models": "regression"}  # shares its file with the proposals

_NODE = re.compile(r'^\s*(\d+)\s*\[label = "([^"]*)"')
_EDGE = re.compile(r"^\s*(\d+) -> (\d+)\s*$")


def stage_of(rule: str, file: str) -> str:
    """The stage a rule belongs to, by the name of the file it is written in."""
    return _STAGE_OF_RULE.get(rule) or _STAGE_OF_FILE.get(file, file)


@dataclass(frozen=True)
class JobGraph:
    """Jobs by number: their rules, and what each one waits for."""

    rules: Mapping[int, str]
    needs: Mapping[int, frozenset[int]]

    def ancestors(self, jobs: Iterable[int]) -> set[int]:
        """The jobs themselves and all that they wait for."""
        found, waiting = set(), list(jobs)
        while waiting:
            job = waiting.pop()
            if job not in found:
                found.add(job)
                waiting += self.needs[job]
        return found

    def of_rules(self, rules: Iterable[str]) -> set[int]:
        """The jobs of some rules."""
        wanted = set(rules)
        return {job for job, rule in self.rules.items() if rule in wanted}

    def only(self, jobs: Iterable[int]) -> "JobGraph":
        """The graph of some of the jobs."""
        kept = set(jobs)
        return JobGraph(
            {job: self.rules[job] for job in sorted(kept)},
            {job: self.needs[job] & kept for job in sorted(kept)},
        )

    def reduced(self) -> "JobGraph":
        """Without the arrows that follow from others (the transitive reduction)."""
        behind: dict[int, int] = {}  # job -> bit set of all that it waits for
        needs = {}
        for job in self._in_order():
            reach = 0
            for other in self.needs[job]:
                reach |= behind[other]
            needs[job] = frozenset(other for other in self.needs[job] if not reach >> other & 1)
            behind[job] = reach | sum(1 << other for other in needs[job])
        return JobGraph(self.rules, needs)

    def _in_order(self) -> list[int]:
        """Jobs after those that they wait for."""
        order: list[int] = []
        left = {job: len(needs) for job, needs in self.needs.items()}
        wanted_by = defaultdict(list)
        for job, needs in self.needs.items():
            for other in needs:
                wanted_by[other].append(job)
        ready = [job for job, count in left.items() if count == 0]
        while ready:
            job = ready.pop()
            order.append(job)
            for other in wanted_by[job]:
                left[other] -= 1
                if left[other] == 0:
                    ready.append(other)
        if len(order) < len(self.rules):
            raise OlmixError("graph of jobs: some wait for one another in a circle")
        return order


def read_dot(text: str) -> JobGraph:
    """The graph that ``snakemake --dag dot`` prints."""
    rules: dict[int, str] = {}
    needs: dict[int, set[int]] = {}
    for line in text.splitlines():
        if node := _NODE.match(line):
            # The label goes on with the job's wildcards.
            rules[int(node[1])] = node[2].split("\\n")[0]
            needs.setdefault(int(node[1]), set())
        elif edge := _EDGE.match(line):
            needs.setdefault(int(edge[2]), set()).add(int(edge[1]))
    if not rules:
        raise OlmixError(f"graph of jobs: no job in {text[:80]!r}; expected snakemake --dag dot")
    return JobGraph(rules, {job: frozenset(others) for job, others in needs.items()})


@dataclass(frozen=True)
class RuleNode:
    """What is drawn as one box: a rule, or several with the same place in the graph."""

    rules: tuple[str, ...]
    stage: str


@dataclass(frozen=True)
class RuleGraph:
    """Boxes in the order of the work, and arrows between them (by number)."""

    nodes: tuple[RuleNode, ...]
    edges: frozenset[tuple[int, int]]

    @property
    def stages(self) -> list[str]:
        """The stages that occur, in order."""
        return list(dict.fromkeys(node.stage for node in self.nodes))

    def describe(self) -> str:
        """Every rule by stage, in words."""
        parts = []
        for stage in self.stages:
            rules = [rule for node in self.nodes if node.stage == stage for rule in node.rules]
            parts.append(f"{stage}: {', '.join(rules)}")
        return "; ".join(parts)


def rule_graph(jobs: JobGraph, stages: Mapping[str, str]) -> RuleGraph:
    """Jobs of one rule drawn together, then rules that have a stage and all arrows in common.

    ``stages`` gives every rule's stage, in the order of the workflow.
    """
    known = {stage: number for number, stage in enumerate(STAGES)}
    missing = sorted(set(jobs.rules.values()) - set(stages))
    if missing:
        raise OlmixError(f"rule graph: no stage is given for rule '{missing[0]}'")
    present = set(jobs.rules.values())
    order = sorted(
        (rule for rule in stages if rule in present),
        key=lambda rule: known.get(stages[rule], len(known)),
    )
    edges = {
        (jobs.rules[other], jobs.rules[job])
        for job, others in jobs.reduced().needs.items()
        for other in others
        if jobs.rules[other] != jobs.rules[job]
    }
    alike: dict[tuple, list[str]] = defaultdict(list)
    for rule in order:
        sources = frozenset(a for a, b in edges if b == rule)
        targets = frozenset(b for a, b in edges if a == rule)
        alike[stages[rule], sources, targets].append(rule)
    nodes = tuple(RuleNode(tuple(rules), key[0]) for key, rules in alike.items())
    number = {rule: index for index, node in enumerate(nodes) for rule in node.rules}
    return RuleGraph(nodes, frozenset((number[a], number[b]) for a, b in edges))
