"""Training runs: settings, optimiser, checkpoints, one run, and many runs in one job."""
