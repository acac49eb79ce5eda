"""What the workflow runs: swarms, proposals and targets of every question, from config."""
