package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.AppArmorProfile;
import io.fabric8.kubernetes.api.model.Capabilities;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.SeccompProfile;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Limits the pod of an imported artifact. No user of this cluster created it, and no admission of
 * this namespace has checked it. A restore creates it with the operator's rights, so it must
 * satisfy level {@code baseline} of the Pod Security Standards.
 */
final class ImportedPodPolicy {

  /** Capabilities that level baseline lets a container add. */
  private static final Set<String> HARMLESS =
      Set.of(
          "AUDIT_WRITE",
          "CHOWN",
          "DAC_OVERRIDE",
          "FOWNER",
          "FSETID",
          "KILL",
          "MKNOD",
          "NET_BIND_SERVICE",
          "SETFCAP",
          "SETGID",
          "SETPCAP",
          "SETUID",
          "SYS_CHROOT");

  private static final String UNCONFINED = "Unconfined";

  private final Template template;

  ImportedPodPolicy(Template template) {
    this.template = template;
  }

  /** Returns every violation. */
  List<Fault> faults(@Nullable Map<String, Object> written, String podName) {
    Optional<Pod> pod = template.read(written).filter(it -> it.getSpec() != null);
    if (pod.isEmpty()) {
      return List.of(fault("pod of the artifact", "a pod", "none"));
    }
    List<Fault> faults = new ArrayList<>();
    String name = String.valueOf(pod.get().getMetadata().getName());
    if (!name.equals(podName)) {
      faults.add(fault("pod of the artifact", podName, name));
    }
    PodSpec spec = pod.get().getSpec();
    never("spec.hostNetwork", spec.getHostNetwork(), faults);
    never("spec.hostPID", spec.getHostPID(), faults);
    never("spec.hostIPC", spec.getHostIPC(), faults);
    for (Volume volume : spec.getVolumes()) {
      if (volume.getHostPath() != null) {
        faults.add(
            fault(
                "spec.volumes[" + volume.getName() + "]",
                "no hostPath",
                "hostPath " + volume.getHostPath().getPath()));
      }
    }
    whole(spec.getSecurityContext(), faults);
    Stream.concat(spec.getInitContainers().stream(), spec.getContainers().stream())
        .forEach(container -> one(container, faults));
    return faults;
  }

  private static void whole(@Nullable PodSecurityContext context, List<Fault> faults) {
    if (context == null) {
      return;
    }
    String property = "spec.securityContext";
    confined(property, context.getSeccompProfile(), context.getAppArmorProfile(), faults);
    if (!context.getSysctls().isEmpty()) {
      faults.add(fault(property + ".sysctls", "none", context.getSysctls().get(0).getName()));
    }
  }

  private static void one(Container container, List<Fault> faults) {
    String property = "spec.containers[" + container.getName() + "]";
    container.getPorts().stream()
        .filter(port -> port.getHostPort() != null && port.getHostPort() != 0)
        .forEach(port -> faults.add(fault(property + ".ports", "no hostPort", port.getHostPort())));
    SecurityContext context = container.getSecurityContext();
    if (context == null) {
      return;
    }
    never(property + ".privileged", context.getPrivileged(), faults);
    Capabilities capabilities =
        Objects.requireNonNullElseGet(context.getCapabilities(), Capabilities::new);
    List<String> more =
        capabilities.getAdd().stream().filter(added -> !HARMLESS.contains(added)).toList();
    if (!more.isEmpty()) {
      faults.add(fault(property + ".capabilities.add", "none", String.join(", ", more)));
    }
    if (context.getProcMount() != null && !context.getProcMount().equals("Default")) {
      faults.add(fault(property + ".procMount", "Default", context.getProcMount()));
    }
    confined(property, context.getSeccompProfile(), context.getAppArmorProfile(), faults);
  }

  private static void confined(
      String property,
      @Nullable SeccompProfile seccomp,
      @Nullable AppArmorProfile appArmor,
      List<Fault> faults) {
    String expected = "RuntimeDefault or Localhost";
    if (seccomp != null && UNCONFINED.equals(seccomp.getType())) {
      faults.add(fault(property + ".seccompProfile", expected, UNCONFINED));
    }
    if (appArmor != null && UNCONFINED.equals(appArmor.getType())) {
      faults.add(fault(property + ".appArmorProfile", expected, UNCONFINED));
    }
  }

  private static void never(String property, @Nullable Boolean value, List<Fault> faults) {
    if (Boolean.TRUE.equals(value)) {
      faults.add(fault(property, "false", "true"));
    }
  }

  private static Fault fault(String property, String expected, Object got) {
    return Reason.NOT_IMPORTED.misfit(property, expected, String.valueOf(got));
  }
}
