"""What the verbs of the laboratory do: each calls a method of `Study` and prints its result."""
