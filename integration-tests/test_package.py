"""An outside project builds, links and runs against what `cmake --install` puts down."""

import os
import shutil
import unittest
from pathlib import Path

from sluice_it import children

PROJECT = Path(__file__).parent / "package" / "project"


class Package(unittest.TestCase):
    def test_installed_tree(self):
        built = os.environ["SLUICE_BUILD_DIR"]
        folder = children.scratch("package")
        prefix = folder / "prefix"
        children.run(["cmake", "--install", built, "--prefix", prefix])
        self.assertIn(b"run", children.run([prefix / "bin" / "sluice", "--help"]))
        # A copy, so that nothing can be found by a path relative to the source tree.
        project = shutil.copytree(PROJECT, folder / "project")
        children.run(["cmake", "-G", "Ninja", "-S", project, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
        children.run(["cmake", "--build", folder / "build"], seconds=300)
        self.assertEqual(children.run([folder / "build" / "outside"]), b"retryable: from outside\n")


if __name__ == "__main__":
    unittest.main()
