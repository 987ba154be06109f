package dev.stasis.agent.testing;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * The first node of a real cluster and a namespace of the test's own on it. Pods are started
 * without a scheduler's help and taken away at the end.
 */
public final class KubeNode implements AutoCloseable {

  /** From nothing to Running takes 2 s; a busy machine takes many times that. */
  private static final Duration STARTED = Duration.ofSeconds(120);

  private final KubernetesClient client;
  private final Path folder;
  private final Path socket;
  private final String namespace = "t-" + UUID.randomUUID().toString().substring(0, 8);

  private KubeNode(KubernetesClient client, Path folder, Path socket) {
    this.client = client;
    this.folder = folder;
    this.socket = socket;
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();
    // A pod is refused until its service account has been made.
    await()
        .atMost(STARTED)
        .until(
            () ->
                client.serviceAccounts().inNamespace(namespace).withName("default").get() != null);
  }

  /** That node; the test is skipped where there is none. */
  public static KubeNode required() {
    String why = "skipped: no node of a cluster, KUBE_NODE1_SOCKET is not set; see bin/with-kube 1";
    String socket = System.getenv("KUBE_NODE1_SOCKET");
    String folder = System.getenv("KUBE_NODE1_DIR");
    assumeTrue(socket != null && folder != null, why);
    return new KubeNode(
        new KubernetesClientBuilder().build(),
        Path.of(Optional.ofNullable(folder).orElseThrow()),
        Path.of(Optional.ofNullable(socket).orElseThrow()));
  }

  public KubernetesClient client() {
    return client;
  }

  public String name() {
    return "node1";
  }

  public String namespace() {
    return namespace;
  }

  /** Where containerd listens. */
  public Path criSocket() {
    return socket;
  }

  /** Where the kubelet lists devices. */
  public Path podResourcesSocket() {
    return folder.resolve("kubelet/pod-resources/kubelet.sock");
  }

  /** The folder of the node's kubelet. */
  public Path kubeletDir() {
    return folder.resolve("kubelet");
  }

  /** Gives the node these devices, named as {@code kube gpus} wants them. */
  public void gpus(String... devices) {
    String kube = System.getenv("STASIS_KUBE");
    assumeTrue(kube != null, "skipped: no device plugin, STASIS_KUBE is not set");
    String[] command = new String[devices.length + 3];
    command[0] = Optional.ofNullable(kube).orElseThrow();
    command[1] = "gpus";
    command[2] = name();
    System.arraycopy(devices, 0, command, 3, devices.length);
    new Sh().must(command);
  }

  /** A pod of busybox on this node, to be completed. */
  public PodBuilder pod(String name, String... command) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withNewSpec()
        .withNodeName(name())
        .withDnsPolicy("Default")
        .withTerminationGracePeriodSeconds(0L)
        .addNewContainer()
        .withName("main")
        .withImage("docker.io/library/busybox:test")
        .withImagePullPolicy("IfNotPresent")
        .withCommand(command)
        .endContainer()
        .endSpec();
  }

  /** Makes the pod and waits until it runs. */
  public Pod start(Pod pod) {
    client.resource(pod).create();
    await().atMost(STARTED).until(() -> "Running".equals(now(pod).getStatus().getPhase()));
    return now(pod);
  }

  /** The pod as it is now. */
  public Pod now(Pod pod) {
    return client.pods().inNamespace(namespace).withName(pod.getMetadata().getName()).require();
  }

  @Override
  public void close() {
    client.namespaces().withName(namespace).delete();
    await()
        .atMost(STARTED)
        .until(() -> client.pods().inNamespace(namespace).list().getItems().isEmpty());
    client.close();
  }
}
