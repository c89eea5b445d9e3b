"""Traffic: flows of every kind."""
