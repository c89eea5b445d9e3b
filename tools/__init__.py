"""Tools for developing the project, which its users do not need: not part of the wheel."""
