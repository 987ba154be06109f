package dev.stasis.e2e.kube;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** How operator and agents are started on a machine that runs the nodes of its cluster itself. */
final class Commands {

  /** Where every agent sees a store of its own, as on nodes of their own. */
  static final String STORE = "/var/lib/stasis-e2e";

  /** A variable: the file with the boot id that an agent is to see; none: this machine's. */
  static final String BOOT_ID = "STASIS_E2E_BOOT_ID";

  /** Made by images/build, loaded into the nodes. */
  private static final String HOLDER_IMAGE = "stasis.dev/holder:e2e";

  /** Small and quick to start: some of them run on one small machine. */
  private static final List<String> JVM = List.of("-XX:+UseSerialGC", "-Xmx256m", "-Xshare:auto");

  private static final List<String> FIRST_COMPILER = List.of("-XX:TieredStopAtLevel=1");

  /**
   * An agent's digests and ciphers need the second compiler, which otherwise takes half of its
   * processor time: it compiles what runs ten times as often as usual, but digests and ciphers a
   * hundred times sooner, because they are called seldom, with much data.
   */
  private static final List<String> FEW_COMPILED =
      List.of(
          "-XX:Tier4InvocationThreshold=50000",
          "-XX:Tier4MinInvocationThreshold=6000",
          "-XX:Tier4CompileThreshold=150000",
          "-XX:Tier4BackEdgeThreshold=400000",
          "-XX:CompileCommand=quiet",
          "-XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.001",
          "-XX:CompileCommand=CompileThresholdScaling,sun.security.provider.*::*,0.001");

  /** Linux gives those from 32768 on to connections. */
  private static final int LAST_PORT = 32_000;

