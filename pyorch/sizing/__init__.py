"""Headroom and thresholds: the sizing adviser, its formulas, and the checks of [buffer]."""
