"""Writes an OCI configuration: box-config.py FOLDER COMMAND...

The environment says what the box is like: BOX_KIND (workload, holder), BOX_GPUS (numbers with commas, or none), BOX_UID,
BOX_MEMORY (bytes), BOX_ENV (NAME=VALUE words). With STASIS_SIM_GPU and STASIS_SIM_LIBCUDA the GPUs are simulated ones.
"""
import json
import os
import sys

folder, command = sys.argv[1], sys.argv[2:]
uid = int(os.environ.get("BOX_UID", "0"))
gpus = [g for g in os.environ.get("BOX_GPUS", "none").split(",") if g and g != "none"]
simulated = os.environ.get("STASIS_SIM_GPU")
usual = ["CAP_" + c for c in "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE SYS_CHROOT MKNOD".split()]


def mount(target, kind, source, options):
    return {"destination": target, "type": kind, "source": source, "options": options}


def bind(source, target, *options):
    return mount(target, "bind", source, ["rbind", *options])


mounts = [
    mount("/proc", "proc", "proc", []),
    mount("/dev", "tmpfs", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
    mount("/dev/pts", "devpts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]),
    mount("/dev/shm", "tmpfs", "shm", ["nosuid", "noexec", "nodev", "mode=1777", "size=1g"]),
    mount("/dev/mqueue", "mqueue", "mqueue", ["nosuid", "noexec", "nodev"]),
    mount("/sys", "sysfs", "sysfs", ["nosuid", "noexec", "nodev", "ro"]),
    bind("/usr", "/usr", "ro"),
]
if os.path.isdir("/opt"):
    mounts.append(bind("/opt", "/opt", "ro"))
mounts.append(bind(os.environ["BOX_PROGRAMS"], "/data/programs", "ro")) if os.environ.get("BOX_PROGRAMS") else None
devices = []
rules = [{"allow": False, "access": "rwm"}]
for major, minor in ((1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2), (136, None)):
    rule = {"allow": True, "type": "c", "major": major, "access": "rwm"}
    if minor is not None:
        rule["minor"] = minor
    rules.append(rule)
environment = ["PATH=/opt/torch/.venv/bin:/usr/local/bin:/usr/bin:/bin", "HOME=/data"]
if simulated:
    rules = [{"allow": True, "access": "rwm"}]
    mounts.append(bind(simulated + "/nvidiactl", "/dev/nvidiactl"))
    mounts += [bind(f"{simulated}/nvidia{g}", f"/dev/nvidia{g}") for g in gpus]
    mounts.append(bind(os.path.dirname(os.environ["STASIS_SIM_LIBCUDA"]), "/data/lib", "ro"))
    environment.append("LD_LIBRARY_PATH=/data/lib")
elif gpus:
    for path in [f"/dev/nvidia{g}" for g in gpus] + ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"]:
        if os.path.exists(path):
            number = os.stat(path).st_rdev
            devices.append({"path": path, "type": "c", "major": os.major(number), "minor": os.minor(number), "fileMode": 0o666, "uid": 0, "gid": 0})
            rules.append({"allow": True, "type": "c", "major": os.major(number), "minor": os.minor(number), "access": "rwm"})
    environment.append("LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/local/cuda/lib64")
if os.environ.get("BOX_KIND") == "holder":
    mounts.append(bind(folder + "/stasis", "/.stasis"))
environment += os.environ.get("BOX_ENV", "").split()
capabilities = usual if uid == 0 else []
resources = {"devices": rules}
if os.environ.get("BOX_MEMORY"):
    resources["memory"] = {"limit": int(os.environ["BOX_MEMORY"])}
print(json.dumps({
    "ociVersion": "1.0.2",
    "process": {
        "terminal": False, "user": {"uid": uid, "gid": uid}, "args": command, "env": environment, "cwd": "/",
        "capabilities": {"bounding": capabilities, "effective": capabilities, "permitted": capabilities},
        "noNewPrivileges": uid != 0,
        "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
    },
    "root": {"path": folder + "/rootfs"},
    "hostname": "box",
    "mounts": mounts,
    "linux": {
        "cgroupsPath": "/stasis-box/" + open(folder + "/id").read(),
        "resources": resources, "devices": devices,
        "namespaces": [{"type": t} for t in ("pid", "network", "ipc", "uts", "mount")]
        + ([{"type": "cgroup"}] if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else []),
        "maskedPaths": ["/proc/acpi", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
        "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"],
    },
}, indent=1))
