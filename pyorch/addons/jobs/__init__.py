"""Jobs of ranks: collectives, GOAL schedules and Chakra traces, their metrics and timelines."""
