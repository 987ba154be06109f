package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The parts of a target that make its container wait for the workload. */
public final class Holder {

  /** The path of the holder and its files in the container. */
  static final String FOLDER = "/.stasis";

  /** Name of the init container, and of the volume for the holder. */
  static final String NAME = "stasis-holder";

  /** Scheduling gate of a controller's pod until a GpuRestore claims it. */
  static final String SCHEDULING_GATE = Api.GROUP + "/restore";

  private static final String RUNTIME = FOLDER + "/stasis-runtime";
  private static final List<String> INIT = List.of(RUNTIME, "init", "--");

  /** One success is sufficient; an attempt takes a few milliseconds of a static program. */
  private static final int PROBE_SECONDS = 1;

  /** A node that copies tens of GiB is slow to start a process. */
  private static final int PROBE_TIMEOUT_SECONDS = 5;

  /** The operator's deadline decides, never the kubelet. */
  private static final int TIMES_THE_DEADLINE = 10;

  private final StasisConfig.Holder settings;

  Holder(StasisConfig.Holder settings) {
    this.settings = settings;
  }

  /** The workload's own command, even for a pod that was restored before. */
  static List<String> own(List<String> argv) {
    boolean held = argv.size() >= INIT.size() && argv.subList(0, INIT.size()).equals(INIT);
    return held ? argv.subList(INIT.size(), argv.size()) : argv;
  }

  /** Returns whether a probe is the one that waits for the verification. */
  public static boolean isOurs(@Nullable Probe probe) {
    return probe != null
        && probe.getExec() != null
        && probe.getExec().getCommand().equals(List.of(RUNTIME, "probe"));
  }

  /**
   * The command of the waiting container. The pod's own part stays unchanged, because the kubelet
   * expands it again. The image's part is not expanded, so its dollar signs are escaped.
   */
  List<String> command(CommandLine line, List<String> argv) {
    List<String> command = new ArrayList<>(INIT);
    line.ofImage(argv).forEach(argument -> command.add(argument.replace("$", "$$")));
    command.addAll(own(line.command()));
    return command;
  }

  /** Delays the other probes until the verification. */
  Probe startupProbe(Duration deadline) {
    long failures = deadline.multipliedBy(TIMES_THE_DEADLINE).toSeconds() / PROBE_SECONDS;
    return new ProbeBuilder()
        .withNewExec()
        .withCommand(RUNTIME, "probe")
        .endExec()
        .withPeriodSeconds(PROBE_SECONDS)
        .withTimeoutSeconds(PROBE_TIMEOUT_SECONDS)
        .withFailureThreshold((int) Math.min(failures, Integer.MAX_VALUE))
        .build();
  }

  Volume volume() {
    return new VolumeBuilder().withName(NAME).withNewEmptyDir().endEmptyDir().build();
  }

  VolumeMount mount() {
    return new VolumeMountBuilder().withName(NAME).withMountPath(FOLDER).build();
  }

  Container initContainer(Container workload, @Nullable Long podUser) {
    return installer(NAME, settings.image(), settings.command(), workload, podUser)
        .withVolumeMounts(mount())
        .build();
  }

  /**
   * Starts an init container that copies a file of the holder's image. It has the CPU and memory of
   * the workload's container, which already satisfied every quota and range. It therefore keeps the
   * pod's QoS class and does not increase the pod's requests.
   */
  public static ContainerBuilder installer(
      String name, String image, List<String> command, Container workload, @Nullable Long podUser) {
    return new ContainerBuilder()
        .withName(name)
        .withImage(image)
        .withCommand(command)
        .withResources(resources(workload.getResources()))
        .withSecurityContext(securityContext(workload.getSecurityContext(), podUser));
  }

  private static ResourceRequirements resources(@Nullable ResourceRequirements workload) {
    if (workload == null) {
      return new ResourceRequirements();
    }
    return new ResourceRequirementsBuilder()
        .withRequests(cpuAndMemory(workload.getRequests()))
        .withLimits(cpuAndMemory(workload.getLimits()))
        .build();
  }

  private static Map<String, Quantity> cpuAndMemory(@Nullable Map<String, Quantity> all) {
    Map<String, Quantity> some = new HashMap<>(all == null ? Map.of() : all);
    some.keySet().retainAll(List.of("cpu", "memory"));
    return some;
  }

  /**
   * Passes Pod Security {@code restricted}. The user is the workload's, if it names one, so that
   * admission sees no new uid.
   */
  private static SecurityContext securityContext(
      @Nullable SecurityContext workload, @Nullable Long podUser) {
    Optional<SecurityContext> own = Optional.ofNullable(workload);
    Optional<Long> user = own.map(SecurityContext::getRunAsUser);
    boolean root = user.or(() -> Optional.ofNullable(podUser)).filter(uid -> uid == 0).isPresent();
    SecurityContextBuilder context =
        new SecurityContextBuilder()
            .withAllowPrivilegeEscalation(false)
            .withReadOnlyRootFilesystem(true)
            .withNewCapabilities()
            .withDrop("ALL")
            .endCapabilities()
            .withNewSeccompProfile()
            .withType("RuntimeDefault")
            .endSeccompProfile();
    user.ifPresent(context::withRunAsUser);
    own.map(SecurityContext::getRunAsGroup).ifPresent(context::withRunAsGroup);
    own.map(SecurityContext::getSeLinuxOptions).ifPresent(context::withSeLinuxOptions);
    if (!root) {
      // A source that runs as root was never in a restricted namespace, so the setting would be
      // wrong.
      context.withRunAsNonRoot(true);
    }
    return context.build();
  }
}
