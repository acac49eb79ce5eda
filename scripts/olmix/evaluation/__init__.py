"""Task suites, and the bits per byte a model needs for their gold continuations."""
