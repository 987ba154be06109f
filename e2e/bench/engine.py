"""The engine in its resident process, and the tools that all ways use."""
import json
import os
import select
import signal
import subprocess

from programs import Wrong

MAIN = "dev.stasis.e2e.bench.EngineBench"


class Tools:
    """Where the programs are; bin/bench finds them."""

    def __init__(self, work):
        get = os.environ.get
        self.work = work
        self.java, self.classes = get("BENCH_JAVA", "java"), get("BENCH_CLASSES", "")
        self.criu, self.runc = get("BENCH_CRIU", "criu"), get("BENCH_RUNC", "runc")
        self.runtime, self.programs = get("BENCH_RUNTIME", ""), get("BENCH_PROGRAMS", "")
        self.plugin = get("BENCH_PLUGIN") or None
        self.simulated = bool(get("STASIS_SIM_GPU"))

    @property
    def upstream_criu(self):
        """criu without our patch, where it was built with its plugin (e2e/bench/build-plugin); otherwise ours."""
        return self.plugin + "/bin/criu" if self.plugin else self.criu

    def plain_environment(self):
        """For programs outside containers: where libcuda is, and what the upstream criu is linked to."""
        own = "/usr/local/nvidia/lib64:/usr/local/cuda/lib64"
        if self.simulated:
            own = os.path.dirname(os.environ["STASIS_SIM_LIBCUDA"])
        return dict(os.environ, LD_LIBRARY_PATH=f"{self.plugin}/lib:{own}" if self.plugin else own)

    def box_environment(self):
        return dict(os.environ, WORK=self.work, RUNC=self.runc, HOLDER_RUNTIME=self.runtime, BOX_PROGRAMS=self.programs)


class Engine:
    """One resident engine; a request a line."""

    def __init__(self, tools, scratch, threads):
        self.log = scratch.path + "/engine.log"
        version = subprocess.run([tools.criu, "--version"], capture_output=True, text=True, timeout=20).stdout.split()[1]
        environment = dict(os.environ)
        if tools.simulated:
            folder = os.path.dirname(os.environ["STASIS_SIM_LIBCUDA"])
            environment.update(STASIS_LIBCUDA=folder + "/libcuda.so.1", STASIS_LIBNVML=folder + "/libnvidia-ml.so.1")
        command = [
            tools.java, "-Xmx192m", "-XX:+UseSerialGC", "-cp", tools.classes, MAIN, scratch.sub("state"),
            scratch.sub("stage", True), scratch.sub("criu"), tools.runtime, tools.criu, version, str(threads)]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True)

    def ask(self, seconds, **request):
        self.process.stdin.write((json.dumps(request) + "\n").encode())
        self.process.stdin.flush()
        # Nothing else is written there, so a line that has begun comes to its end.
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.kill()
            with open(self.log, errors="replace") as log:
                print(log.read()[-2000:], flush=True)
            raise SystemExit(f"bench: the engine gave no answer to {request} within {seconds} s")
        return json.loads(line)

    def must(self, wanted, seconds, **request):
        answer = self.ask(seconds, **request)
        if answer.get("outcome") != wanted:
            raise Wrong(f"{request['do']}: expected {wanted}, got {answer.get('outcome')}: {answer.get('message')}")
        return answer

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def close(self):
        """Ends its input: it thaws whatever is frozen, and goes."""
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
