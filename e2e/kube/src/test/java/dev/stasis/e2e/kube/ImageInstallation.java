package dev.stasis.e2e.kube;

import com.marcnuri.helm.Helm;
import dev.stasis.helm.Chart;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stasis as a release of its chart, from the built images, on a cluster whose nodes run on this
 * machine; only the GPUs are simulated.
 */
final class ImageInstallation implements Installation {

  static final String RELEASE = "stasis";
  static final String NAMESPACE = "stasis-system";
  private static final String AGENT = "stasis-agent";
  private static final int GPUS = 2;
  private static final int GPU_MIB = 64;

  private final KubernetesClient admin;
  private final Checkout checkout;
  private final List<LocalNode> nodes;
  private final Path folder;
  private final Map<String, SimulatedNode> gpus = new LinkedHashMap<>();
  private final Shell shell = new Shell();
  private int replaced;

  private ImageInstallation(
      KubernetesClient admin, Checkout checkout, List<LocalNode> nodes, Path folder) {
    this.admin = admin;
    this.checkout = checkout;
    this.nodes = nodes;
    this.folder = folder;
  }

  static ImageInstallation install(
      KubernetesClient admin, Checkout checkout, List<LocalNode> nodes) {
    try {
      Path folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-e2e");
      ImageInstallation made = new ImageInstallation(admin, checkout, nodes, folder);
      try {
        made.loadImages();
        for (LocalNode node : nodes) {
          made.gpus.put(node.name(), SimulatedNode.make(node, checkout, GPUS, GPU_MIB));
        }
        made.installChart();
        new Readiness(admin).await(made.nodes(), made::isReady);
        return made;
      } catch (RuntimeException | Error e) {
        made.keepLogs(Path.of("target/kube-logs/installation"));
        made.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void loadImages() throws IOException {
    Path busybox = Path.of(shell.must("sh", "-c", "command -v busybox").strip());
    Path workload =
        new WorkloadImage(checkout, Files.createDirectories(folder.resolve("image")))
            .write(busybox);
    String kube = nodes.get(0).kube();
    shell.must(kube, "load", workload.toString());
    for (String image : List.of("holder", "operator", "agent")) {
      Path tar = checkout.built("target/images/" + image + ".tar", "bin/e2e --images");
      shell.must(kube, "load", tar.toString());
    }
  }

  /** By helm, for the first node; another one has its own folders, so it gets its own DaemonSet. */
  private void installChart() throws IOException {
    Path chart = checkout.root().resolve("helm/stasis");
    LocalNode first = nodes.get(0);
    new Helm(chart)
        .install()
        .withName(RELEASE)
        .withNamespace(NAMESPACE)
        .createNamespace()
        .withKubeConfig(kubeconfig())
        .withValuesFile(values(first))
        .call();
    for (LocalNode other : nodes.subList(1, nodes.size())) {
      String yaml = new Chart(chart).render(RELEASE, NAMESPACE, Map.of(), List.of(values(other)));
      for (HasMetadata object :
          admin.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items()) {
        if (object instanceof DaemonSet agent) {
          admin.resource(ofItsOwn(agent, other)).create();
        }
      }
    }
  }

  private DaemonSet ofItsOwn(DaemonSet agent, LocalNode node) {
    return new DaemonSetBuilder(agent)
        .editMetadata()
        .withName(daemonSet(node.name()))
        .withNamespace(NAMESPACE)
        .endMetadata()
        .editSpec()
        .editSelector()
        .addToMatchLabels("node", node.name())
        .endSelector()
        .editTemplate()
        .editMetadata()
        .addToLabels("node", node.name())
        .endMetadata()
        .editSpec()
        .editMatchingVolume(volume -> "store".equals(volume.getName()))
        .editHostPath()
        .withPath(Commands.storeOf(folder, node).toString())
        .endHostPath()
        .endVolume()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private Path values(LocalNode node) throws IOException {
    return new ImageValues(folder, nodes).write(node, Installation.of(gpus, node.name()));
  }

  Path kubeconfig() {
    return Path.of(System.getenv("KUBECONFIG"));
  }

  private String daemonSet(String node) {
    return node.equals(nodes.get(0).name()) ? AGENT : AGENT + "-" + node;
  }

  private boolean isReady() {
    return nodes().stream()
        .allMatch(
            node -> {
              DaemonSet agent =
                  admin
                      .apps()
                      .daemonSets()
                      .inNamespace(NAMESPACE)
                      .withName(daemonSet(node))
                      .require();
              return agent.getStatus() != null && agent.getStatus().getNumberReady() == 1;
            });
  }

  /** Gives the agent of a node its image under another name, as an upgrade does. */
  void replaceAgent(String node) {
    replaced++;
    String image = "stasis.dev/agent:e2e-" + replaced;
    for (LocalNode each : nodes) {
      shell.must(
          "ctr",
          "-a",
          each.criSocket().toString(),
          "-n",
          "k8s.io",
          "images",
          "tag",
          "stasis.dev/agent:e2e",
          image);
    }
    shell.must(
        "kubectl", "-n", NAMESPACE, "set", "image", "ds/" + daemonSet(node), "agent=" + image);
  }

  /** Waits until the agent that was asked for last is there and ready. */
  void awaitAgent(String node) {
    shell.must(
        "kubectl", "-n", NAMESPACE, "rollout", "status", "ds/" + daemonSet(node), Scenario.TIMEOUT);
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
    return PodComponent.operator(shell, NAMESPACE);
  }

  @Override
  public Component agent(String node) {
    return PodComponent.agent(shell, NAMESPACE, node);
  }

  @Override
  public boolean simulated() {
    return true;
  }

  @Override
  public void fault(String node, String call, String what) {
    Installation.of(gpus, node).fault(call, what);
  }

  @Override
  public void clearFaults() {
    gpus.values().forEach(SimulatedNode::clearFaults);
  }

  @Override
  public void endQuarantine(String node) {
    shell.must("rm", "-rf", ImageValues.stateOf(folder, node) + "/fenced");
    agent(node).kill();
  }

  @Override
  public void keepLogs(Path kept) {
    new Evidence(shell, kept.resolve(NAMESPACE)).keep(NAMESPACE, NAMESPACE);
  }

  @Override
  public void close() {
    Helm.uninstall(RELEASE)
        .withNamespace(NAMESPACE)
        .withKubeConfig(kubeconfig())
        .noHooks()
        .ignoreNotFound()
        .call();
    shell.run("kubectl", "-n", NAMESPACE, "delete", "ds", "--all", Scenario.TIMEOUT);
    // Pods of finished jobs, such as that of the uninstall, stay.
    String components = "app.kubernetes.io/component in (agent, operator)";
    shell.run(
        "kubectl",
        "-n",
        NAMESPACE,
        "wait",
        "--for=delete",
        "pods",
        "-l",
        components,
        Scenario.TIMEOUT);
    gpus.values().forEach(SimulatedNode::close);
    shell.run("rm", "-rf", folder.toString(), "/run/" + folder.getFileName());
  }
}
