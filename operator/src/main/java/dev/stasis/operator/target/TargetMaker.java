package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Creates the target pod: the frozen pod as its user wrote it, with a waiting container. It
 * requests nothing that the source did not have: no host path, no capability, no user. Equal inputs
 * give equal pods.
 */
public final class TargetMaker {

  private static final String HOST_NAME = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

  private final StasisConfig.Holder settings;
  private final Holder holder;

  public TargetMaker(StasisConfig.Holder settings) {
    this.settings = settings;
    this.holder = new Holder(settings);
  }

  /**
   * Creates the target.
   *
   * @param source the frozen pod; not changed
   * @param wish the request
   */
  public TargetPlan make(FrozenPod source, Wish wish) {
    Pod base = source.pod();
    Stripped stripped;
    if (wish.way() instanceof Way.InPlace inPlace) {
      base = inPlace.made();
      stripped = Stripped.ofNew(base, source.container(), settings.injected());
    } else {
      stripped = Stripped.ofOld(base, source.container(), settings.injected());
    }
    SortedSet<String> only = only(stripped.pod().getSpec(), source, wish);
    List<Fault> faults = new Preflight(source, wish, stripped.pod(), stripped.others()).refusals();
    if (only != null && wish.excludedNodes().containsAll(only)) {
      faults.add(nowhere(only, wish));
    }
    if (!faults.isEmpty()) {
      return new TargetPlan.Refused(faults);
    }
    Pod target = stripped.pod();
    String oldName = base.getMetadata().getName();
    target.setMetadata(new Metadata(source, wish).make());
    List<String> dropped = new ArrayList<>(stripped.dropped());
    waiting(target.getSpec(), source, wish, dropped);
    placed(target.getSpec(), source, wish, only);
    if (wish.way() instanceof Way.InPlace) {
      List<PodSchedulingGate> gates = base.getSpec().getSchedulingGates();
      target
          .getSpec()
          .setSchedulingGates(
              with(gates, gates.size(), new PodSchedulingGate(Holder.SCHEDULING_GATE)));
    } else {
      keepHostName(target, oldName);
    }
    return new TargetPlan.Made(AvoidedNodes.in(target, wish.target()), stripped.others(), dropped);
  }

  private void waiting(PodSpec spec, FrozenPod source, Wish wish, List<String> dropped) {
    List<Container> containers = new ArrayList<>();
    for (Container container : spec.getContainers()) {
      if (!container.getName().equals(source.container())) {
        containers.add(container);
        continue;
      }
      Container waiting = waiting(container, source, wish);
      if (container.getLifecycle() != null && container.getLifecycle().getPostStart() != null) {
        // It would run in parallel to the holder, and it has already run in the source.
        waiting.getLifecycle().setPostStart(null);
        dropped.add("postStart of container " + container.getName() + ", which has already run");
      }
      containers.add(waiting);
      // Without the additional memory: an init container cannot be resized, so the pod would keep
      // it.
      spec.setInitContainers(
          with(spec.getInitContainers(), 0, holder.initContainer(container, user(spec))));
    }
    spec.setContainers(containers);
    spec.setVolumes(with(spec.getVolumes(), spec.getVolumes().size(), holder.volume()));
    spec.setReadinessGates(
        with(spec.getReadinessGates(), 0, new PodReadinessGate(Api.RESTORED_GATE)));
  }

  private Container waiting(Container container, FrozenPod source, Wish wish) {
    ContainerBuilder waiting =
        new ContainerBuilder(container)
            .withCommand(holder.command(source.commandLine(), source.argv()))
            .withArgs(source.commandLine().args())
            .withStartupProbe(holder.startupProbe(wish.deadline()))
            .withResources(
                wish.room()
                    .map(memory -> memory.of(container.getResources()))
                    .orElse(container.getResources()))
            .addToVolumeMounts(holder.mount());
    if (source.image() instanceof Image.ByDigest image) {
      waiting.withImage(image.reference());
    } else if (source.image() instanceof Image.ById image) {
      // No registry has it, so it must never be pulled.
      waiting.withImage(image.id()).withImagePullPolicy("Never");
    }
    return waiting.build();
  }

  private static Fault nowhere(SortedSet<String> only, Wish wish) {
    return Reason.NO_NODE_FITS.misfit(
        "node",
        only.isEmpty() ? "a node with the image and the claims" : "one of " + only,
        only.isEmpty() ? "none" : "excluded " + wish.excludedNodes());
  }

  private static void placed(
      PodSpec spec, FrozenPod source, Wish wish, @Nullable SortedSet<String> only) {
    Map<String, String> selector =
        new HashMap<>(Objects.requireNonNullElse(spec.getNodeSelector(), Map.of()));
    selector.putAll(Objects.requireNonNullElse(wish.target().nodeSelector(), Map.of()));
    spec.setNodeSelector(selector);
    spec.setAffinity(
        new NodeChoice(source.placement(), only, wish.excludedNodes()).within(spec.getAffinity()));
  }

  /** The nodes allowed by image, named claims and the request; null for all. */
  private static @Nullable SortedSet<String> only(PodSpec spec, FrozenPod source, Wish wish) {
    if (wish.target().nodeName() != null) {
      return new TreeSet<>(List.of(wish.target().nodeName()));
    }
    SortedSet<String> only = null;
    if (source.image() instanceof Image.ById image) {
      only = new TreeSet<>(image.nodes());
    }
    if (spec.getResourceClaims().stream().anyMatch(it -> it.getResourceClaimName() != null)) {
      Collection<String> there = List.of(source.node());
      if (only == null) {
        only = new TreeSet<>(there);
      } else {
        only.retainAll(there);
      }
    }
    return only;
  }

  /** A pod without a hostname uses its name as the hostname, which the workload has seen. */
  private static void keepHostName(Pod target, String oldName) {
    PodSpec spec = target.getSpec();
    if (spec.getHostname() == null
        && !target.getMetadata().getName().equals(oldName)
        && oldName.matches(HOST_NAME)) {
      spec.setHostname(oldName);
    }
  }

  private static @Nullable Long user(PodSpec spec) {
    PodSecurityContext context = spec.getSecurityContext();
    return context == null ? null : context.getRunAsUser();
  }

  private static <T> List<T> with(List<T> list, int index, T element) {
    List<T> longer = new ArrayList<>(list);
    longer.add(index, element);
    return longer;
  }
}
