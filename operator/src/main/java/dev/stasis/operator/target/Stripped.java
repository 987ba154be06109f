package dev.stasis.operator.target;

import static java.util.function.Predicate.not;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodAffinityTerm;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.WeightedPodAffinityTerm;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A pod as its user wrote it, without additions of the cluster, its webhooks and an earlier
 * restore.
 *
 * @param pod a copy; the original is not changed
 * @param others other containers, which are restarted
 * @param dropped descriptions of what was removed
 */
record Stripped(Pod pod, List<String> others, List<String> dropped) {

  private static final String TOKEN_VOLUME = "kube-api-access-";
  private static final Set<String> DEFAULT_TOLERATIONS =
      Set.of("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable");
  private static final long DEFAULT_TOLERATION_SECONDS = 300;

  /** For a pod that has run, to create a new one that passes admission again. */
  static Stripped ofOld(Pod original, String workload, Set<String> injected) {
    return ofOld(original, workload, injected, Set.of());
  }

  /** The same for a cold start: its init containers must run again. */
  static Stripped ofOldToStart(Pod original, String workload, Set<String> injected) {
    Set<String> needed =
        original.getSpec().getInitContainers().stream()
            .map(Container::getName)
            .filter(name -> !name.equals(Holder.NAME))
            .collect(Collectors.toSet());
    return ofOld(original, workload, injected, needed);
  }

  private static Stripped ofOld(
      Pod original, String workload, Set<String> injected, Set<String> needed) {
    Pod pod = new PodBuilder(original).build();
    PodSpec spec = pod.getSpec();
    List<String> others = others(spec, workload);
    List<String> dropped = new ArrayList<>();
    pod.setStatus(null);
    placedByTheCluster(spec);
    sidecarsOfWebhooks(spec, workload, injected, dropped);
    doneInitContainers(spec, needed, dropped);
    volumes(spec);
    mergedLabelKeys(spec);
    return new Stripped(pod, others, dropped);
  }

  /** For a pod during its admission: the additions of other admission plugins are kept. */
  static Stripped ofNew(Pod original, String workload, Set<String> injected) {
    Pod pod = new PodBuilder(original).build();
    List<String> others = others(pod.getSpec(), workload);
    List<String> dropped = new ArrayList<>();
    doneInitContainers(pod.getSpec(), injected, dropped);
    return new Stripped(pod, others, dropped);
  }

  private static List<String> others(PodSpec spec, String workload) {
    return Stream.concat(
            spec.getInitContainers().stream().filter(Stripped::isSidecar),
            spec.getContainers().stream())
        .map(Container::getName)
        .filter(name -> !name.equals(workload))
        .toList();
  }

  private static boolean isSidecar(Container container) {
    return "Always".equals(container.getRestartPolicy());
  }

  private static void placedByTheCluster(PodSpec spec) {
    spec.setNodeName(null);
    spec.setEphemeralContainers(new ArrayList<>());
    spec.setSchedulingGates(new ArrayList<>());
    spec.setPriority(null);
    spec.setPreemptionPolicy(null);
    // The RuntimeClass adds it again, and it is refused from other sources.
    spec.setOverhead(null);
    spec.setServiceAccount(null);
    spec.setTolerations(spec.getTolerations().stream().filter(it -> !isDefault(it)).toList());
    spec.setReadinessGates(
        spec.getReadinessGates().stream()
            .filter(gate -> !gate.getConditionType().equals(Api.RESTORED_GATE))
            .toList());
  }

  private static boolean isDefault(Toleration toleration) {
    return toleration.getKey() != null
        && DEFAULT_TOLERATIONS.contains(toleration.getKey())
        && Objects.equals(toleration.getTolerationSeconds(), DEFAULT_TOLERATION_SECONDS);
  }

