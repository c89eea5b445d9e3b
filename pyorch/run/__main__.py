"""The program `python -m pyorch.run MANIFEST INDEX`."""

from pyorch.run.process import run_program

if __name__ == "__main__":
    run_program()
