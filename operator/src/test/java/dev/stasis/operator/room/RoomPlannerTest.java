package dev.stasis.operator.room;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import io.fabric8.kubernetes.api.model.ContainerResizePolicy;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RoomPlannerTest {

  private static final long GIB = 1L << 30;
  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final RoomFacts.Need NEED = new RoomFacts.Need(GIB, 24 * GIB);
  private static final String GUARANTEED =
      "limits: {cpu: '8', memory: 6Gi}, requests: {cpu: '8', memory: 6Gi}";
  private static final String BURSTABLE = "limits: {memory: 6Gi}, requests: {memory: 2Gi}";

  private final RoomPlanner planner = new RoomPlanner();

  @Test
  void aLimitThatIsHighEnoughStays() {
    assertThat(plan(pod("limits: {memory: 24Gi}, requests: {memory: 24Gi}"), node(0, 0)))
        .isEqualTo(new RoomPlan.NoResizeNeeded());
  }

  @Test
  void requestAndLimitOfAGuaranteedPodRiseTogetherAndFallBack() {
    assertThat(plan(pod(GUARANTEED), node(18, 0)))
        .isEqualTo(new RoomPlan.Resize("main", memory("24576Mi", "24576Mi"), memory("6Gi", "6Gi")));
  }

  @Test
  void aGuaranteedPodOnAFullNodeIsRefusedWithBothValues() {
    assertThat(messages(plan(pod(GUARANTEED), node(17, 99))))
        .containsExactly("node gpu-17 allocatable memory: expected 18.0Gi more, got 17.0Gi left");
  }

  @Test
  void theRequestOfABurstablePodRisesWhereTheNodeHasIt() {
    assertThat(plan(pod(BURSTABLE), node(22, 0)))
        .isEqualTo(new RoomPlan.Resize("main", memory("24576Mi", "24576Mi"), memory("2Gi", "6Gi")));
  }

  @Test
  void elseTheLimitAloneRisesIfTheMemoryIsFree() {
    assertThat(plan(pod(BURSTABLE), node(3, 23)))
        .isEqualTo(
            new RoomPlan.Resize(
                "main",
                new RoomPlan.Memory(Optional.empty(), new Quantity("24576Mi")),
                new RoomPlan.Memory(Optional.empty(), new Quantity("6Gi"))));
    assertThat(messages(plan(pod(BURSTABLE), node(3, 22))))
        .containsExactly(
            "node gpu-17 memory above its eviction threshold: expected 23.0Gi free, got 22.0Gi");
  }

  @Test
  void aBurstablePodDoesNotBecomeGuaranteed() {
    Pod pod = pod("limits: {cpu: '8', memory: 6Gi}, requests: {cpu: '8', memory: 2Gi}");

    assertThat(plan(pod, node(99, 0)))
        .isEqualTo(new RoomPlan.Resize("main", memory("24575Mi", "24576Mi"), memory("2Gi", "6Gi")));
  }

  @Test
  void withoutALimitTheNodeMustHaveItFree() {
    assertThat(plan(pod(""), node(0, 23))).isEqualTo(new RoomPlan.NoResizeNeeded());
    assertThat(messages(plan(pod(""), node(99, 22)))).hasSize(1);
    assertThat(messages(plan(pod("limits: {memory: 30Gi}, requests: {memory: 2Gi}"), node(99, 0))))
        .hasSize(1);
  }

  @Test
  void aContainerThatWouldBeRestartedIsRefused() {
    Pod pod = pod(GUARANTEED);
    pod.getSpec()
        .getContainers()
        .get(0)
        .setResizePolicy(List.of(new ContainerResizePolicy("memory", "RestartContainer")));

    assertThat(messages(plan(pod, node(99, 99))))
        .containsExactly(
            "spec.containers[main].resizePolicy[memory]: expected NotRequired, got"
                + " RestartContainer");
  }

  @Test
  void memoryRoomRefuseRefusesWithBothSizes() {
    RoomFacts facts =
        new RoomFacts(
            pod(GUARANTEED),
            "main",
            NEED,
            MemoryLimitPolicy.FAIL,
            node(99, 99),
            List.of(),
            List.of());

    assertThat(messages(planner.plan(facts)))
        .containsExactly(
            "spec.containers[main].resources.limits.memory: expected at least 24.0Gi, or"
                + " memoryLimitPolicy Resize, got 6.0Gi");
  }

  @Test
  void resourcesOfThePodCannotBeResized() {
    Pod pod = pod("");
    pod.getSpec()
        .setResources(
            new ResourceRequirementsBuilder().addToLimits("memory", new Quantity("8Gi")).build());

    assertThat(messages(plan(pod, node(99, 99))))
        .containsExactly(
            "spec.resources.limits.memory: expected at least 24.0Gi; a limit of the pod cannot be"
                + " resized, got 8.0Gi");
  }

  @Test
  void aQuotaThatIsUsedUpRefuses() {
    String quota =
        """
        metadata: {name: team}
        status: {hard: {requests.memory: 40Gi, limits.memory: 20Gi}, used: {requests.memory: 30Gi, limits.memory: 6Gi}}
        """;

    assertThat(messages(plan(pod(GUARANTEED), node(99, 99), quota, null)))
        .containsExactly(
            "ResourceQuota team limits.memory: expected 18.0Gi more, got 14.0Gi left",
            "ResourceQuota team requests.memory: expected 18.0Gi more, got 10.0Gi left");
    assertThat(messages(plan(pod(BURSTABLE), node(99, 99), quota, null)))
        .containsExactly("ResourceQuota team limits.memory: expected 18.0Gi more, got 14.0Gi left");
  }

  @Test
  void aRangeThatIsTooNarrowRefuses() {
    String range =
        """
        metadata: {name: sizes}
        spec:
          limits:
          - {type: Container, max: {memory: 16Gi}, maxLimitRequestRatio: {memory: '4'}}
          - {type: Pod, max: {memory: 24Gi}}
        """;

    assertThat(messages(plan(pod(BURSTABLE), node(0, 99), null, range)))
        .containsExactly(
            "LimitRange sizes Container max.memory: expected at least 24.0Gi, got 16.0Gi",
            "LimitRange sizes Container maxLimitRequestRatio.memory: expected 24.0Gi to 2.0Gi,"
                + " got 4");
  }

  @Test
  void thereAndBackIsTheSamePod() {
    Pod pod = pod(GUARANTEED);
    RoomPlan.Resize resize = (RoomPlan.Resize) plan(pod, node(99, 99));

    Pod raised = planner.resized(pod, "main", resize.raised());

    assertThat(raised).isNotEqualTo(pod);
    assertThat(planner.resized(raised, "main", resize.original())).isEqualTo(pod);
  }

  private RoomPlan plan(Pod pod, RoomFacts.Node node) {
    return plan(pod, node, null, null);
  }

  private RoomPlan plan(
      Pod pod, RoomFacts.Node node, @Nullable String quota, @Nullable String range) {
    return planner.plan(
        new RoomFacts(
            pod,
            "main",
            NEED,
            MemoryLimitPolicy.RESIZE,
            node,
            quota == null ? List.of() : List.of(YAML.unmarshal(quota, ResourceQuota.class)),
            range == null ? List.of() : List.of(YAML.unmarshal(range, LimitRange.class))));
  }

  private static List<String> messages(RoomPlan plan) {
    assertThat(plan).isInstanceOf(RoomPlan.Refused.class);
    return ((RoomPlan.Refused) plan).faults().stream().map(Fault::message).toList();
  }

  private static RoomFacts.Node node(long headroomGib, long freeGib) {
    return new RoomFacts.Node("gpu-17", 200 * GIB, (200 - headroomGib) * GIB, freeGib * GIB);
  }

  private static RoomPlan.Memory memory(String request, String limit) {
    return new RoomPlan.Memory(Optional.of(new Quantity(request)), new Quantity(limit));
  }

  private static Pod pod(String resources) {
    return YAML.unmarshal(
        """
        kind: Pod
        apiVersion: v1
        spec: {containers: [{name: main, resources: {%s}}]}
        """
            .formatted(resources),
        Pod.class);
  }
}
