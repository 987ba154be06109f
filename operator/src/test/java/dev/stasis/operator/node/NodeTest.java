package dev.stasis.operator.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.api.v1beta1.node.GpuLink;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Property;
import dev.stasis.operator.explain.Candidate;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeTest {

  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

  private final FactsReader reader = new FactsReader();
  private final NodeLabels labels = new NodeLabels();

  @Test
  void aNodeOffersTheFactsOfItsAgent() {
    NodeFacts facts = facts(gpuNode(NOW));

    assertThat(facts.offer(2).orElseThrow().value(Property.GPU_INTERCONNECT)).contains("NV18");
    assertThat(facts.offer(2).orElseThrow().value(Property.GPU_MEMORY)).contains("143771");
    assertThat(facts.host().value(Property.CRIU_VERSION)).contains("4.2.1");
    assertThat(facts.labels()).containsKeys("topology.stasis.dev/gpus-1", NodeFacts.gpusLabel(2));
  }

  @Test
  void aPairOfWhichNothingIsSaidIsPromisedNoMoreThanTheWeakestLink() {
    GpuNode node = gpuNode(NOW);
    node.getStatus().setLinks(List.of());

    assertThat(facts(node).offer(2).orElseThrow().value(Property.GPU_INTERCONNECT)).contains("SYS");
  }

  @Test
  void aGpuNodeThatCannotBeReadSaysWhichPropertyAndHasNoLabels() {
    GpuNode node = gpuNode(NOW);
    host(node).setFingerprint("criu.version");

    assertThat(reader.read(node))
        .isEqualTo(
            new FactsReader.Unreadable(
                "status: fingerprint: expected lines like gpu.count=1, got \"criu.version\""));
    assertThat(labels.wanted(Optional.of(node), NOW).labels()).isEmpty();
    assertThat(reader.read(new GpuNode())).isInstanceOf(FactsReader.Unreadable.class);
  }

  @Test
  void aNewReportReplacesTheFactsOfTheOneBefore() {
    assertThat(facts(gpuNode(NOW)).host().value(Property.CRIU_VERSION)).contains("4.2.1");
    GpuNode next = gpuNode(NOW);
    host(next).setFingerprint("criu.version=4.3\n");
    assertThat(facts(next).host().value(Property.CRIU_VERSION)).contains("4.3");
    assertThat(facts(gpuNode(NOW)).host().value(Property.CRIU_VERSION)).contains("4.2.1");
  }

  /** A large cluster would otherwise be read again for each checkpoint. */
  @Test
  void aReportIsReadOnceAndEqualReportsShareTheirFacts() {
    GpuNode node = gpuNode(NOW);
    assertThat(reader.read(node)).isSameAs(reader.read(node));
    assertThat(facts(node)).isSameAs(facts(gpuNode(NOW)));
  }

  @Test
  void labelsGoWithTheGpuNodeAndOnlyOursAreTouched() {
    Map<String, String> wanted = labels.wanted(Optional.of(gpuNode(NOW)), NOW).labels();

    assertThat(labels.changes(Map.of("zone", "a"), wanted).keySet()).isEqualTo(wanted.keySet());
    assertThat(labels.changes(wanted, wanted)).isEmpty();
    assertThat(
            labels.changes(
                Map.of("zone", "a", "topology.stasis.dev/gpus-8", "old"),
                labels.wanted(Optional.empty(), NOW).labels()))
        .isEqualTo(Map.of("topology.stasis.dev/gpus-8", Optional.empty()));
  }

  @Test
  void labelsOutliveAnAgentRestartButNotALongOutage() {
    GpuNode node = gpuNode(NOW);
    Instant soon = NOW.plus(Duration.ofMinutes(9));
    Instant late = NOW.plus(Duration.ofMinutes(10));

    assertThat(labels.wanted(Optional.of(node), soon).labels()).isNotEmpty();
    assertThat(labels.wanted(Optional.of(node), soon).until()).contains(late);
    assertThat(labels.wanted(Optional.of(node), late).labels()).isEmpty();
  }

  /** Every agent sends one a minute, and each would be a reconciliation that changes nothing. */
  @Test
  void aHeartbeatOfAnAvailableAgentDoesNotAffectTheLabels() {
    GpuNode before = gpuNode(NOW.minus(Duration.ofMinutes(1)));
    assertThat(labels.areAffected(before, gpuNode(NOW), NOW)).isFalse();
    assertThat(labels.areAffected(gpuNode(NOW), before, NOW)).as("an earlier end").isTrue();
  }

  /** The labels may have been removed. */
  @Test
  void anAgentThatWasAwayOrIsAffectsTheLabels() {
    GpuNode silent = gpuNode(NOW.minus(Duration.ofMinutes(4)));
    GpuNode notReady = gpuNode(NOW);
    notReady.getStatus().setConditions(List.of(ready(ConditionValue.FALSE, NOW)));

    for (GpuNode away : List.of(silent, notReady)) {
      assertThat(labels.areAffected(away, gpuNode(NOW), NOW)).isTrue();
      assertThat(labels.areAffected(gpuNode(NOW), away, NOW)).isTrue();
    }
  }

  @Test
  void everythingThatTheLabelsShowAffectsThem() {
    GpuNode node = gpuNode(NOW);
    GpuNode driver = gpuNode(NOW);
    host(driver).setDriver("580.159.04");
    GpuNode fingerprint = gpuNode(NOW);
    host(fingerprint).setFingerprint("criu.version=4.3\n");
    GpuNode gpus = gpuNode(NOW);
    gpus.getStatus().setGpus(List.of(gpu("GPU-a", false)));
    GpuNode links = gpuNode(NOW);
    links.getStatus().setLinks(List.of());
    GpuNode capability = gpuNode(NOW);
    capability.getStatus().setCapabilities(List.of(Capability.CHECKPOINT));
    GpuNode deleted = gpuNode(NOW);
    deleted.getMetadata().setDeletionTimestamp(NOW.toString());

    assertThat(labels.areAffected(node, gpuNode(NOW), NOW)).isFalse();
    assertThat(List.of(driver, fingerprint, gpus, links, capability, deleted))
        .allMatch(changed -> labels.areAffected(node, changed, NOW))
        .allMatch(changed -> labels.areAffected(changed, node, NOW));
  }

  @Test
  void anAgentThatSaysThatItIsNotReadyLosesTheLabelsInTheSameTime() {
    GpuNode node = gpuNode(NOW);
    Instant since = NOW.minus(Duration.ofMinutes(9));
    node.getStatus().setConditions(List.of(ready(ConditionValue.FALSE, since)));

    assertThat(labels.wanted(Optional.of(node), NOW).labels()).isNotEmpty();
    node.getStatus()
        .setConditions(List.of(ready(ConditionValue.FALSE, since.minus(Duration.ofMinutes(1)))));
    assertThat(labels.wanted(Optional.of(node), NOW).labels()).isEmpty();
  }

  @Test
  void aNodeWhoseAgentCannotRestoreAttractsNoTarget() {
    GpuNode node = gpuNode(NOW);
    node.getStatus().setCapabilities(List.of(Capability.CHECKPOINT));

    assertThat(labels.wanted(Optional.of(node), NOW).labels()).isEmpty();
    assertThat(candidate(node, node(false)).against())
        .containsExactly("agent: expected capability Restore, got [Checkpoint]");
  }

  @Test
  void everythingAgainstANodeIsNamed() {
    GpuNode silent = gpuNode(NOW.minus(Duration.ofMinutes(4)));

    assertThat(candidate(gpuNode(NOW), node(false)).against()).isEmpty();
    assertThat(candidate(silent, node(true)).against())
        .containsExactly(
            "node: expected a schedulable one, got a cordoned one",
            "agent: expected a heartbeat within 3m, got the last one at 2026-11-21T09:56:00Z");
    assertThat(new Candidates().of(List.of(gpuNode(NOW)), List.of(), NOW).get(0).against())
        .containsExactly("node: expected one with that name in the cluster, got none");
  }

  /** 1,000 nodes send 17 heartbeats a second, and none of them concerns a request. */
  @Test
  void aHeartbeatIsNoOtherPlaceUnlessItEndsASilence() {
    Candidates candidates = new Candidates();
    Optional<Node> node = Optional.of(node(false));
    GpuNode now = gpuNode(NOW);
    assertThat(candidates.areSame(gpuNode(NOW.minusSeconds(60)), now, node, NOW)).isTrue();
    assertThat(candidates.areSame(gpuNode(NOW.minusSeconds(600)), now, node, NOW)).isFalse();

    GpuNode updated = gpuNode(NOW);
    host(updated).setFingerprint("criu.version=4.3\n");
    assertThat(candidates.areSame(now, updated, node, NOW)).isFalse();
    GpuNode quarantined = gpuNode(NOW);
    quarantined.getStatus().setGpus(List.of(gpu("GPU-a", false), gpu("GPU-b", true)));
    assertThat(candidates.areSame(now, quarantined, node, NOW)).as("one of two GPUs").isTrue();
    GpuNode unusable = gpuNode(NOW);
    unusable.getStatus().setGpus(List.of(gpu("GPU-a", true), gpu("GPU-b", true)));
    assertThat(candidates.areSame(now, unusable, node, NOW)).isFalse();
  }

  @Test
  void onlyANodeWhoseLastGpuIsQuarantinedIsOutOfTheQuestion() {
    GpuNode node = gpuNode(NOW);
    NodeGpu good = gpu("GPU-a", false);
    node.getStatus().setGpus(List.of(good, gpu("GPU-b", true)));
    assertThat(candidate(node, node(false)).against()).isEmpty();

    node.getStatus().setGpus(List.of(gpu("GPU-b", true)));
    assertThat(candidate(node, node(false)).against())
        .containsExactly("gpu GPU-b: expected a usable GPU, got a quarantined one: lost");
  }

  private static NodeHost host(GpuNode node) {
    return Objects.requireNonNull(node.getStatus().getHost());
  }

  private NodeFacts facts(GpuNode node) {
    return ((FactsReader.Facts) reader.read(node)).facts();
  }

  private static Candidate candidate(GpuNode gpuNode, Node node) {
    return new Candidates().of(List.of(gpuNode), List.of(node), NOW).get(0);
  }

  private static Node node(boolean cordoned) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("node1")
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(cordoned)
        .endSpec()
        .build();
  }

  private static GpuNode gpuNode(Instant heartbeat) {
    GpuNode node = new GpuNode();
    node.getMetadata().setName("node1");
    NodeHost host = new NodeHost();
    host.setDriver("580.105.08");
    host.setFingerprint("cpu.architecture=amd64\ncriu.version=4.2.1\nkernel.version=6.12\n");
    GpuNodeStatus status = new GpuNodeStatus();
    status.setHost(host);
    status.setGpus(List.of(gpu("GPU-a", false), gpu("GPU-b", false)));
    status.setLinks(List.of(new GpuLink("GPU-a", "GPU-b", "NV18")));
    status.setAgent(new AgentIdentity("0.1.0", null, heartbeat, heartbeat, null, null));
    node.setStatus(status);
    return node;
  }

  private static NodeGpu gpu(String uuid, boolean quarantined) {
    return new NodeGpu(
        uuid, 0, "NVIDIA H200", 143771L << 20, null, null, "9.0", false, 0, quarantined, "lost");
  }

  private static Condition ready(ConditionValue truth, Instant since) {
    return new Condition("Ready", truth, "SelfTestFailed", "no driver", since, 1L);
  }
}
