package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuAllocations;
import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.ContainerImageBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** This machine as a Node. */
final class LocalNode {

  private static final Pattern TOTAL = Pattern.compile("MemTotal:\\s+([0-9]+) kB");
  private static final int PODS = 110;

  private final KubeletSettings settings;
  private final Clock clock;

  LocalNode(KubeletSettings settings, Clock clock) {
    this.settings = settings;
    this.clock = clock;
  }

  Node make() {
    Map<String, Quantity> capacity =
        Map.of(
            "cpu",
            new Quantity(Integer.toString(Runtime.getRuntime().availableProcessors())),
            "memory",
            new Quantity(memoryKib() + "Ki"),
            "pods",
            new Quantity(Integer.toString(PODS)),
            GpuAllocations.RESOURCE,
            new Quantity(Integer.toString(settings.gpus().gpus().size())));
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    return new NodeBuilder()
        .withNewMetadata()
        .withName(settings.nodeName())
        .addToLabels("kubernetes.io/hostname", settings.nodeName())
        .addToLabels("kubernetes.io/os", "linux")
        .addToLabels("kubernetes.io/arch", "amd64")
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .withCapacity(capacity)
        .withAllocatable(capacity)
        .withImages(images())
        .withNewNodeInfo()
        .withArchitecture("amd64")
        .withOperatingSystem("linux")
        .withContainerRuntimeVersion("runc://single-machine-mode")
        .withKernelVersion(System.getProperty("os.version"))
        .withKubeletVersion("v1.34.0-single-machine-mode")
        .withBootID(text("/proc/sys/kernel/random/boot_id"))
        .endNodeInfo()
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .withReason("KubeletReady")
        .withMessage("the single-machine mode is not Kubernetes")
        .withLastTransitionTime(now)
        .withLastHeartbeatTime(now)
        .endCondition()
        .endStatus()
        .build();
  }

  /** By name and by id, as containerd lists images without a registry. */
  private List<ContainerImage> images() {
    return settings.images().all().stream()
        .map(
            image ->
                new ContainerImageBuilder()
                    .withNames(image.name(), image.id())
                    .withSizeBytes(image.bytes())
                    .build())
        .toList();
  }

  private static long memoryKib() {
    Matcher total = TOTAL.matcher(text("/proc/meminfo"));
    if (!total.find()) {
      throw new IllegalStateException("/proc/meminfo: expected MemTotal, got none");
    }
    return Long.parseLong(total.group(1));
  }

  private static String text(String file) {
    try {
      return Files.readString(Path.of(file)).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
