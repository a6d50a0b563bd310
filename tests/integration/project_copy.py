"""A copy of the project, whose contracts and sources a test can change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lakehouse.settings import PROJECT_DIR

LEFT_OUT = (".git", ".venv", "data", "target", "logs", "docs", "benchmarks", "__pycache__", ".*_cache")


class Project:
    """A copy of the project, so that its contracts can be changed; commands run in it as a user's do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(PROJECT_DIR, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        env = {name: value for name, value in os.environ.items() if not name.startswith("LAKEHOUSE_")}
        self.env = env | {
            "PYTHONPATH": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "DAGSTER_HOME": str(folder),
        }

    @property
    def sources(self) -> Path:
        return self.folder / "data" / "sources"

    def run(self, *command: str, exit_code: int = 0) -> str:
        done = self._python("-m", *command)
        assert done.returncode == exit_code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr or command[0] == "dagster"
        return done.stdout + done.stderr

    def python(self, code: str) -> str:
        """What a few lines print that look where no command does."""
        done = self._python("-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _python(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )

    def quarantine(self, *args: str, exit_code: int = 0) -> str:
        return self.run("lakehouse.cli", "quarantine", *args, exit_code=exit_code)

    def ask(self, sql: str) -> list[list[str]]:
        lines = self.run("lakehouse.cli", "query", sql, "--format", "csv").splitlines()[1:]
        return [line.split(",") for line in lines]

    def materialize(self, table: str, first: str | None = None, last: str | None = None) -> str:
        partitions = ["--partition-range", f"{first}...{last or first}"] if first else []
        command = ["dagster", "asset", "materialize", "-m", "lakehouse.definitions", "--select"]
        return self.run(*command, f"key:{table.replace('.', '/')}", *partitions)
