"""The architecture, held by a test: who may include whom, where client libraries show, how large things may get."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ("core", "sources", "sinks", "stores", "app", "benchmarks", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)

# A folder may include itself, and what is named here.
ALLOWED = {
    "core/model": set(),
    "core/api": {"core/model"},
    "core/protocol": {"core/model", "core/api"},
    "core/runtime": {"core/model", "core/api", "core/protocol"},
    "core/format": {"core/model", "core/api"},
    "core/testing": {"core/model", "core/api", "core/protocol", "core/runtime", "sinks/sql", "stores/table", "stores/wal"},
}
ANY_SOURCE = {"core/model", "core/api"}
ANY_STORE = {"core/model", "core/api", "core/format", "stores/files"}
ANY_SINK = {"core/model", "core/api", "sinks/sql"}
# A test may use the fakes and the conformance suites as well.
FOR_TESTS = {"core/testing", "core/runtime", "core/protocol"}

CLIENTS = {
    r"pqxx|libpq": {"sinks/postgres"},
    r"sqlite3": {"sinks/sqlite"},
    r"librdkafka|rdkafka": {"sources/kafka", "sinks/kafka", "app"},  # app: the demo's in-process broker
    r"mysql|mariadb|cppconn|jdbc": {"sinks/mysql"},
    r"simdjson": {"core/format", "sources/kafka"},  # sources/kafka: librdkafka's statistics
    r"nlohmann": {"core/format", "sinks/sql", "stores/wal", "app"},  # sinks/sql: headers of a dead letter
    r"xxhash": {"stores/wal"},
    r"CLI|spdlog|fmt": {"app"},
}
BANNED = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
FILE_LINES, LINE_COLUMNS, FUNCTION_LINES = 400, 120, 70


def code_files(*suffixes):
    return [path for folder in CODE for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]


def folder_of(path):
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] in ("app", "benchmarks", "examples") else "/".join(parts[:2])


def is_test(path):
    return bool(re.search(r"_[a-z]*test\.cpp$|_fixture\.(h|cpp)$|_test_[a-z]+\.h$", path.name))


def text_of(path):
    return path.read_text(encoding="utf-8")


class Layout(unittest.TestCase):
    def setUp(self):
        self.files = code_files(".h", ".cpp")
        self.assertGreater(len(self.files), 10, "the check looks into the wrong place")
        self.faults = []

    def report(self):
        """Everything that is wrong at once, instead of the first."""
        self.assertEqual(self.faults, [], "\n" + "\n".join(self.faults))

    def fault(self, path, what):
        self.faults.append(f"{path.relative_to(ROOT)}: {what}")

    def test_who_includes_whom(self):
        for path in self.files:
            here = folder_of(path)
            allowed = self.allowed(here, is_test(path))
            if allowed is None:
                continue
            for bracket, name in INCLUDE.findall(text_of(path)):
                there = "/".join(name.split("/")[:2])
                if bracket == "<" or name.split("/")[0] not in CODE:
                    continue
                if there != here and there not in allowed:
                    self.fault(
                        path,
                        f'includes "{name}"; {here} includes itself and {", ".join(sorted(allowed)) or "nothing"}',
                    )
        self.report()

    @staticmethod
    def allowed(here, test):
        """None: this folder may include anything."""
        if here in ALLOWED:
            allowed = ALLOWED[here]
        elif here == "sinks/sql":
            allowed = {"core/model", "core/api"}
        elif here.startswith("sources/"):
            allowed = ANY_SOURCE
        elif here.startswith("sinks/"):
            allowed = ANY_SINK
        elif here == "stores/table":
            allowed = ANY_STORE | {"sinks/sql"}
        elif here.startswith("stores/"):
            allowed = ANY_STORE
        else:
            return None
        return allowed | FOR_TESTS if test else allowed

    def test_core_model_knows_the_standard_library_only(self):
        for path in self.files:
            if folder_of(path) == "core/model" and not is_test(path):
                for bracket, name in INCLUDE.findall(text_of(path)):
                    if bracket == "<" and "/" in name and not name.startswith("sys/"):
                        self.fault(path, f"includes <{name}>")
        self.report()

    def test_client_libraries_stay_in_their_folders(self):
        for path in self.files:
            here = folder_of(path)
            if here in ("benchmarks", "examples"):
                continue
            for bracket, name in INCLUDE.findall(text_of(path)):
                for client, homes in CLIENTS.items():
                    if bracket == "<" and re.match(rf"({client})\b", name):
                        if here not in homes:
                            self.fault(path, f"includes <{name}>, which belongs to {', '.join(sorted(homes))}")
                        elif path.suffix == ".h" and here != "app" and not self.is_internal(path):
                            self.fault(
                                path,
                                f"shows <{name}> to those who include it; only .cpp files and internal headers may",
                            )
        self.report()

    def is_internal(self, path):
        """A header that no file outside its folder includes."""
        name = str(path.relative_to(ROOT))
        return not any(f'"{name}"' in text_of(other) for other in self.files if folder_of(other) != folder_of(path))

    def test_sizes(self):
        for path in self.files:
            lines = text_of(path).splitlines()
            if len(lines) > FILE_LINES:
                self.fault(path, f"{len(lines)} lines, {FILE_LINES} are the limit")
            for number, line in enumerate(lines, 1):
                if len(line) > LINE_COLUMNS:
                    self.fault(path, f"line {number} has {len(line)} columns, {LINE_COLUMNS} are the limit")
            for number, length in self.functions(lines):
                if length > FUNCTION_LINES:
                    self.fault(
                        path, f"the function at line {number} has {length} lines, {FUNCTION_LINES} are the limit"
                    )
        self.report()

    @staticmethod
    def functions(lines):
        """(line, length) of what opens a brace after a parenthesis and closes it at the same depth of indentation."""
        opened = None
        for number, line in enumerate(lines, 1):
            if (
                opened is None
                and re.match(r"^( {0,4})\S.*\).*\{$", line)
                and not re.match(r"^\s*(if|for|while|switch|else|namespace)\b|^\s*:", line)
            ):
                opened = (number, re.match(r"^ *", line).group())
            elif opened and re.match(rf"^{opened[1]}\}}", line):
                yield opened[0], number - opened[0] + 1
                opened = None

    def check_words(self, path):
        for number, line in enumerate(text_of(path).splitlines(), 1):
            for word in BANNED:
                if re.search(rf"\b{word}\b", line):
                    self.fault(path, f"line {number} says {word}")

    def test_no_loose_ends(self):
        for folder in (*CODE, "cmake", "docs", "integration-tests", "migrations", "scripts", "tests"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in (".h", ".cpp", ".py", ".sh", ".cmake", ".sql", ".md", ".txt"):
                    self.check_words(path)
        self.report()

    def test_every_folder_of_sinks_looks_alike(self):
        """Same file names in every database folder, so that a diff of two folders shows what differs."""
        for folder in sorted((ROOT / "migrations").iterdir()):
            # MariaDB is a flavour of MySQL: one folder, tables of its own.
            sink = ROOT / "sinks" / {"mariadb": "mysql"}.get(folder.name, folder.name)
            for name in ("errors.h", "dialect.h", "session.h", f"{sink.name}_database.h"):
                if not (sink / name).exists():
                    self.fault(sink, f"has no {name}")
            names = {file.name for file in folder.iterdir()}
            if names != {file.name for file in (ROOT / "migrations" / "sqlite").iterdir()}:
                self.fault(folder, "has other migrations than migrations/sqlite")
        self.report()

    def test_readme_names_the_first_steps(self):
        readme = text_of(ROOT / "README.md")
        for script in ("scripts/demo", "scripts/test"):
            self.assertIn(script, readme)


if __name__ == "__main__":
    unittest.main()
