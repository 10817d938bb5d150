# SPDX-License-Identifier: Apache-2.0
"""The code cache on a server, by the real tool: one that keeps what it is given, and servers that lie,
stall and die (RemoteCacheTest); nginx (NginxTest). The environment says where things are
(CMakeLists.txt)."""

import contextlib
import functools
import http.server
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

TOOL = os.environ["TFAOT_TOOL"]
CONFIG = os.environ["TFAOT_CONFIG"]
NGINX = os.environ.get("NGINX", "")
OBJECTS = 9  # of that model
LIMIT = 60  # seconds, of what takes about two


class Store:
    """A server over a dict; `on_get` and `on_put` may replace what it does."""

    def __init__(self, certificate=None):
        self.entries = {}
        self.requests = []
        self.authorizations = set()
        self.on_get = None
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def begin(self):
                store.requests.append(self.command)
                store.authorizations.add(self.headers.get("Authorization"))

            def reply(self, status, body=b""):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_GET(self):
                self.begin()
                if store.on_get and self.command == "GET":
                    store.on_get(self)
                elif self.path in store.entries:
                    self.reply(200, store.entries[self.path])
                else:
                    self.reply(404)

            do_HEAD = do_GET

            def do_PUT(self):
                self.begin()
                body = self.rfile.read(int(self.headers["Content-Length"]))
                store.entries[self.path] = body
                self.reply(201)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.place = f"{scheme}://localhost:{self.server.server_address[1]}/tfaot"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class CacheTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="tfaot remote "))
        self.addCleanup(shutil.rmtree, self.root)
        self.count = 0

    def start(self, place, *options, cache=None, environment=None):
        """Starts a compilation, with an empty local cache of its own if none is given."""
        self.count += 1
        out = self.root / f"out{self.count}"
        cache = cache or self.root / f"cache{self.count}"
        process = subprocess.Popen(
            [TOOL, "compile", "-c", CONFIG, "-o", out, "--cache", cache, *options],
            env={**os.environ, "TFAOT_REMOTE_CACHE": place, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return process, out

    def end(self, process, out):
        """The package's manifest, the number of objects from the cache, and the warnings."""
        try:
            said, errors = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn(f"{OBJECTS} objects", said)
        found = said.split(f"{OBJECTS} objects")[1].split("\n")[0]
        cached = int(found.split()[1]) if found else 0
        warnings = [line for line in errors.splitlines() if "warning" in line]
        return (out / "manifest.json").read_bytes(), cached, warnings

    def compile(self, place, *options, **settings):
        return self.end(*self.start(place, *options, **settings))

    @staticmethod
    @functools.cache
    def expected():
        """The manifest without any cache."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [TOOL, "compile", "-q", "-c", CONFIG, "-o", f"{folder}/out", "--no-cache"], check=True
            )
            return pathlib.Path(folder, "out/manifest.json").read_bytes()

class RemoteCacheTest(CacheTest):
    def store(self, **options):
        store = Store(**options)
        self.addCleanup(store.stop)
        return store

    def test_what_one_machine_compiled_another_one_takes(self):
        for layout, prefix in {"subdirs": None, "flat": "/tfaot/", "bazel": "/tfaot/ac/"}.items():
            store = self.store()
            place = f"{store.place}|layout={layout}"
            self.assertEqual(self.compile(place), (self.expected(), 0, []))
            self.assertEqual(len(store.entries), OBJECTS)
            for path in store.entries:
                key = path[len(prefix) :] if prefix else path[len("/tfaot/") :].replace("/", "", 1)
                self.assertRegex(key, "^[0-9a-f]{64}$")
            second = self.root / f"second {layout}"
            self.assertEqual(self.compile(place, cache=second), (self.expected(), OBJECTS, []))
            self.assertEqual(store.requests.count("PUT"), OBJECTS)
            # The entries are now in the second machine's folder.
            store.requests.clear()
            self.assertEqual(self.compile(place, cache=second), (self.expected(), OBJECTS, []))
            self.assertEqual(store.requests, [])

    def test_several_at_once(self):
        store = self.store()
        for _ in range(2):
            running = [self.start(store.place, "-j", "3") for _ in range(3)]
            for process, out in running:
                manifest, _, warnings = self.end(process, out)
                self.assertEqual((manifest, warnings), (self.expected(), []))
        self.assertEqual(self.compile(store.place), (self.expected(), OBJECTS, []))

    def test_a_lie_is_never_an_object(self):
        store = self.store()
        self.compile(store.place)
        true = dict(store.entries)
        paths = sorted(true)
        shifted = dict(zip(paths, [true[path] for path in paths[1:] + paths[:1]]))
        lies = {
            "altered": {path: entry[:-1] + bytes([entry[-1] ^ 1]) for path, entry in true.items()},
            "cut off": {path: entry[: len(entry) // 2] for path, entry in true.items()},
            "swapped": shifted,
            "a page": {path: b"<html>Log in</html>" for path in true},
            "empty": {path: b"" for path in true},
        }
        for name, entries in lies.items():
            with self.subTest(name):
                store.entries = dict(entries)
                manifest, cached, warnings = self.compile(store.place, "-j", "3")
                self.assertEqual((manifest, cached), (self.expected(), 0))
                self.assertEqual(
                    warnings,
                    [
                        f"tfaot: warning: the code cache {store.place}: an entry is damaged or another's; "
                        "it is not used, its code is compiled again"
                    ],
                )
                self.assertEqual(store.entries, true, "replaced")

    def test_a_body_that_ends_early(self):
        store = self.store()
        self.compile(store.place)

        def cut_off(request):
            request.send_response(200)
            request.send_header("Content-Length", "100000")
            request.end_headers()
            request.wfile.write(b"tfaot")
            request.close_connection = True

        store.on_get = cut_off
        manifest, cached, warnings = self.compile(store.place)
        self.assertEqual((manifest, cached, len(warnings)), (self.expected(), 0, 1))
        self.assertIn("the connection broke; going on without it", warnings[0])

    def test_a_dead_server(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # and does not listen
            place = f"http://127.0.0.1:{unused.getsockname()[1]}"
            manifest, cached, warnings = self.compile(place, "-j", "3")
        self.assertEqual((manifest, cached), (self.expected(), 0))
        self.assertEqual(
            warnings,
            [f"tfaot: warning: the code cache {place}: it cannot be connected to; going on without it"],
        )

    def test_a_server_that_dies_in_between(self):
        store = self.store()

        def die(request):
            request.close_connection = True
            request.connection.close()
            store.server.socket.close()

        store.on_get = die
        manifest, _, warnings = self.compile(store.place, "-j", "1")
        self.assertEqual((manifest, len(warnings)), (self.expected(), 1))

    def test_stalled_servers(self):
        def silent(connection):
            connection.recv(1000)
            time.sleep(LIMIT)

        def byte_by_byte(connection):
            connection.recv(1000)
            for byte in b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.1)

        for behave in (silent, byte_by_byte):
            with self.subTest(behave.__name__), self.accepting(behave) as address:
                place = f"{address}|operation-timeout=300"
                start = time.monotonic()
                manifest, _, warnings = self.compile(place, "-j", "3")
                self.assertEqual(manifest, self.expected())
                self.assertEqual(
                    warnings,
                    [
                        f"tfaot: warning: the code cache {address}: it did not answer within 300 ms; "
                        "going on without it"
                    ],
                )
                self.assertLess(time.monotonic() - start, LIMIT / 2)

    @contextlib.contextmanager
    def accepting(self, behave):
        """A server that does as `behave` with each connection."""

        def serve(connection):
            with contextlib.suppress(OSError), connection:
                behave(connection)

        with socket.create_server(("127.0.0.1", 0)) as server:

            def accept():
                with contextlib.suppress(OSError):
                    while True:
                        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

            threading.Thread(target=accept, daemon=True).start()
            yield f"http://127.0.0.1:{server.getsockname()[1]}"

    def test_an_interrupt_while_the_server_stalls(self):
        asked = threading.Event()

        def stall(connection):
            connection.recv(1000)
            asked.set()
            time.sleep(LIMIT)

        with self.accepting(stall) as address:
            process, out = self.start(f"{address}|operation-timeout=50000")
            self.assertTrue(asked.wait(LIMIT))
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertLess(time.monotonic() - start, 20)
            self.assertFalse(out.exists())

    def test_read_only_and_authorization(self):
        store = self.store()
        token = self.root / "token"
        token.write_text("Bearer secret\n")
        place = f"{store.place}|authorization-file={token}"
        self.compile(f"{place}|read-only")
        self.assertEqual(store.entries, {})
        self.compile(place)
        self.assertEqual(self.compile(f"{place}|read-only"), (self.expected(), OBJECTS, []))
        self.assertEqual(store.authorizations, {"Bearer secret"})
        store.on_get = lambda request: request.reply(401)
        manifest, cached, warnings = self.compile(place)
        self.assertEqual((manifest, cached), (self.expected(), 0))
        self.assertEqual(
            warnings,
            [
                f"tfaot: warning: the code cache {store.place}: it answers 401 when asked for an entry; "
                "going on without it"
            ],
        )

    def test_https(self):
        certificate = self.root / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", certificate, "-out", self.root / "public.pem"],
            check=True,
            capture_output=True,
        )  # fmt: skip
        public = (self.root / "public.pem").read_text()
        certificate.write_text(certificate.read_text() + public)
        store = self.store(certificate=certificate)
        trusted = {"SSL_CERT_FILE": str(self.root / "public.pem")}
        self.assertEqual(self.compile(store.place, environment=trusted), (self.expected(), 0, []))
        self.assertEqual(self.compile(store.place, environment=trusted), (self.expected(), OBJECTS, []))
        manifest, cached, warnings = self.compile(store.place)
        self.assertEqual((manifest, cached), (self.expected(), 0))
        self.assertEqual(
            warnings,
            [
                f"tfaot: warning: the code cache {store.place}: its certificate is not accepted "
                "(SSL_CERT_FILE names those to trust); going on without it"
            ],
        )


class NginxTest(CacheTest):

    def setUp(self):
        super().setUp()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="tfaot-nginx-"))  # no blanks
        self.addCleanup(shutil.rmtree, self.work)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (self.work / "store").mkdir()
        (self.work / "nginx.conf").write_text(
            "daemon off; master_process off; pid nginx.pid; error_log errors;\n"
            "events {}\n"
            "http {\n"
            "  access_log access.log; client_max_body_size 0;\n"
            f"  client_body_temp_path {self.work}/part; proxy_temp_path p; fastcgi_temp_path f;\n"
            "  uwsgi_temp_path u; scgi_temp_path s;\n"
            f"  server {{ listen 127.0.0.1:{port}; root {self.work}/store;\n"
            "    location / { dav_methods PUT; create_full_put_path on; } } }\n"
        )
        nginx = subprocess.Popen([NGINX, "-p", self.work, "-c", "nginx.conf"], stderr=subprocess.DEVNULL)
        self.addCleanup(nginx.wait)
        self.addCleanup(nginx.terminate)
        for _ in range(LIMIT * 10):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        self.place = f"http://127.0.0.1:{port}/tfaot"

    def test_what_one_machine_compiled_another_one_takes(self):
        for layout in ("subdirs", "flat", "bazel"):
            with self.subTest(layout):
                place = f"{self.place}|layout={layout}"
                self.assertEqual(self.compile(place), (self.expected(), 0, []))
                self.assertEqual(self.compile(place), (self.expected(), OBJECTS, []))
                entry = next(path for path in (self.work / "store").rglob("*") if path.is_file())
                whole = entry.read_bytes()
                entry.write_bytes(whole[:-1])
                manifest, cached, warnings = self.compile(place)
                self.assertEqual((manifest, cached, len(warnings)), (self.expected(), OBJECTS - 1, 1))
                self.assertEqual(entry.read_bytes(), whole)
                shutil.rmtree(self.work / "store/tfaot")
        log = (self.work / "access.log").read_text()
        for method in ("GET", "HEAD", "PUT"):
            self.assertIn(f'"{method} /tfaot/', log)

    def test_several_at_once(self):
        running = [self.start(self.place, "-j", "3") for _ in range(3)]
        for process, out in running:
            manifest, _, warnings = self.end(process, out)
            self.assertEqual((manifest, warnings), (self.expected(), []))
        self.assertEqual(self.compile(self.place), (self.expected(), OBJECTS, []))


if __name__ == "__main__":
    unittest.main()
