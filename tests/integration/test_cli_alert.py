"""`lakehouse alert test` and what `lakehouse doctor` says of the targets."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from lakehouse.cli import main

SECRET = "s3cret-of-a-webhook"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*command: str, urls: str = "") -> Result:
        environment = {"LAKEHOUSE_DATA_DIR": str(tmp_path / "data"), "LAKEHOUSE_ALERT_URLS": urls}
        return CliRunner().invoke(main, command, env=environment)

    return invoke


def test_without_targets_it_says_so(run: Run) -> None:
    result = run("alert", "test")
    assert result.exit_code == 1
    assert "LAKEHOUSE_ALERT_URLS is not set" in result.output


def test_each_target_says_whether_it_took_the_message(run: Run) -> None:
    took: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            took.append(self.path)
            self.send_response(500 if "refused" in self.path else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        base = f"json://user:{SECRET}@127.0.0.1:{server.server_port}"
        result = run("alert", "test", urls=f"{base}/{SECRET}/,{base}/refused/{SECRET}/ slak://{SECRET}/x")
        good = run("alert", "test", urls=f"{base}/{SECRET}/")
        server.shutdown()

    assert len(took) == 3
    lines = result.output.splitlines()
    assert lines[0] == "target 1 (json://***) took it."
    assert lines[1].startswith("target 2 (json://***) did not take it: ")
    assert "error=500" in lines[1]
    assert lines[2].startswith("target 3 (slak://***) did not take it: the scheme slak:// is unknown;")
    assert result.exit_code == 1
    assert good.exit_code == 0
    assert SECRET not in result.output


def test_doctor_names_an_unknown_scheme_and_sends_nothing(run: Run) -> None:
    result = run("doctor", urls=f"slak://{SECRET}/x")
    assert result.exit_code == 1
    assert "broken   alerts       target 1 (slak://***): the scheme slak:// is unknown" in result.output
    assert SECRET not in result.output
    assert "ok       alerts       target 1 (json://***)" in run("doctor", urls=f"json://{SECRET}/x").output
