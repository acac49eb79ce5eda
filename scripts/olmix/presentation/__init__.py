"""What a reader sees: style of figures, captions, report, gallery and rule graph."""
