"""``python -m optimizer.cli``: the same as the command ``clusterbuy``."""

import sys

from optimizer.cli.main import main

sys.exit(main())
