"""Puts what a checkout has beside the package into the wheel: experiments and C++ modules."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHIPPED = ("experiments", "ns3-modules", ".clang-format")
PICTURES = (".png", ".svg", ".pdf")


class BuildWithShipped(build_py):
    """Copies the files of SHIPPED into pyorch/shipped; not for `pip install -e`."""

    def run(self):
        """Build, and copy."""
        super().run()
        if self.editable_mode:
            return
        for name in SHIPPED:
            place = ROOT / name
            files = [place] if place.is_file() else sorted(place.rglob("*"))
            if not files:
                raise SystemExit(f"{place} is missing: without it the package would be useless")
            for file in files:
                if file.is_file() and file.suffix not in PICTURES:
                    target = Path(self.build_lib, "pyorch", "shipped", file.relative_to(ROOT))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self.copy_file(str(file), str(target))


setup(cmdclass={"build_py": BuildWithShipped})
