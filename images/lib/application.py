"""An application of an image, started from the folders of its layers against an API server with nothing in it."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.realpath(__file__))
# A start under load takes some seconds, writing the cache of classes as long again.
START_SECONDS = 120
END_SECONDS = 120
# How often the application is asked whether it is there: it tells nobody.
LOOK_SECONDS = 0.02


def wait_for(what, seconds, done, process=None):
    end = time.monotonic() + seconds
    while not done():
        if process and process.poll() is not None:
            sys.exit(f"{what}: the application ended with {process.returncode}")
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(LOOK_SECONDS)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Application:
    """Wants root, for chroot. All that it made is gone when it is closed."""

    def __init__(self, layers):
        self.work = tempfile.mkdtemp(prefix="image-application.")
        self.root = os.path.join(self.work, "root")
        self.api = self.process = None
        for layer in layers:
            subprocess.run(["cp", "-a", layer + "/.", self.root], check=True)
        # As in the image: the JVM believes its cache of classes only for jars of the same path, size and time.
        for folder, folders, files in os.walk(self.root):
            for name in folders + files:
                os.utime(os.path.join(folder, name), (0, 0), follow_symlinks=False)
        for name in ("proc", "dev", "sys", "tmp"):
            os.makedirs(os.path.join(self.root, name), exist_ok=True)

    def __enter__(self):
        return self

    def start(self, command, environment):
        """Returns after how many seconds it said that it has started."""
        ports = os.path.join(self.work, "port")
        self.api = subprocess.Popen([os.path.join(HERE, "empty-api"), ports])
        wait_for("the API server", START_SECONDS, lambda: os.path.exists(ports), self.api)
        port = free_port()
        self.base = f"http://127.0.0.1:{port}/q/"
        given = dict(each.split("=", 1) for each in environment)
        given.update({
            "KUBERNETES_MASTER": "http://127.0.0.1:" + open(ports).read(), "QUARKUS_HTTP_HOST": "127.0.0.1",
            "QUARKUS_HTTP_PORT": str(port), "POD_NAMESPACE": "stasis-system", "STASIS_NAMESPACE": "stasis-system",
            "POD_NAME": "training", "NODE_NAME": "training", "HOSTNAME": "training", "PATH": "/usr/bin"})
        script = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec "$1" "$0" "${@:2}"'
        begin = time.monotonic()
        with open(os.path.join(self.work, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", "bash", "-c", script, self.root, shutil.which("chroot"), *command],
                env=given, stdout=log, stderr=log, start_new_session=True)
        wait_for("the start", START_SECONDS, lambda: answers(self.base + "health/started"), self.process)
        took = time.monotonic() - begin
        for _ in range(3):
            for page in ("health/live", "health/ready", "metrics"):
                answers(self.base + page)
        return took

    def end(self):
        """It may be started again."""
        self.process.terminate()
        self.process.wait(timeout=END_SECONDS)
        self.api.kill()
        self.api.wait()
        os.unlink(os.path.join(self.work, "port"))

    def log(self):
        with open(os.path.join(self.work, "log"), errors="replace") as file:
            return file.read()

    def __exit__(self, *_):
        for process in (self.process, self.api):
            if process and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
        shutil.rmtree(self.work, ignore_errors=True)