  private static final AtomicInteger NEXT_PORT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(20_000, 30_000));

  private final Checkout checkout;
  private final Path folder;
  private final String namespace;
  private final String collector;
  private final Map<String, ClassArchive> archives;

  /**
   * How.
   *
   * @param collector where traces go
   */
  Commands(Checkout checkout, Path folder, String namespace, String collector) throws IOException {
    this.collector = collector;
    this.checkout = checkout;
    this.folder = folder;
    this.namespace = namespace;
    this.archives =
        Map.of(
            "operator", new ClassArchive(folder, "operator"),
            "node-agent", new ClassArchive(folder, "node-agent"));
  }

  /** Starts these once, so that all later starts of the operator and of agents take less time. */
  void archiveClasses(LocalProcess operator, LocalProcess agent) throws IOException {
    archive("operator").write(operator);
    archive("node-agent").write(agent);
  }

  private ClassArchive archive(String module) {
    return Objects.requireNonNull(archives.get(module), module);
  }

  /** The folder that is {@link #STORE} for the agent of that node. */
  static Path storeOf(Path folder, LocalNode node) {
    return disk(folder, node).resolve("store");
  }

  /** The folder with the records of the agent of that node. */
  static Path stateOf(Path folder, LocalNode node) {
    return disk(folder, node).resolve("state");
  }

  private static Path disk(Path folder, LocalNode node) {
    return folder.resolve("disk-" + node.name());
  }

  LocalProcess operator(Path kubeconfig) throws IOException {
    return operator(kubeconfig, java("operator"));
  }

  /** One with a JVM of its own. */
  LocalProcess operator(Path kubeconfig, String java, List<String> options) throws IOException {
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(options);
    command.addAll(List.of("-jar", jar("operator").toString()));
    return operator(kubeconfig, command);
  }

  private LocalProcess operator(Path kubeconfig, List<String> command) throws IOException {
    Map<String, String> environment = environment(kubeconfig);
    environment.put("POD_NAME", "stasis-operator-e2e");
    // As in its image: glibc would keep memory in eight arenas of each processor.
    environment.put("MALLOC_ARENA_MAX", "2");
    environment.put("STASIS_OPERATOR_HOLDER_IMAGE", HOLDER_IMAGE);
    // No service leads to a process of this machine, but the API server is one, too.
    String port = Integer.toString(freePort());
    environment.put("STASIS_WEBHOOK_PORT", port);
    environment.put("STASIS_WEBHOOK_URL", "https://127.0.0.1:" + port);
    // Four times as long as kubectl drain waits between two requests.
    environment.put("STASIS_EVICTION_GIVEN_UP_AFTER", "20s");
    return new LocalProcess("operator", command, environment, log("operator"));
  }

  LocalProcess agent(LocalNode node, SimulatedNode gpus, Path kubeconfig) throws IOException {
    Path disk = disk(folder, node);
    List<String> command = new ArrayList<>();
    command.addAll(ownStore(node));
    command.addAll(java("node-agent"));
    Map<String, String> environment = environment(kubeconfig);
    environment.put("POD_NAME", "stasis-agent-" + node.name());
    environment.put("NODE_NAME", node.name());
    environment.put("STASIS_SIM_GPU", gpus.folder().toString());
    environment.put("LD_LIBRARY_PATH", gpus.libraries().toString());
    environment.put("STASIS_AGENT_CRI_SOCKET", node.criSocket().toString());
    environment.put("STASIS_AGENT_KUBELET_DIR", node.folder().resolve("kubelet").toString());
    environment.put("STASIS_AGENT_STATE_DIR", stateOf(folder, node).toString());
    environment.put("STASIS_AGENT_CRIU_DIR", disk.resolve("criu").toString());
    environment.put("STASIS_AGENT_MEMORY_STAGE", gpus.folder().resolve("stage").toString());
    environment.put(
        "STASIS_AGENT_RUNTIME",
        checkout.built("runtime/target/stasis-runtime", "make -C runtime").toString());
    environment.put("STASIS_AGENT_CRIU", criu(checkout).toString());
    environment.put(
        "STASIS_AGENT_KEEPER",
        checkout.built("direct/target/stasis-keeper", "make -C direct").toString());
    // Memory of this machine, which both nodes are.
    environment.put("STASIS_AGENT_ANCHOR_GRACE", "5s");
    // Both agents listen for streams on this machine.
    environment.put("STASIS_AGENT_TRANSFER_PORT", "0");
    environment.put("STASIS_AGENT_TRANSFER_ADDRESS", "127.0.0.1");
    // A heartbeat by which a test sees soon that an agent is silent.
    environment.put("STASIS_AGENT_HEARTBEAT_EVERY", "10s");
    return new LocalProcess("agent of " + node.name(), command, environment, log(node.name()));
  }

  static Path criu(Checkout checkout) {
    String named = System.getenv("STASIS_CRIU");
    return named == null ? checkout.built(".tools/bin/criu", "bin/setup") : Path.of(named);
  }

  /**
   * Both nodes are this machine, and the path of a store is the same on all nodes: so each agent
   * has a mount namespace in which that path is a folder of its own, and its boot another one when
   * it is told so. The process stays the same one, so that a kill hits the agent.
   */
  private List<String> ownStore(LocalNode node) throws IOException {
    Path own = Files.createDirectories(storeOf(folder, node));
    Files.createDirectories(Path.of(STORE));
    return List.of(
        "unshare",
        "--mount",
        "--propagation",
        "slave",
        "sh",
        "-c",
        """
        mount --bind "$1" %1$s && shift
        [ -z "${%2$s:-}" ] || mount --bind "$%2$s" /proc/sys/kernel/random/boot_id
        exec "$@"
        """
            .formatted(STORE, BOOT_ID),
        "sh",
        own.toString());
  }

  private List<String> java(String module) {
    List<String> command = new ArrayList<>(List.of(ShippedJava.find().program()));
    command.addAll(JVM);
    command.add(archive(module).option());
    command.addAll(module.equals("operator") ? FIRST_COMPILER : FEW_COMPILED);
    command.addAll(List.of("-jar", jar(module).toString()));
    return command;
  }

  private Path jar(String module) {
    return checkout.built(
        module + "/target/quarkus-app/quarkus-run.jar",
        "mvn -pl " + module + " -am package -DskipTests");
  }

  private Map<String, String> environment(Path kubeconfig) throws IOException {
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("KUBECONFIG", kubeconfig.toString());
    environment.put("POD_NAMESPACE", namespace);
    environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
    environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
    environment.put("QUARKUS_HTTP_PORT", Integer.toString(freePort()));
    return environment;
  }

  /**
   * One that the kernel gives to nobody who connects: a program that is killed and started again
   * would find it taken.
   */
  static int freePort() throws IOException {
    while (true) {
      int port = NEXT_PORT.getAndIncrement();
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        if (port >= LAST_PORT) {
          throw e;
        }
      }
    }
  }

  private Path log(String name) {
    return folder.resolve(name + ".log");
  }
}
