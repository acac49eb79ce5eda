# What a preflight measures, and with what.
from olmix.cost.compute import Machine, RunCost
from olmix.preflight.models import preflight_scale

# By the scale's own assumptions, whatever was measured before.
PREFLIGHT = preflight_scale(
    load_scale(Path(workflow.basedir) / "config" / "scales", config["scale"])
)
PREFLIGHT_GPUS = training_requests(PREFLIGHT, config["gpu_request"])


def measured_run(name):
    """One run of a model that is measured, by the scale's assumptions."""
    return RunCost(
        name, PREFLIGHT.model(name), Machine.from_dict(PREFLIGHT["hardware"])
    )


wildcard_constraints:
    model="|".join(PREFLIGHT["models"]),
