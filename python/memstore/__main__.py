"""``python -m memstore`` is ``memstore``."""

from __future__ import annotations

import sys

from memstore.faces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
