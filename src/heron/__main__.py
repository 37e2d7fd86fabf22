"""`python -m heron`."""

import sys

from heron.cli import main

sys.exit(main())
