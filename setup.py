"""What pyproject.toml cannot say: a wheel carries corpora/ as qsproj/sample/, for `qsproj demo`."""

from pathlib import Path
from shutil import copytree

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithSample(build_py):
    """Copies the sample beside the modules; an editable installation reads it where it is."""

    def run(self):
        """Build the modules, then copy."""
        super().run()
        if not self.editable_mode:
            copytree("corpora", Path(self.build_lib) / "qsproj" / "sample", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithSample})
