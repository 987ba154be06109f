"""A web server with forked workers (gunicorn) and its client, as most Python services run."""
import http.client
import os
import subprocess
import sys
import time


def application(environ, start_response):
    body = environ["PATH_INFO"][1:].encode() * 2
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def ask(step):
    connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=120)
    try:
        connection.request("GET", f"/{step}")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def main():
    subprocess.Popen(["/bin/gpu-counter", "--mib", "8", "--interval-ms", "100"])
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--workers=3", "--bind=0.0.0.0:8000"]
        + ["--chdir=/program", "--worker-tmp-dir=/dev/shm", "--log-level=error", "web:application"],
        env=os.environ,
    )
    while True:
        try:
            ask("ready")
            break
        except OSError:
            if server.poll() is not None:
                print("BAD server", server.returncode, flush=True)
                return
            time.sleep(0.05)
    step = 0
    while True:
        step += 1
        got = ask(step)
        if got != f"{step}{step}":
            print("BAD answer", got, step, flush=True)
        with open("/data/progress", "a") as progress:
            progress.write(f"{step}\n")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
