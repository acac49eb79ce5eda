"""What a study costs: time, memory and GPUs of every job, and their sums."""