  private static void sidecarsOfWebhooks(
      PodSpec spec, String workload, Set<String> injected, List<String> dropped) {
    Predicate<Container> comesAgain =
        container ->
            injected.contains(container.getName()) && !container.getName().equals(workload);
    Stream.concat(spec.getInitContainers().stream(), spec.getContainers().stream())
        .filter(comesAgain)
        .forEach(
            container ->
                dropped.add(
                    "container "
                        + container.getName()
                        + ", which its webhook adds to the new pod"));
    spec.setInitContainers(spec.getInitContainers().stream().filter(not(comesAgain)).toList());
    spec.setContainers(spec.getContainers().stream().filter(not(comesAgain)).toList());
  }

  /** Their results are in the volumes, which are in the checkpoint or still exist. */
  private static void doneInitContainers(PodSpec spec, Set<String> needed, List<String> dropped) {
    List<Container> kept = new ArrayList<>();
    for (Container container : spec.getInitContainers()) {
      if (isSidecar(container) || needed.contains(container.getName())) {
        kept.add(container);
      } else if (!container.getName().equals(Holder.NAME)) {
        dropped.add("init container " + container.getName() + ", which has already run");
      }
    }
    spec.setInitContainers(kept);
  }

  /** Volumes of Stasis, of the service account's token, and of removed containers. */
  private static void volumes(PodSpec spec) {
    Set<String> mounted = new HashSet<>();
    Stream.concat(spec.getInitContainers().stream(), spec.getContainers().stream())
        .forEach(
            container -> {
              container.setVolumeMounts(
                  container.getVolumeMounts().stream()
                      .filter(mount -> !isOurs(mount) && !isToken(mount.getName()))
                      .toList());
              container.getVolumeMounts().forEach(mount -> mounted.add(mount.getName()));
              container.getVolumeDevices().forEach(device -> mounted.add(device.getName()));
            });
    spec.setVolumes(
        spec.getVolumes().stream().filter(volume -> mounted.contains(volume.getName())).toList());
  }

  private static boolean isOurs(VolumeMount mount) {
    return mount.getName().equals(Holder.NAME);
  }

  private static boolean isToken(String volume) {
    return volume.startsWith(TOKEN_VOLUME);
  }

  /**
   * The API server adds the values of matchLabelKeys to the selector when a pod is created, and
   * refuses a pod that has both.
   */
  private static void mergedLabelKeys(PodSpec spec) {
    spec.getTopologySpreadConstraints()
        .forEach(
            constraint -> unmerge(constraint.getLabelSelector(), constraint.getMatchLabelKeys()));
    Affinity affinity = spec.getAffinity();
    if (affinity == null) {
      return;
    }
    List<PodAffinityTerm> terms = new ArrayList<>();
    if (affinity.getPodAffinity() != null) {
      terms.addAll(affinity.getPodAffinity().getRequiredDuringSchedulingIgnoredDuringExecution());
      weighted(affinity.getPodAffinity().getPreferredDuringSchedulingIgnoredDuringExecution())
          .forEach(terms::add);
    }
    if (affinity.getPodAntiAffinity() != null) {
      terms.addAll(
          affinity.getPodAntiAffinity().getRequiredDuringSchedulingIgnoredDuringExecution());
      weighted(affinity.getPodAntiAffinity().getPreferredDuringSchedulingIgnoredDuringExecution())
          .forEach(terms::add);
    }
    for (PodAffinityTerm term : terms) {
      unmerge(term.getLabelSelector(), term.getMatchLabelKeys());
      unmerge(term.getLabelSelector(), term.getMismatchLabelKeys());
    }
  }

  private static Stream<PodAffinityTerm> weighted(List<WeightedPodAffinityTerm> terms) {
    return terms.stream().map(WeightedPodAffinityTerm::getPodAffinityTerm);
  }

  private static void unmerge(@Nullable LabelSelector selector, List<String> keys) {
    if (selector != null && !keys.isEmpty()) {
      selector.setMatchExpressions(
          selector.getMatchExpressions().stream()
              .filter(expression -> !keys.contains(expression.getKey()))
              .toList());
    }
  }
}
