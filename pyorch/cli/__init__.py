"""Commands, one file per verb: they take words, print text, and return an exit code."""
