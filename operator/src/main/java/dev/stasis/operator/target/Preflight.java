package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Finds every reason why a pod cannot have a target. */
record Preflight(FrozenPod source, Wish wish, Pod base, List<String> others) {

  List<Fault> refusals() {
    List<Fault> refusals = new ArrayList<>();
    PodSpec spec = base.getSpec();
    owner().ifPresent(refusals::add);
    shared("spec.hostNetwork", spec.getHostNetwork(), refusals);
    shared("spec.hostPID", spec.getHostPID(), refusals);
    shared("spec.hostIPC", spec.getHostIPC(), refusals);
    shared("spec.shareProcessNamespace", spec.getShareProcessNamespace(), refusals);
    if (Boolean.FALSE.equals(spec.getHostUsers())) {
      refusals.add(refusal("spec.hostUsers", "true", "false"));
    }
    Optional<Container> workload = container(spec);
    if (workload.isEmpty()) {
      refusals.add(
          Reason.CONTAINER_NOT_FOUND.misfit(
              "spec.containers", "one named " + source.container(), names(spec).toString()));
    }
    workload.ifPresent(container -> holder(container, refusals));
    if (Holder.own(source.commandLine().unexpanded(source.argv())).isEmpty()) {
      refusals.add(refusal("argv", "the workload's command line", "none"));
    }
    if (workload.isPresent() && !others.isEmpty() && source.others() == SidecarPolicy.FAIL) {
      refusals.add(
          refusal(
              "spec.containers",
              "sidecarPolicy Restart, or only " + source.container(),
              "also " + String.join(", ", others)));
    }
    spec.getVolumes().forEach(volume -> volume(volume, refusals));
    spec.getResourceClaims().forEach(claim -> claim(claim, refusals));
    image(refusals);
    selector(spec, refusals);
    if (!(wish.way() instanceof Way.InPlace)) {
      TargetName.of(base.getMetadata(), wish).refusal().ifPresent(refusals::add);
    }
    return refusals;
  }

  private Optional<Fault> owner() {
    Optional<OwnerReference> controller = Owners.of(base);
    String kind = controller.map(OwnerReference::getKind).orElse("none");
    String found = controller.map(owner -> kind + " " + owner.getName()).orElse("none");
    if (kind.equals("DaemonSet")) {
      return Optional.of(refusal("ownerReferences", "no DaemonSet", found));
    }
    if (kind.equals("Node")) {
      return Optional.of(refusal("ownerReferences", "no static pod", found));
    }
    if (wish.way() instanceof Way.Alone alone && controller.isPresent() && !alone.ownerGone()) {
      return Optional.of(
          refusal("ownerReferences", "no controller that creates a replacement", found));
    }
    return Optional.empty();
  }

  private static void shared(String property, Boolean set, List<Fault> refusals) {
    if (Boolean.TRUE.equals(set)) {
      refusals.add(refusal(property, "false", "true"));
    }
  }

  private void holder(Container workload, List<Fault> refusals) {
    String property = "spec.containers[" + workload.getName() + "]";
    if (Boolean.TRUE.equals(workload.getTty())) {
      refusals.add(refusal(property + ".tty", "false", "true"));
    }
    workload.getVolumeMounts().stream()
        .filter(mount -> mount.getMountPath().equals(Holder.FOLDER))
        .forEach(
            mount ->
                refusals.add(
                    refusal(
                        property + ".volumeMounts",
                        "nothing at " + Holder.FOLDER,
                        mount.getName())));
  }

  private static void volume(Volume volume, List<Fault> refusals) {
    if (volume.getEphemeral() != null) {
      refusals.add(
          refusal(
              "spec.volumes[" + volume.getName() + "]",
              "a volume that exists longer than the pod, or an emptyDir",
              "ephemeral"));
    }
  }

  private void claim(PodResourceClaim claim, List<Fault> refusals) {
    String node = wish.target().nodeName();
    if (claim.getResourceClaimName() != null && node != null && !node.equals(source.node())) {
      refusals.add(
          refusal(
              "spec.resourceClaims[" + claim.getName() + "]",
              "a claim template, or node " + source.node(),
              "claim " + claim.getResourceClaimName() + " and node " + node));
    }
  }

  private void image(List<Fault> refusals) {
    if (!(source.image() instanceof Image.ById image)) {
      return;
    }
    String node = wish.target().nodeName();
    if (node != null && !image.nodes().contains(node)) {
      refusals.add(
          refusal(
              "image", "one of " + image.nodes() + ", which have " + image.id(), "node " + node));
    }
  }

  private void selector(PodSpec spec, List<Fault> refusals) {
    Map<String, String> has = Objects.requireNonNullElse(spec.getNodeSelector(), Map.of());
    Objects.requireNonNullElse(wish.target().nodeSelector(), Map.<String, String>of())
        .forEach(
            (key, value) -> {
              String own = has.getOrDefault(key, value);
              if (!own.equals(value)) {
                refusals.add(
                    refusal("target.nodeSelector[" + key + "]", "the pod's own " + own, value));
              }
            });
  }

  private Optional<Container> container(PodSpec spec) {
    return spec.getContainers().stream()
        .filter(container -> container.getName().equals(source.container()))
        .findFirst();
  }

  private static List<String> names(PodSpec spec) {
    return spec.getContainers().stream().map(Container::getName).toList();
  }

  private static Fault refusal(String property, String expected, String found) {
    return Reason.PREFLIGHT_REFUSED.misfit(property, expected, found);
  }
}
