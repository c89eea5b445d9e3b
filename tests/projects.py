"""Parts of experiment files that tests of several rooms share."""

from __future__ import annotations

STAR = """
[port]
pause_response = "ideal"
[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"
"""
"""Two hosts that send to a third as fast as they can."""

LOSING = """
[variants.BAD]
flow_control = []
buffer.size = "1020KB"
"""
"""A variant whose runs fail: 20 KB are left for a lossless class that no flow control guards."""

RING_OF_THREE = """
[port]
pause_response = "ideal"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 2
rate = "40Gbps"
delay = "1us"

[buffer]
threshold = "static"
xoff = "100KB"
xon = "97KB"
"""
"""Switches that deadlock when each sends two hops on."""
