"""What a cluster really does before anything is spent on it: measured, checked, and told."""
