"""The page of one's own mix: what to use, what it gains, how sure that is, what limits it."""

import html
from pathlib import Path

import pandas as pd

from olmix.files import read_json
from olmix.presentation.report.pages import html_table, page, provenance_lines
from olmix.questions.mix.captions import finding
from olmix.questions.mix.figures import LABELS

__all__ = ["mix_page"]


def mix_page(answer: Path) -> str:
    """The page as HTML; its figures and the explorer lie beside it."""
    found = read_json(answer / "summary.json")
    provenance = read_json(answer / "provenance.json")
    title = f"The mix of {provenance['scale']}, stage {found['stage']}"
    blocks = [
        f"<p><b>{html.escape(finding(answer))}</b></p>",
        _figures("mix", "mix_gain"),
        "<h3>The mix</h3>",
        _table(_weights(answer)),
        "<p>times seen: in the run that the mix is for. from, to: of the weight, by refitting on "
        f"resampled proxies ({100 * found['level']:g} % interval).</p>",
        "<h3>What was measured</h3>",
        _table(_gains(answer)),
        _predicted(found),
        "<h3>What limits it</h3>",
        "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in found["limits"]) + "</ul>",
        "<h3>Task by task</h3>",
        _figures("mix_tasks"),
        _explorer(answer),
        _history(found["stages"], provenance["scale"]),
        "<p>Files: <a href='mix.json'>mix.json</a>, <a href='mix.csv'>mix.csv</a>, "
        "<a href='gains.csv'>gains.csv</a>, <a href='tasks.csv'>tasks.csv</a></p>",
        "<footer>" + " · ".join(map(html.escape, provenance_lines(provenance))) + "</footer>",
    ]
    return page(title, blocks)


def _figures(*names: str) -> str:
    images = (f"<img src='{name}.png' alt='{name}'>" for name in names)
    return f"<div class='figures'>{''.join(images)}</div>"


def _table(frame: pd.DataFrame) -> str:
    return f"<div class='wide'>{html_table(frame)}</div>"


def _weights(answer: Path) -> pd.DataFrame:
    frame = pd.read_csv(answer / "mix.csv").sort_values("weight", ascending=False)
    return pd.DataFrame(
        {
            "domain": frame["domain"],
            "tokens, M": (frame["tokens"] / 1e6).round(3),
            "natural, %": (100 * frame["natural"]).round(1),
            "weight, %": (100 * frame["weight"]).round(1),
            "from": (100 * frame["low"]).round(1),
            "to": (100 * frame["high"]).round(1),
            "times seen": frame["times_seen"].round(2),
            "": frame["at_cap"].map({True: "at its cap", False: ""}),
        }
    )


def _gains(answer: Path) -> pd.DataFrame:
    frame = pd.read_csv(answer / "gains.csv").round(2)
    frame["over"] = frame["over"].map(LABELS)
    return frame.rename(
        columns={"over": "lower BPB than the", "gain": "gain, %", "low": "from", "high": "to"}
    )


def _predicted(found: dict) -> str:
    if "predicted_gain" not in found:
        return ""
    low, high = found["predicted_gain_interval"]
    return (
        f"<p>The law ({html.escape(found['family'])}) predicted, for proxies, "
        f"{found['predicted_gain']:+.1f} % over {found['predicted_over']} ({low:+.1f} to "
        f"{high:+.1f}).</p>"
    )


def _explorer(answer: Path) -> str:
    if not (answer / "explore.html").is_file():
        return ""
    return (
        "<p><a href='explore.html'>Explore</a>: the law solved again as you move k, R, λ and the "
        "weights of tasks.</p>"
    )


def _history(stages: list[str], scale: str) -> str:
    """Which stages there were before; no links, as this page is moved there by the next update."""
    if len(stages) < 2:
        return ""
    names = html.escape(", ".join(stages[:-1]))
    kept = html.escape(f"data/{scale}/history/STAGE/index.html")
    return f"<p>Stages before this one: {names}. Their pages: {kept}</p>"
