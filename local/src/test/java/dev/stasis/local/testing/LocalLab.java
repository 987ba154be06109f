package dev.stasis.local.testing;

import dev.stasis.local.api.LocalApiServer;
import dev.stasis.local.gpu.GpuSupply;
import dev.stasis.local.host.HostProgram;
import dev.stasis.local.image.LocalImage.Settings;
import dev.stasis.local.image.LocalImages;
import dev.stasis.local.image.ProgramFiles;
import dev.stasis.local.kubelet.Kubelet;
import dev.stasis.local.kubelet.KubeletSettings;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/** An API server and a kubelet of a test's own. */
public final class LocalLab implements AutoCloseable {

  public static final String NODE = "here";

  /** An image with a shell, which is this machine's. */
  public static final String SHELL = "shell:test";

  /** An image with the program that counts on a GPU. */
  public static final String COUNTER = "gpu-counter:test";

  /** A container starts in a fraction of a second; a loaded machine is given time. */
  private static final Duration SOON = Duration.ofSeconds(120);

  private final HostProgram host = new HostProgram();
  private final Path folder;
  private final LocalApiServer api = new LocalApiServer();
  private final KubernetesClient client = api.client();
  private final Kubelet kubelet;

  private LocalLab(Path folder, GpuSupply gpus, Path counter) throws IOException {
    this.folder = folder;
    LocalImages images = new LocalImages(folder.resolve("images"));
    images.add(
        SHELL,
        Settings.command(List.of("/bin/sh"), List.of("FROM=image"), "1000:1000"),
        rootfs -> {
          new ProgramFiles(Path.of("/bin/sh"), "bin/sh", true).fill(rootfs);
          new ProgramFiles(Path.of("/bin/sleep"), "bin/sleep", true).fill(rootfs);
        });
    images.add(
        COUNTER,
        Settings.command(
            List.of("/bin/gpu-counter", "--mib", "8", "--interval-ms", "50"),
            List.of("LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu"),
            "1000:1000"),
        new ProgramFiles(counter, "bin/gpu-counter", true));
    String cgroup = "stasis-local-test-" + folder.getFileName();
    this.kubelet =
        new Kubelet(
            new KubeletSettings(NODE, folder, cgroup, images, gpus), client, Clock.systemUTC());
    kubelet.start();
  }

  public static LocalLab start(SimulatedGpus gpus) {
    try {
      Path folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-local");
      return new LocalLab(folder, gpus.supply(), gpus.counter());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public KubernetesClient client() {
    return client;
  }

  public Kubelet kubelet() {
    return kubelet;
  }

  /** A pod that runs a line of shell, not yet made. */
  public PodBuilder shell(String name, String line) {
    return pod(name, SHELL)
        .editSpec()
        .editFirstContainer()
        .withCommand("/bin/sh", "-c", line)
        .endContainer()
        .endSpec();
  }

  /** A pod of one container called main, not yet made. */
  public PodBuilder pod(String name, String image) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .endMetadata()
        .withNewSpec()
        .withNodeName(NODE)
        .withTerminationGracePeriodSeconds(0L)
        .withContainers(new ContainerBuilder().withName("main").withImage(image).build())
        .endSpec();
  }

  public Pod create(PodBuilder pod) {
    return client.resource(pod.build()).create();
  }

  public Pod get(Pod pod) {
    return client.resource(pod).get();
  }

  /** Waits until the pod is like that. */
  public Pod await(Pod pod, String what, Predicate<Pod> wanted) {
    return Awaitility.await(what)
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> get(pod), it -> it != null && wanted.test(it));
  }

  public void awaitGone(Pod pod) {
    Awaitility.await("the pod is gone")
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> get(pod) == null);
  }

  /** The phase that the status tells. */
  public static Predicate<Pod> phase(String phase) {
    return pod -> phase.equals(pod.getStatus().getPhase());
  }

  public static boolean condition(Pod pod, String type) {
    return pod.getStatus().getConditions().stream()
        .anyMatch(it -> it.getType().equals(type) && it.getStatus().equals("True"));
  }

  public static ContainerStatus main(Pod pod) {
    return pod.getStatus().getContainerStatuses().get(0);
  }

  /** What the container main printed in its attempts up to now. */
  public String log(Pod pod, int attempt) {
    Path log =
        folder.resolve("pods/%s/logs/main/%d.log".formatted(pod.getMetadata().getUid(), attempt));
    try {
      return Files.readString(log);
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void awaitLog(Pod pod, int attempt, String part) {
    Awaitility.await("the log has " + part + "; it is " + log(pod, attempt))
        .atMost(SOON)
        .pollInterval(50, TimeUnit.MILLISECONDS)
        .until(() -> log(pod, attempt).contains(part));
  }

  /** Where the pods of this lab lie. */
  public Path pods() {
    return folder.resolve("pods");
  }

  @Override
  public void close() {
    kubelet.close();
    client.close();
    api.close();
    host.must("rm", "-rf", "--one-file-system", folder.toString());
  }
}
