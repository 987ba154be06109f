package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/**
 * Operator and agents as processes of this machine, beside a cluster whose nodes run on it too;
 * each with the service account of the chart and nothing more, the GPUs simulated.
 */
final class LocalInstallation implements Installation {

  static final String NAMESPACE = "stasis-system";

  /** Two per node: one for a workload, one for the target that takes its place. */
  static final int GPUS = 2;

  private static final int GPU_MIB = 64;

  private final Checkout checkout;
  private final Path folder;
  private final Map<String, SimulatedNode> gpus = new LinkedHashMap<>();
  private final Map<String, LocalProcess> agents = new LinkedHashMap<>();
  private final List<LocalNode> nodes;
  private final LocalProcess operator;
  private final Collector collector;

  private LocalInstallation(
      Checkout checkout,
      Path folder,
      List<LocalNode> nodes,
      LocalProcess operator,
      Collector collector) {
    this.collector = collector;
    this.checkout = checkout;
    this.folder = folder;
    this.nodes = nodes;
    this.operator = operator;
  }

  static LocalInstallation install(
      KubernetesClient admin, Checkout checkout, List<LocalNode> nodes) {
    Shell shell = new Shell();
    try {
      Path folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-e2e");
      new InstalledChart(checkout, shell).apply(admin, NAMESPACE);
      Identity identity = new Identity(admin, folder);
      Collector collector = Collector.start();
      System.out.println("operator and agents run with " + ShippedJava.find().program());
      Commands commands = new Commands(checkout, folder, NAMESPACE, collector.endpoint());
      LocalInstallation made =
          new LocalInstallation(
              checkout,
              folder,
              nodes,
              commands.operator(identity.kubeconfig(NAMESPACE, "stasis-operator")),
              collector);
      try {
        made.loadImages(shell);
        defaultStore(shell);
        for (LocalNode node : nodes) {
          SimulatedNode simulated = SimulatedNode.make(node, checkout, GPUS, GPU_MIB);
          made.gpus.put(node.name(), simulated);
          Path kubeconfig = identity.kubeconfigOn(node.name(), NAMESPACE, "stasis-agent");
          made.agents.put(node.name(), commands.agent(node, simulated, kubeconfig));
        }
        new ScrapeTargets(System.getenv("STASIS_E2E_TARGETS")).write(made.operator, made.agents);
        commands.archiveClasses(made.operator, made.agents.values().iterator().next());
        made.operator.start();
        made.agents.values().forEach(LocalProcess::start);
        new Readiness(admin).await(made.nodes(), made::isReady);
        return made;
      } catch (RuntimeException | Error e) {
        made.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void loadImages(Shell shell) throws IOException {
    Path busybox = Path.of(shell.must("sh", "-c", "command -v busybox").strip());
    Path workload =
        new WorkloadImage(checkout, Files.createDirectories(folder.resolve("image")))
            .write(busybox);
    String kube = nodes.get(0).kube();
    shell.must(kube, "load", workload.toString());
    shell.must(
        checkout.built("images/build", "git checkout").toString(),
        "holder",
        "--tag",
        "e2e",
        "--out",
        folder.toString());
    shell.must(kube, "load", folder.resolve("holder.tar").toString());
  }

  static void defaultStore(Shell shell) {
    Shell.Result result =
        shell.feed(
            """
            apiVersion: stasis.dev/v1beta1
            kind: GpuCheckpointStore
            metadata:
              name: local
            spec:
              location: {nodeLocal: {path: %s}}
              default: true
              options: {minFree: 0}
            """
                .formatted(Commands.STORE),
            "kubectl",
            "apply",
            "-f",
            "-");
    if (!result.ok()) {
      throw new IllegalStateException("the store: " + result.output());
    }
  }

  /** Where operator and agents send their traces. */
  Collector collector() {
    return collector;
  }

  /** Artifacts of that namespace in all stores. */
  List<Path> artifacts(String namespace) {
    return entries(namespace, name -> !name.startsWith("."));
  }

  /** The agents' own records beside the artifacts. */
  List<Path> records(String namespace) {
    return entries(namespace, name -> name.startsWith("."));
  }

  private List<Path> entries(String namespace, Predicate<String> names) {
    List<Path> entries = new ArrayList<>();
    for (LocalNode node : nodes) {
      Path folder = Commands.storeOf(this.folder, node).resolve(namespace);
      String[] found = folder.toFile().list((all, name) -> names.test(name));
      List.of(found == null ? new String[0] : found)
          .forEach(name -> entries.add(folder.resolve(name)));
    }
    return entries;
  }

  /**
   * Gives the agent of that node a small disk for the artifacts of a namespace, until it is started
   * anew: it sees a store of its own.
   */
  void smallDisk(String node, String namespace, String size) throws IOException {
    Files.createDirectories(Commands.storeOf(folder, node(node)).resolve(namespace));
    withItsMounts(
        node,
        "mount -t tmpfs -o size=%s,mode=0700 none \"$0\"".formatted(size),
        Commands.STORE + "/" + namespace);
  }

  private void withItsMounts(String node, String script, String path) {
    new Shell()
        .must("nsenter", "--mount", "--target", withItsStore(node), "sh", "-c", script, path);
  }

  /** The agent of that node, when it sees its own store; what is mounted before that is hidden. */
  private String withItsStore(String node) {
    String pid = Long.toString(Installation.of(agents, node).pid());
    Path mounts = Path.of("/proc", pid, "mounts");
    Awaitility.await("the store of the agent of node " + node)
        .atMost(Scenario.PATIENCE)
        .until(
            () ->
                Files.readAllLines(mounts).stream()
                    .anyMatch(line -> line.split(" ", -1)[1].equals(Commands.STORE)));
    return pid;
  }

  private boolean isReady() {
    operator.checkAlive();
    agents.values().forEach(LocalProcess::checkAlive);
    return operator.isReady() && agents.values().stream().allMatch(LocalProcess::isReady);
  }

  @Override
  public String namespace() {
    return NAMESPACE;
  }

  @Override
  public List<String> nodes() {
    return nodes.stream().map(LocalNode::name).toList();
  }

  @Override
  public String workloadImage() {
    return WorkloadImage.NAME;
  }

  @Override
  public Component operator() {
    return operator;
  }

  @Override
  public Component agent(String node) {
    return Installation.of(agents, node);
  }

  @Override
  public boolean simulated() {
    return true;
  }

  @Override
  public void fault(String node, String call, String what) {
    Installation.of(gpus, node).fault(call, what);
  }

  /** Gives the agent of a node that was made anew a token of it. */
  void identify(KubernetesClient admin, String node) {
    new Identity(admin, folder).kubeconfigOn(node, NAMESPACE, "stasis-agent");
  }

  /** What the agent of that node proves itself with. */
  Path kubeconfigOfAgent(String node) {
    return folder.resolve("stasis-agent-" + node + ".kubeconfig");
  }

  /** Starts the agent of that node with more in its environment; with nothing, as it was. */
  void restartAgent(String node, Map<String, String> environment) {
    Installation.of(agents, node).restartWith(environment);
  }

  /**
   * Fills the store of that agent's node, until it is started anew: it sees a small one of its own.
   */
  void fullDisk(String node) {
    withItsMounts(
        node,
        "mount -t tmpfs -o size=1m,mode=0700 none \"$0\" && head -c 1040000 /dev/zero"
            + " >\"$0/full\"",
        Commands.STORE);
  }

  /** Neither its kubelet nor its agent says or hears a word; what runs there runs on. */
  void cutOff(String node) {
    kubelet(node, "STOP");
    Installation.of(agents, node).kill();
  }

  /** As it was. */
  void heal(String node) {
    kubelet(node, "CONT");
    Installation.of(agents, node).start();
  }

  private void kubelet(String node, String signal) {
    signal(node(node).folder().resolve("kubelet.pid"), signal);
  }

  private LocalNode node(String name) {
    return nodes.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
  }

  /** Stops the API server, or lets it go on. */
  void apiServer(String signal) {
    signal(nodes.get(0).folder().resolveSibling("cp").resolve("apiserver.pid"), signal);
  }

  private static void signal(Path pid, String signal) {
    String script = "read pid _ <\"$1\" && kill -\"$2\" \"$pid\"";
    new Shell().must("sh", "-c", script, "sh", pid.toString(), signal);
  }

  /** The simulated GPUs of that node. */
  SimulatedNode gpus(String node) {
    return Installation.of(gpus, node);
  }

  /** What a workload with that much device memory printed; empty when every line is right. */
  String wrongNumbers(List<String> steps, int mib) {
    Shell.Result result =
        new Shell()
            .feed(
                String.join("\n", steps) + "\n",
                checkout.built("sim-gpu/target/gpu-counter", "make -C sim-gpu").toString(),
                "--verify",
                "/dev/stdin",
                "--mib",
                Integer.toString(mib));
    return result.ok() ? "" : result.output();
  }

  @Override
  public void clearFaults() {
    gpus.values().forEach(SimulatedNode::clearFaults);
  }

  @Override
  public void endQuarantine(String node) {
    new Shell().must("rm", "-rf", Commands.stateOf(folder, node(node)) + "/fenced");
    agent(node).kill();
    agent(node).start();
  }

  @Override
  public void keepLogs(Path kept) {
    try {
      Files.createDirectories(kept);
      keep(operator.logFile(), kept.resolve("operator.log"));
      for (LocalNode node : nodes) {
        LocalProcess agent = agents.get(node.name());
        if (agent != null) {
          keep(agent.logFile(), kept.resolve("agent-" + node.name() + ".log"));
        }
        keep(Path.of(node.folder() + "/kubelet.log"), kept.resolve("kubelet-" + node.name()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void keep(Path log, Path kept) throws IOException {
    if (Files.exists(log)) {
      Files.copy(log, kept, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Override
  public void close() {
    operator.close();
    agents.values().forEach(LocalProcess::close);
    gpus.values().forEach(SimulatedNode::close);
    collector.close();
    new Shell().run("rm", "-rf", folder.toString());
  }
}
