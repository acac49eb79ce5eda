"""Figure of RQ5: the granularities at the proxy scale."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.files import read_json
from olmix.presentation.dots import bpb_dots, repeated_interval
from olmix.presentation.style import COLUMN_WIDTH

__all__ = ["granularity_proxy"]

LABELS = {"task": "per task", "family": "per family", "aggregated": "aggregated"}


def granularity_proxy(answer: Path) -> plt.Figure:
    """Average BPB of proxies trained on what each granularity proposes."""
    frame = pd.read_csv(answer / "granularity.csv").set_index("granularity").loc[list(LABELS)]
    repeats = read_json(answer / "provenance.json")["target_repeats"]
    half = repeated_interval(frame["proxy_error"], repeats)
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.0), layout="constrained")
    bpb_dots(axis, list(LABELS.values()), frame["proxy_bpb"], half)
    axis.set_ylabel("average BPB of the proxy")
    axis.set_xlabel("regression granularity")
    return figure
