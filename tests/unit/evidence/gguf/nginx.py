"""A real nginx that serves a folder, and what it logs. No part of the tests needs it: it may not be installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
CONFIG = """
daemon off; master_process off; pid {folder}/pid; error_log stderr warn;
events {{ worker_connections 64; }}
http {{
  log_format sent '$status $body_bytes_sent "$http_range" $uri';
  access_log {folder}/access sent;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/files;
    location /whole/ {{ alias {folder}/files/; max_ranges 0; }}
    location /packed/ {{ alias {folder}/files/; gzip on; gzip_types *; gzip_min_length 1; }}
    location /moved/ {{ return 302 /model.gguf?Signature=secret; }}
    location /closed/ {{ auth_basic "models"; auth_basic_user_file {folder}/users; alias {folder}/files/; }}
    location /forbidden/ {{ deny all; }}
    location /busy/ {{ return 503; }}
  }}
}}
"""


@dataclass
class Nginx:
    folder: Path
    origin: str

    def log(self, count: int) -> list[str]:
        """Return the last lines of the access log, which is written when a request is over."""
        for _ in range(200):
            lines = (self.folder / "access").read_text().splitlines()
            if len(lines) >= count:
                break
            time.sleep(0.01)
        return lines


@contextmanager
def serving_nginx(folder: Path) -> Iterator[Nginx]:
    """Serve what is in `files` of a folder; /closed/ wants user and password `me`, `right`."""
    (folder / "users").write_text("me:{PLAIN}right\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port))
    assert NGINX
    with subprocess.Popen([NGINX, "-p", str(folder), "-c", str(config)], stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                time.sleep(0.02)
            yield Nginx(folder, f"http://127.0.0.1:{port}")
        finally:
            process.terminate()
