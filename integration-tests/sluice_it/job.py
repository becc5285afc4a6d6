"""Writes job files."""

import copy
import json


def merged(base, changes):
    """`changes` over `base`; objects are merged key by key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        result[key] = (
            merged(result[key], value) if isinstance(value, dict) and isinstance(result.get(key), dict) else value
        )
    return result


def kafka_job(name, kafka, topic, sink, /, **changes):
    """A job from one topic to one sink, with epochs short enough that a test meets many of them."""
    job = {
        "name": name,
        "source": {"type": "kafka", "bootstrap.servers": kafka.address, "topics": [topic], "value.format": "json"},
        "sink": sink,
        "checkpoint": {"interval": "200ms", "max.rows": 5000},
        "restart": {"strategy": "exponential-delay", "initial": "50ms", "max": "1s"},
    }
    return merged(job, changes)


def postgres_sink(server, database, table="orders", **changes):
    return {"type": "postgres", "connection.url": server.url(database), "table.name.format": table, **changes}


def mysql_sink(server, database, table="orders", options="", **changes):
    url = server.url(database, options=options)
    return {"type": server.scheme, "connection.url": url, "table.name.format": table, **changes}


def sqlite_sink(path, table="orders", **changes):
    return {"type": "sqlite", "connection.url": f"sqlite://{path}", "table.name.format": table, **changes}


def write(job, path):
    path.write_text(json.dumps(job, indent=2) + "\n", encoding="utf-8")
    return path
