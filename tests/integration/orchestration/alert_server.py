"""A real HTTP server on this machine that keeps what alerts it is sent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOKEN = "t0k3n-of-a-webhook"


class AlertServer:
    """Takes every message, as long as it runs."""

    def __init__(self, port: int) -> None:
        self.received: list[dict[str, Any]] = []
        self.url = f"json://127.0.0.1:{port}/{TOKEN}/"

    @property
    def bodies(self) -> list[str]:
        return [f"{message['title']}\n{message['message']}" for message in self.received]


@contextmanager
def alert_server() -> Iterator[AlertServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.received.append(json.loads(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept = AlertServer(server.server_port)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
