"""How long operator and agent take from their start until they answer, and how much memory they then have, in the built images; and how
long "kubectl stasis list" takes. "bin/bench startup --help" tells the options, docs/design/benchmarks.md the method."""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HOME, "images/lib"))
from application import Application  # noqa: E402

MIB = 1 << 20
# What an agent and an operator may take: seconds, MiB.
AIMS = {"agent": (1.0, 192), "operator": (None, 384)}
LIST_AIM = 0.5
# A list that takes this long has hung.
LIST_SECONDS = 60


def unpacked(image, into):
    """The image's config, and its layers as folders."""
    def blob(tar, described):
        return tar.extractfile("blobs/" + described["digest"].replace(":", "/"))

    layers = []
    with tarfile.open(image) as tar:
        index = json.load(tar.extractfile("index.json"))
        manifest = json.load(blob(tar, index["manifests"][0]))
        config = json.load(blob(tar, manifest["config"]))["config"]
        for described in manifest["layers"]:
            folder = os.path.join(into, str(len(layers)))
            with tarfile.open(fileobj=blob(tar, described)) as layer:
                layer.extractall(folder)
            layers.append(folder)
    return config, layers


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        lines = dict(line.split(":", 1) for line in file if line.startswith(("VmRSS", "VmHWM", "RssFile")))
    return {name: int(value.split()[0]) * 1024 / MIB for name, value in lines.items()}


def processor(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load():
    return os.getloadavg()[0]


def median(what, values, digits, unit, aim):
    text = f"{statistics.median(values):.{digits}f} {unit} ({min(values):.{digits}f} to {max(values):.{digits}f}, {len(values)} runs)"
    if aim is not None:
        text += f", aim {aim:g}: " + ("met" if statistics.median(values) <= aim else "MISSED")
    print(f"{what:36}{text}", flush=True)


def of_image(name, options):
    image = os.path.join(options.images, name + ".tar")
    if not os.path.exists(image):
        sys.exit(f"{image}: not there; make it with: images/build {name}")
    with tempfile.TemporaryDirectory(prefix="stasis-bench.", dir="/var/tmp") as folder:
        config, layers = unpacked(image, folder)
        command = [config["Entrypoint"][0], *options.jvm, *config["Entrypoint"][1:]]
        took, worked, seen = [], [], []
        with Application(layers) as application:
            # The first one reads the image's files from the disk, and does not count.
            for run in range(options.repeats + 1):
                start = application.start(command, config.get("Env", []))
                work = processor(application.process.pid)
                # What is loaded in the first moments after is memory too.
                time.sleep(options.settle)
                used = memory(application.process.pid)
                application.end()
                if run:
                    took.append(start)
                    worked.append(work)
                    seen.append(used)
    seconds, mib = AIMS[name]
    median(f"{name}: started after", took, 2, "s", seconds)
    median(f"{name}: of the processor's time", worked, 2, "s", None)
    median(f"{name}: resident", [each["VmRSS"] for each in seen], 0, "MiB", mib)
    median(f"{name}: of which files", [each["RssFile"] for each in seen], 0, "MiB", None)


def of_plugin(options):
    plugin = os.path.join(HOME, "kubectl-stasis/target/kubectl-stasis")
    if not os.path.exists(plugin):
        sys.exit(f"{plugin}: not there; make it with: bin/make-kubectl-stasis")
    environment = dict(os.environ)
    if "KUBECONFIG" in environment and shutil.which("kubectl"):
        kubectl = [shutil.which("kubectl"), "version"]
        subprocess.run(["kubectl", "apply", "--server-side", "-f", os.path.join(HOME, "crds/src/main/resources/crds")],
                       check=True, stdout=subprocess.DEVNULL)
        what = "kubectl stasis list"
    else:
        environment["KUBECTL"] = os.path.join(HOME, "kubectl-stasis/src/main/launcher/sample-kubectl")
        kubectl, what = None, "the same without kubectl"
    times, worked, own = [], [], []
    with tempfile.TemporaryDirectory(prefix="stasis-bench.") as cache:
        environment["XDG_CACHE_HOME"] = cache
        # The first one unpacks the file and keeps the classes.
        for run in range(options.repeats + 1):
            begin, before = time.monotonic(), of_children()
            subprocess.run([plugin, "list", "-A"], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=LIST_SECONDS)
            if run:
                times.append(time.monotonic() - begin)
                worked.append(of_children() - before)
            if kubectl:
                begin = time.monotonic()
                subprocess.run(kubectl, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=LIST_SECONDS)
                own.append(time.monotonic() - begin)
    median(what, times, 2, "s", LIST_AIM)
    median("of the processor's time", worked, 2, "s", None)
    if own:
        median("kubectl version, to compare", own, 2, "s", None)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench startup", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each (default 5)")
    parser.add_argument("--only", default="agent,operator,plugin", help="parts, with commas (default agent,operator,plugin)")
    parser.add_argument("--images", default=os.path.join(HOME, "target/images"), help="where the images lie (default target/images)")
    parser.add_argument("--settle", type=float, default=2, help="seconds from the start until the memory is looked at (default 2)")
    parser.add_argument("--jvm", action="append", default=[], metavar="OPTION", help="another option of the JVM, to see what it does")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {load():.1f} at the start", flush=True)
    for part in options.only.split(","):
        if part == "plugin":
            of_plugin(options)
        else:
            of_image(part, options)
    print(f"load {load():.1f} at the end", flush=True)


main()
