"""The bake-off: every scheme through the same scenes, and a page to decide from.

The studies are experiments/bakeoff/*.toml; parts/summary.toml says what the page compares.
"""
