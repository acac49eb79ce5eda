"""The theory measured: reuse gap, update shift, coupling (§4.3, §5.2)."""
