#!/usr/bin/env python3
"""run.py ENVIRONMENT WHEELS [TEST...]: installs the wheel into a new environment and runs the tests there."""

import glob
import os
import subprocess
import sys
import venv

here = os.path.dirname(os.path.abspath(__file__))


def main(environment, wheels, *tests):
    environment = os.path.abspath(environment)
    (wheel,) = glob.glob(os.path.join(wheels, "swage-*.whl"))
    venv.create(environment, clear=True, with_pip=True)
    python = os.path.join(environment, "bin", "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], check=True)

    settings = dict(os.environ)
    settings["SWAGE_CACHE_DIR"] = os.path.join(os.path.dirname(environment), "cache")
    # numpy, as tools/setup.sh brings it.
    extra = os.path.join(here, "..", "..", ".python", "%d.%d" % sys.version_info[:2])
    settings["PYTHONPATH"] = os.path.abspath(extra)
    subprocess.run([python, "-c", "import swage; print('swage', swage.__version__, swage.__file__)"], env=settings, check=True)
    command = [python, "-m", "unittest"] + (list(tests) or ["discover", "-s", here, "-t", here])
    sys.exit(subprocess.run(command, env=settings, cwd=here).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
