"""One run: in a process of its own, warm or cold, or opened by hand in this one."""
