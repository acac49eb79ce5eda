"""The swarms the paper's authors released: everything after training, with the paper's values."""
