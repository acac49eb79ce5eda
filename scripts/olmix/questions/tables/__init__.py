"""The paper's tables of settings and costs."""
