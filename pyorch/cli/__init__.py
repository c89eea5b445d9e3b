"""Commands, one file a verb: they read words, print for people, and return an exit code."""
