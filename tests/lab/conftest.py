"""The lab's modules import each other by name, as boot.py does when it is run by hand."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
