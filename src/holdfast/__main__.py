"""`python -m holdfast` is the command line."""

from __future__ import annotations

import sys

from holdfast.edges.cli import main

sys.exit(main())
