"""The worst mix: maximise f̂(p) under the caps (weak mix of §5.2)."""

import numpy as np

from olmix.errors import OlmixError
from olmix.proposers.proposal import Proposal, Request
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.surrogate import Surrogate

__all__ = ["propose_worst"]

# Steps from a start to its vertex; each raises f̂, and a handful is what it takes.
_STEPS = 100


def propose_worst(
    surrogate: Surrogate, request: Request, *, seed: int = 0, starts: int = 200
) -> Proposal:
    """The mix with the highest predicted BPB that the caps allow, for a log-linear model.

    A convex function is largest at a vertex of what the caps allow: every weight at 0 or at its
    cap, but one. From a start, the vertex that f̂'s slope there points to is at least as bad as the
    start, and its slope points to the next, until none is worse. Starts are ``starts`` random
    slopes and, for each domain, the slope that points to it first. There is no KL term: with it
    the maximum is not at a vertex.
    """
    model = surrogate.regressor
    if not isinstance(model, LogLinear):
        raise OlmixError(f"the worst mix needs a log-linear model, got '{model.family}'")
    if request.domains != surrogate.domains:
        raise OlmixError(
            f"proposal over {len(request.domains)} domains, but the model was fitted on "
            f"{len(surrogate.domains)} others or in another order"
        )
    if request.kl > 0:
        raise OlmixError(f"the worst mix takes no KL term, but its weight is {request.kl:g}")
    caps = np.minimum(request.caps, 1.0)
    size = len(caps)
    random = np.random.default_rng(seed).normal(size=(starts, size))
    corners = 1e6 * np.eye(size) + surrogate.weights @ model.coef_
    mixes = _vertices(np.vstack([corners, random]), caps)
    for _ in range(_STEPS):
        slopes = (surrogate.weights * np.exp(mixes @ model.coef_.T)) @ model.coef_
        following = _vertices(slopes, caps)
        if np.allclose(following, mixes, rtol=0, atol=1e-12):
            break
        mixes = following
    average = surrogate.average(mixes)
    worst = mixes[int(average.argmax())]
    predicted = surrogate.predict(worst[None])[0]
    return Proposal.from_weights(
        worst,
        request,
        status="worst vertex",
        objective=float(average.max()),
        predicted=dict(zip(surrogate.outputs, predicted.tolist(), strict=True)),
        average=float(average.max()),
        solver={"name": "worst", "family": model.family, "seed": seed, "starts": starts},
    )


def _vertices(slopes: np.ndarray, caps: np.ndarray) -> np.ndarray:
    """The mix each row of slopes is largest at: domains filled to their caps, steepest first."""
    order = np.argsort(-slopes, axis=1, kind="stable")
    before = np.cumsum(caps[order], axis=1) - caps[order]
    filled = np.clip(1.0 - before, 0.0, caps[order])
    mixes = np.zeros_like(slopes)
    np.put_along_axis(mixes, order, filled, axis=1)
    return mixes
