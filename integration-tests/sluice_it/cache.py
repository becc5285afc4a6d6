"""Where things are kept that are fetched once; the same place as scripts/lib/common.sh names."""

import os
from pathlib import Path


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(os.environ.get("SLUICE_CACHE") or Path(home) / "sluice")
    place.mkdir(parents=True, exist_ok=True)
    return place
