package dev.stasis.agent.testing;

import dev.stasis.agent.preflight.Requirement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * A program of this machine that runs in a test's container and starts a counter: it writes a line
 * to /data/progress for each step that was right, and prints BAD for one that was not.
 */
public enum Program {
  /** Workers by fork. */
  PYTHON_FORKED_WORKERS("python3", "", "workers.py", "fork"),
  /** Workers by exec, and the tracker of their resources. */
  PYTHON_SPAWNED_WORKERS("python3", "", "workers.py", "spawn"),
  /** A server whose client reads a stream. */
  PYTHON_ASYNCIO("python3", "", "server.py"),
  /** The same for clients of IPv6. */
  PYTHON_ASYNCIO_IPV6("python3", "", "server.py", "ipv6"),
  /** The same by libuv. */
  PYTHON_UVLOOP("python3", "uvloop", "server.py", "uvloop"),
  /** A terminal of its own. */
  PYTHON_TERMINAL("python3", "", "terminal.py"),
  /** A kernel that a client asks over ZeroMQ. */
  JUPYTER_KERNEL("python3", "ipykernel", "kernel.py"),
  /** A web server with forked workers. */
  GUNICORN("python3", "gunicorn", "web.py"),
  /** Actors on one node. */
  RAY("python3", "ray", "actors.py"),
  /** A program of Node.js without its ring. */
  NODE("node", "", "http.js"),
  /** And with it. */
  NODE_IO_URING("node", "", "http.js"),
  /** A program of Go as it is by default: from 1.24 on its listeners are of MPTCP. */
  GO("go", "", "go/main.go"),
  /** And without MPTCP. */
  GO_WITHOUT_MPTCP("go", "", "go/main.go");

  /** A step takes milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private static final String LIBRARIES = "/lib/x86_64-linux-gnu";

  private final String interpreter;
  private final String module;
  private final String script;
  private final List<String> arguments;

  Program(String interpreter, String module, String script, String... arguments) {
    this.interpreter = interpreter;
    this.module = module;
    this.script = script;
    this.arguments = List.of(arguments);
  }

  /** What rules it out, when anything does. */
  public Optional<Requirement> refused() {
    return switch (this) {
      case GO -> Optional.of(Requirement.MPTCP);
      case PYTHON_TERMINAL -> Optional.of(Requirement.TERMINAL);
      default -> Optional.empty();
    };
  }

  /** What this machine lacks to run it; empty when nothing. */
  public String missing() {
    if (interpreter.equals("go")) {
      Sh.Result version = new Sh().run("sh", "-c", "go env GOVERSION");
      return version.code() == 0 && version.output().matches("(?s)go1\\.(2[4-9]|[3-9]).*")
          ? ""
          : "go 1.24 or newer: put it on PATH";
    }
    if (!Files.isExecutable(binary())) {
      return binary()
          + ": apt-get install "
          + (interpreter.equals("node") ? "nodejs" : interpreter);
    }
    if (!module.isEmpty() && new Sh().run("sh", "-c", modules() + " " + module).code() != 0) {
      return "python module "
          + module
          + ": pip install it into a folder, and set STASIS_TEST_PYTHON";
    }
    return "";
  }

  private String modules() {
    return "PYTHONPATH=\"$STASIS_TEST_PYTHON\" "
        + binary()
        + " -c 'import sys, importlib; importlib.import_module(sys.argv[1])'";
  }

  private Path binary() {
    return Path.of("/usr/bin").resolve(interpreter);
  }

  /** A container that runs it. */
  public ContainerSpec in(ContainerSpec counter, Path folder) throws IOException {
    Path scripts = folder.resolve(name());
    Files.createDirectories(scripts);
    Path file = scripts.resolve(Path.of(script).getFileName());
    try (var source =
        Objects.requireNonNull(
            Program.class.getResourceAsStream("/dev/stasis/agent/engine/programs/" + script))) {
      Files.write(file, source.readAllBytes());
    }
    Map<String, Path> mounts = new LinkedHashMap<>();
    mounts.put("/program", scripts);
    Map<String, String> environment = new LinkedHashMap<>();
    List<String> command = new ArrayList<>();
    if (interpreter.equals("go")) {
      Files.writeString(scripts.resolve("go.mod"), "module program\n\ngo 1.24\n");
      String build = "cd \"$1\" && GOTOOLCHAIN=local CGO_ENABLED=0 go build -o server .";
      new Sh().must("sh", "-c", build, "sh", scripts.toString());
      command.add("/program/server");
      if (this == GO_WITHOUT_MPTCP) {
        environment.put("GODEBUG", "multipathtcp=0");
      }
    } else {
      mounts.put("/host", Path.of("/usr"));
      environment.put("LD_LIBRARY_PATH", "/usr/lib/x86_64-linux-gnu:/host" + LIBRARIES);
      command.add("/host/bin/" + binary().toRealPath().getFileName());
      command.add("/program/" + file.getFileName());
      command.addAll(arguments);
    }
    String more = System.getenv("STASIS_TEST_PYTHON");
    if (interpreter.equals("python3")) {
      environment.put("PYTHONDONTWRITEBYTECODE", "1");
      environment.put("PYTHONHOME", "/host");
      environment.put("HOME", "/tmp");
      if (more != null) {
        mounts.put("/modules", Path.of(more));
        environment.put("PYTHONPATH", "/modules");
      }
    }
    if (this == NODE_IO_URING) {
      environment.put("UV_USE_IO_URING", "1");
    }
    return counter.withProgram(command).withEnvironment(environment).withBinds(mounts);
  }

  /** Gives a container the network of a pod. */
  public void network(GpuContainer container, int host) {
    for (String command :
        List.of(
            "ip link add eth0 type veth peer name peer0",
            "ip addr add 10.9.0.%d/24 dev eth0".formatted(host),
            "ip link set peer0 up",
            "ip link set eth0 up",
            "ip link set lo up")) {
      new Sh().must("sh", "-c", "nsenter --net=/proc/" + container.pid() + "/ns/net " + command);
    }
  }

  /** Waits until it has done so many further steps. */
  public void awaitProgress(GpuContainer container, int more) {
    int before = progress(container);
    Awaitility.await("steps of " + this)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .failFast(
            () -> {
              List<String> lines = container.lines();
              if (lines.stream().anyMatch(line -> line.contains("BAD") || line.contains("Error"))) {
                throw new AssertionError(lines);
              }
            })
        .until(() -> progress(container) >= before + more);
    container.awaitSteps(2);
  }

  private static int progress(GpuContainer container) {
    try {
      Path file = container.upper().resolve("data/progress");
      return Files.exists(file) ? Files.readAllLines(file).size() : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
