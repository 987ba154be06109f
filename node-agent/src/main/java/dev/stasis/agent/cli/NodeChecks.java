package dev.stasis.agent.cli;

import dev.stasis.agent.criu.CriuCheck;
import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Checks everything except GPUs: kernel, cgroups, programs and folders. */
record NodeChecks(EngineOptions engine, Path stateDir) {

  /** The program answers immediately. */
  private static final int ANSWER_SECONDS = 10;

  /** The error of stasis-runtime for wrong usage, which identifies the program. */
  private static final int USAGE = 2;

  List<Finding> run() throws IOException, InterruptedException {
    List<Finding> findings = new ArrayList<>();
    findings.add(user());
    findings.add(
        Finding.ok("kernel", Files.readString(Path.of("/proc/sys/kernel/osrelease")).trim()));
    findings.add(cgroups());
    findings.add(
        Files.exists(Path.of("/proc/self/ns/time"))
            ? Finding.ok("time namespaces", "there")
            : Finding.bad(
                "time namespaces", "none", "requires kernel 5.6 or newer with CONFIG_TIME_NS"));
    findings.add(runtime());
    findings.add(criu());
    findings.add(criuFolder());
    findings.add(state());
    return findings;
  }

  private static Finding user() throws IOException {
    Object uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    return Integer.valueOf(0).equals(uid)
        ? Finding.ok("user", "root")
        : Finding.bad("user", "uid " + uid, "run it as root");
  }

  private static Finding cgroups() {
    if (Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"))) {
      return Finding.ok("cgroups", "version 2");
    }
    return Files.isDirectory(Path.of("/sys/fs/cgroup/freezer"))
        ? Finding.ok("cgroups", "version 1, with the freezer")
        : Finding.bad(
            "cgroups", "version 1 without the freezer", "mount the freezer or use version 2");
  }

  private Finding runtime() throws IOException, InterruptedException {
    Path program = engine.runtime();
    String advice = "build it (make -C runtime), or set --runtime or STASIS_RUNTIME";
    if (!Files.isExecutable(program)) {
      return Finding.bad("stasis-runtime", "none at " + program, advice);
    }
    Process process =
        new ChildStart()
            .start(
                new ProcessBuilder(program.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD));
    if (!process.waitFor(ANSWER_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      return Finding.bad("stasis-runtime", "does not answer: " + program, advice);
    }
    return process.exitValue() == USAGE
        ? Finding.ok("stasis-runtime", program.toString())
        : Finding.bad("stasis-runtime", "another program: " + program, advice);
  }

  private Finding criu() throws IOException, InterruptedException {
    Optional<Path> program = engine.criu();
    if (program.isEmpty()) {
      return Finding.bad(
          "criu", "none", "run bin/setup, or set a static criu with --criu or STASIS_CRIU");
    }
    CriuCheck.Result result = new CriuCheck().check(program.get());
    if (result instanceof CriuCheck.Result.Unusable unusable) {
      return Finding.bad("criu", unusable.why(), "see: " + program.get() + " check");
    }
    CriuCheck.Result.Good good = (CriuCheck.Result.Good) result;
    String found = good.version() + " at " + program.get();
    return good.mended()
        ? Finding.ok("criu", found)
        : Finding.note(
            "criu", found + ", " + CriuCheck.Result.Good.FAULTS, "use the one of bin/setup");
  }

  private Finding criuFolder() throws IOException {
    Path folder = existing(engine.criuDir());
    return mountOptions(folder).contains("noexec")
        ? Finding.bad(
            "criu folder",
            folder + " is mounted noexec",
            "set another folder with --criu-dir or STASIS_CRIU_DIR")
        : Finding.ok("criu folder", engine.criuDir().toString());
  }

  private Finding state() throws IOException {
    Path folder = existing(stateDir);
    if (!Files.isWritable(folder)) {
      return Finding.bad("state folder", stateDir + " cannot be written", "give --state-dir");
    }
    String type = Files.getFileStore(folder).type();
    return type.equals("tmpfs")
        ? Finding.ok("state folder", stateDir + " on tmpfs")
        : Finding.note(
            "state folder",
            stateDir + " on " + type,
            "a tmpfs is better: its content is obsolete after a reboot");
  }

  /** The folder, or its nearest existing parent. */
  static Path existing(Path folder) {
    Path here = folder.toAbsolutePath().normalize();
    while (!Files.isDirectory(here) && here.getParent() != null) {
      here = here.getParent();
    }
    return here;
  }

  private static List<String> mountOptions(Path folder) throws IOException {
    Path real = folder.toRealPath();
    // Of two mounts at one path, the later one is visible.
    return new ProcFs()
        .mounts((int) ProcessHandle.current().pid()).stream()
            .filter(mount -> real.startsWith(mount.mountPoint()))
            .reduce((one, other) -> depth(other) >= depth(one) ? other : one)
            .map(Mount::options)
            .orElse(List.of());
  }

  private static int depth(Mount mount) {
    return Path.of(mount.mountPoint()).getNameCount();
  }
}
