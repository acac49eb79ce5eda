"""Figure of RQ5: the granularities at the proxy scale."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.bars import bpb_bars
from olmix.presentation.style import COLUMN_WIDTH

__all__ = ["granularity_proxy"]

LABELS = {"task": "per task", "family": "per family", "aggregated": "aggregated"}


def granularity_proxy(answer: Path) -> plt.Figure:
    """Average BPB of proxies trained on what each granularity proposes."""
    frame = pd.read_csv(answer / "granularity.csv").set_index("granularity").loc[list(LABELS)]
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.2), layout="constrained")
    labels = list(LABELS.values())
    bpb_bars(axis, labels, frame["proxy_bpb"], highlight=frame["proxy_bpb"].argmin())
    axis.set_ylabel("average BPB of the proxy")
    axis.set_xlabel("regression granularity")
    return figure
