package dev.stasis.local.kubelet;

import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.local.gpu.GpuAllocations;
import dev.stasis.local.gpu.GpuSupply;
import dev.stasis.local.image.LocalImage;
import dev.stasis.local.image.LocalImages;
import dev.stasis.local.runc.ContainerConfig;
import dev.stasis.local.runc.OciMount;
import io.fabric8.kubernetes.api.model.Capabilities;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContext;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Converts a container of a pod to the configuration for runc. */
final class ContainerPlanner {

  /** The defaults of container runtimes. */
  private static final List<String> USUAL_CAPABILITIES =
      List.of(
          "CAP_CHOWN",
          "CAP_DAC_OVERRIDE",
          "CAP_FOWNER",
          "CAP_FSETID",
          "CAP_KILL",
          "CAP_SETGID",
          "CAP_SETUID",
          "CAP_SETPCAP",
          "CAP_NET_BIND_SERVICE",
          "CAP_SYS_CHROOT",
          "CAP_MKNOD",
          "CAP_AUDIT_WRITE",
          "CAP_SETFCAP");

  private final LocalImages images;
  private final GpuAllocations gpus;
  private final PodCgroups cgroups;

  ContainerPlanner(LocalImages images, GpuAllocations gpus, PodCgroups cgroups) {
    this.images = images;
    this.gpus = gpus;
    this.cgroups = cgroups;
  }

  ContainerPlan plan(Pod pod, Container container, PodVolumes volumes, Sandbox sandbox)
      throws PodRefusal {
    LocalImage image =
        images
            .find(container.getImage())
            .orElseThrow(
                () ->
                    new PodRefusal(
                        "ErrImageNeverPull",
                        "image: expected one of this machine, got "
                            + container.getImage()
                            + "; there are "
                            + images.all().stream().map(LocalImage::name).toList()));
    PodEnvironment environment = new PodEnvironment(pod);
    Map<String, String> variables = environment.of(container, image);
    List<PodMount> volumeMounts = volumes.of(container);
    List<OciMount> mounts = new ArrayList<>();
    mounts.add(OciMount.bind(sandbox.shm(), "/dev/shm", false));
    for (GpuSupply.Device device : devices(pod, container)) {
      mounts.add(device.mount());
    }
    if (mounts.size() > 1) {
      mounts.addAll(gpus.supply().common());
    }
    for (PodMount mount : volumeMounts) {
      mounts.add(OciMount.bind(mount.hostPath(), mount.containerPath(), mount.readOnly()));
    }
    String id = newId();
    ContainerConfig config =
        new ContainerConfig(
            id,
            process(pod, container, image, variables),
            container.getSecurityContext() != null
                && Boolean.TRUE.equals(container.getSecurityContext().getReadOnlyRootFilesystem()),
            environment.hostname(),
            mounts,
            cgroups.of(pod.getMetadata().getUid(), id),
            ContainerLimits.of(container).memoryBytes(),
            sandbox.namespaces());
    return new ContainerPlan(config, image, volumeMounts);
  }

  private List<GpuSupply.Device> devices(Pod pod, Container container) throws PodRefusal {
    int count = ContainerLimits.of(container).gpus();
    if (count == 0) {
      return List.of();
    }
    GpuAllocations.Holder holder =
        new GpuAllocations.Holder(pod.getMetadata().getUid(), container.getName());
    Optional<List<GpuSupply.Device>> given = gpus.give(holder, count);
    return given.orElseThrow(
        () ->
            new PodRefusal(
                "UnexpectedAdmissionError",
                "%s: expected %d, got fewer available".formatted(GpuAllocations.RESOURCE, count)));
  }

  private static ContainerConfig.User process(
      Pod pod, Container container, LocalImage image, Map<String, String> variables)
      throws PodRefusal {
    SecurityContext own =
        Objects.requireNonNullElseGet(container.getSecurityContext(), SecurityContext::new);
    PodSecurityContext all =
        Objects.requireNonNullElseGet(pod.getSpec().getSecurityContext(), PodSecurityContext::new);
    if (Boolean.TRUE.equals(own.getPrivileged())) {
      throw PodRefusal.notHere("privileged: true");
    }
    long uid = first(own.getRunAsUser(), all.getRunAsUser(), image.settings().uid());
    long gid = first(own.getRunAsGroup(), all.getRunAsGroup(), image.settings().gid());
    boolean nonRoot =
        Boolean.TRUE.equals(
            own.getRunAsNonRoot() == null ? all.getRunAsNonRoot() : own.getRunAsNonRoot());
    if (nonRoot && uid == 0) {
      throw new PodRefusal(
          "CreateContainerConfigError", "runAsNonRoot: expected a user other than 0, got 0");
    }
    List<Long> groups = new ArrayList<>(all.getSupplementalGroups());
    if (all.getFsGroup() != null) {
      groups.add(all.getFsGroup());
    }
    List<String> env = new ArrayList<>();
    variables.forEach((name, value) -> env.add(name + "=" + value));
    String cwd = container.getWorkingDir();
    return new ContainerConfig.User(
        argv(container, image, new Expansion(variables)),
        env,
        cwd == null || cwd.isEmpty() ? image.settings().workingDir() : cwd,
        uid,
        gid,
        groups,
        capabilities(own.getCapabilities()),
        Boolean.FALSE.equals(own.getAllowPrivilegeEscalation()));
  }

  private static List<String> argv(Container container, LocalImage image, Expansion expansion)
      throws PodRefusal {
    boolean command = !container.getCommand().isEmpty();
    boolean args = !container.getArgs().isEmpty();
    List<String> argv = new ArrayList<>();
    argv.addAll(command ? expansion.of(container.getCommand()) : image.settings().entrypoint());
    if (args) {
      argv.addAll(expansion.of(container.getArgs()));
    } else if (!command) {
      argv.addAll(image.settings().cmd());
    }
    if (argv.isEmpty()) {
      throw new PodRefusal(
          "CreateContainerConfigError", "command: expected one in pod or image, got none");
    }
    return argv;
  }

  private static List<String> capabilities(@Nullable Capabilities asked) {
    Set<String> capabilities = new LinkedHashSet<>(USUAL_CAPABILITIES);
    if (asked != null) {
      if (asked.getDrop().contains("ALL")) {
        capabilities.clear();
      }
      asked.getDrop().forEach(name -> capabilities.remove("CAP_" + name));
      asked.getAdd().forEach(name -> capabilities.add("CAP_" + name));
    }
    return List.copyOf(capabilities);
  }

  private static long first(@Nullable Long one, @Nullable Long two, long otherwise) {
    if (one != null) {
      return one;
    }
    return two != null ? two : otherwise;
  }

  /** 64 hexadecimal digits, as in containerd. */
  private static String newId() {
    return (UUID.randomUUID().toString() + UUID.randomUUID()).replace("-", "");
  }
}
