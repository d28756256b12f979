"""`python -m holdfast.edges.cli`, for measuring what a command imports."""

from __future__ import annotations

import sys

from holdfast.edges.cli import main

sys.exit(main())
