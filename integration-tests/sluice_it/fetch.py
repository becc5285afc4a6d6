"""python3 -m sluice_it.fetch: brings what the servers need into the cache, so that no test waits for a download."""

from .kafka import jars

print(jars())
