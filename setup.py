"""Puts what a checkout has beside the package into the wheel: experiments and C++ modules.

With PYORCH_BUILT, a folder that pyorch.build.shipped.pack has written, also the compiled modules;
the wheel is then one for this kind of machine.
"""

import os
import platform
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHIPPED = ("experiments", "ns3-modules", "docs", ".clang-format")
PICTURES = (".png", ".svg", ".pdf")
BUILT = os.environ.get("PYORCH_BUILT", "")


class BuildWithShipped(build_py):
    """Copies the files of SHIPPED into pyorch/shipped; not for `pip install -e`."""

    def run(self):
        """Build, and copy."""
        super().run()
        if self.editable_mode:
            return
        for name in SHIPPED:
            place = ROOT / name
            self._ship(place, name)
        if BUILT:
            self._ship(Path(BUILT), "build")

    def _ship(self, place, name):
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        if not files:
            raise SystemExit(f"{place} is missing: without it the package would be useless")
        for file in files:
            if file.is_file() and file.suffix not in PICTURES:
                target = Path(self.build_lib, "pyorch", "shipped", name, file.relative_to(place))
                target.parent.mkdir(parents=True, exist_ok=True)
                self.copy_file(str(file), str(target))


class WheelOfThisMachine(bdist_wheel):
    """Any Python 3 can use the compiled modules: none of them knows of it."""

    def finalize_options(self):
        """Say that the wheel has libraries."""
        super().finalize_options()
        self.root_is_pure = not BUILT

    def get_tag(self):
        """The tag: of this kind of machine if the wheel has libraries."""
        tag = super().get_tag()
        return ("py3", "none", f"linux_{platform.machine()}") if BUILT else tag


setup(cmdclass={"build_py": BuildWithShipped, "bdist_wheel": WheelOfThisMachine})
