package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.engine.PlaceFingerprint;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeTopology;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.GpuSet;
import dev.stasis.compat.Link;
import dev.stasis.compat.Links;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Converts the observed state of the node into the status of its GpuNode. It does not use the API
 * server.
 */
final class GpuNodeText {

  private static final String READY = "Ready";

  /**
   * Returns the status.
   *
   * @param before the current status, parts of which are kept
   */
  GpuNodeStatus write(
      NodeLook look, AgentIdentity agent, @Nullable GpuNodeStatus before, Instant now) {
    Abilities abilities = new Abilities(look);
    NodeGpus node = look.gpus();
    GpuNodeStatus status = new GpuNodeStatus();
    status.setAgent(agent);
    status.setHost(look.host());
    status.setGpus(node.gpus().stream().map(gpu -> gpu(gpu, look.quarantined())).toList());
    status.setLinks(node.links().stream().map(link -> link(node, link)).toList());
    status.setGpuModel(
        node.gpus().stream().map(Gpu::model).distinct().collect(Collectors.joining(", ")));
    status.setGpuCount(node.gpus().size());
    status.setTopologies(topologies(node));
    status.setCapabilities(abilities.list());
    status.setMissing(abilities.missing());
    status.setSelfTest(look.selfTest().orElse(null));
    status.setStores(look.stores());
    status.setFrozen(look.frozen());
    status.setFrozenPods(look.frozen().size());
    conclude(status, look, abilities, before, now);
    return status;
  }

  private static void conclude(
      GpuNodeStatus status,
      NodeLook look,
      Abilities abilities,
      @Nullable GpuNodeStatus before,
      Instant now) {
    List<Fault> against = new ArrayList<>(abilities.againstWork());
    look.selfTest()
        .filter(test -> Boolean.FALSE.equals(test.passed()))
        .map(test -> Abilities.fault(NodeReason.SELF_TEST_FAILED, "self-test: " + test.message()))
        .ifPresent(against::add);
    ConditionValue truth = against.isEmpty() ? ConditionValue.TRUE : ConditionValue.FALSE;
    String reason = against.isEmpty() ? NodeReason.READY.value() : against.get(0).reason();
    String message =
        against.isEmpty()
            ? ready(look)
            : against.stream().map(Fault::message).collect(Collectors.joining("; "));
    Instant since =
        condition(before)
            .filter(condition -> condition.status() == truth)
            .map(Condition::lastTransitionTime)
            .orElse(now);
    status.setConditions(List.of(new Condition(READY, truth, reason, message, since, null)));
    status.setReason(reason);
    status.setMessage(message);
  }

  private static String ready(NodeLook look) {
    NodeGpus node = look.gpus();
    return "%d GPUs, driver %s, criu %s"
        .formatted(node.gpus().size(), node.driverVersion(), look.criu().version().orElse("none"));
  }

  private static Optional<Condition> condition(@Nullable GpuNodeStatus before) {
    List<Condition> conditions =
        before == null
            ? List.of()
            : Objects.requireNonNullElse(before.getConditions(), List.<Condition>of());
    return conditions.stream().filter(condition -> condition.type().equals(READY)).findFirst();
  }

  private static NodeGpu gpu(Gpu gpu, Map<String, String> quarantined) {
    String why = quarantined.get(gpu.uuid().text());
    return new NodeGpu(
        gpu.uuid().text(),
        gpu.index(),
        gpu.model(),
        gpu.memoryTotal(),
        new HumanBytes(gpu.memoryTotal()).text(),
        gpu.pciBusId(),
        gpu.computeCapability(),
        gpu.mig(),
        null,
        why == null ? null : true,
        why);
  }

  private static dev.stasis.api.v1beta1.node.GpuLink link(NodeGpus node, GpuLink link) {
    return new dev.stasis.api.v1beta1.node.GpuLink(
        uuid(node, link.first()),
        uuid(node, link.second()),
        PlaceFingerprint.compared(link).text());
  }

  private static String uuid(NodeGpus node, int index) {
    return node.gpus().stream()
        .filter(gpu -> gpu.index() == index)
        .map(gpu -> gpu.uuid().text())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("link of unknown GPU " + index));
  }

  private static List<NodeTopology> topologies(NodeGpus node) {
    List<Gpu> gpus = node.gpus();
    GpuSet set =
        new GpuSet(
            node.driverVersion(),
            gpus.stream()
                .map(
                    gpu ->
                        new dev.stasis.compat.Gpu(
                            gpu.model(),
                            gpu.memoryTotal() >> 20,
                            gpu.computeCapability(),
                            gpu.mig()))
                .toList(),
            Links.of(gpus.size(), (i, j) -> between(node, gpus.get(i), gpus.get(j))));
    List<NodeTopology> topologies = new ArrayList<>();
    for (int n = 1; n <= gpus.size(); n++) {
      Optional<Fingerprint> every = set.everyChoiceOf(n);
      if (every.isPresent()) {
        topologies.add(new NodeTopology(n, every.get().hash(), every.get().text()));
      }
    }
    return topologies;
  }

  private static Link between(NodeGpus node, Gpu one, Gpu other) {
    return node.links().stream()
        .filter(
            link ->
                link.first() == Math.min(one.index(), other.index())
                    && link.second() == Math.max(one.index(), other.index()))
        .map(PlaceFingerprint::compared)
        .findFirst()
        .orElse(Link.of(Link.Kind.SYS));
  }
}
