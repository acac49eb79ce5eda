"""The analysis of each question: from collected tables and proposals to its answer in numbers."""
