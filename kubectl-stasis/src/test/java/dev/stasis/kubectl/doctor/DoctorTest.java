package dev.stasis.kubectl.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.Resource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorTest {

  private static final Resource OPERATOR =
      Objects.of(
          """
          kind: Deployment
          metadata:
            name: stasis-operator
            namespace: stasis-system
            labels: {app.kubernetes.io/name: stasis, app.kubernetes.io/component: operator, app.kubernetes.io/version: 0.1.0-SNAPSHOT}
          spec: {replicas: 2}
          status: {readyReplicas: 2}
          """);

  private static final Resource STORE =
      Objects.of("{kind: GpuCheckpointStore, metadata: {name: local}, spec: {default: true}}");

  private static final Resource KUBE_NODE =
      Objects.of(
          """
          {kind: Node, metadata: {name: gpu-17}, status: {capacity: {nvidia.com/gpu: "2"}}}
          """);

  private static List<Finding> examine(Resource gpuNode) {
    return new Doctor()
        .examine(
            new Facts(
                Objects.NOW,
                "1.36",
                List.of(gpuNode),
                List.of(KUBE_NODE),
                List.of(OPERATOR),
                List.of(),
                List.of(STORE),
                List.of(),
                List.of(),
                Map.of()));
  }

  /** The good node with something else in its status. */
  private static Resource node(String statusYaml) {
    ObjectNode node = Objects.node().json().deepCopy();
    ObjectNode status = (ObjectNode) node.path("status");
    JsonNode changed = Objects.json(statusYaml);
    changed.fieldNames().forEachRemaining(name -> merge(status, name, changed.path(name)));
    return new Resource(node);
  }

  private static void merge(ObjectNode into, String name, JsonNode value) {
    if (value.isObject() && into.path(name).isObject()) {
      ((ObjectNode) into.path(name)).setAll((ObjectNode) value);
    } else {
      into.set(name, value);
    }
  }

  @Test
  void aClusterWithoutAFaultHasALineForEachNodeAndNoProblem() {
    List<Finding> findings = examine(Objects.node());
    assertThat(findings)
        .containsExactly(Finding.well("gpu-17", "2 x NVIDIA H200, driver 580.159.04, criu 4.2.1"));
    assertThat(new Doctor().isIll(findings)).isFalse();
  }

  @Test
  void aNodeThatLacksWhatTheKernelOfAnotherHasIsNamed() {
    Resource other =
        Objects.of(
            "{kind: GpuNode, metadata: {name: gpu-18}, status: {host: {fingerprint: \"%s\"}}}"
                .formatted("kernel.ioUring=yes\\nkernel.ipv6=no"));
    Resource strict =
        Objects.of(
            "{kind: GpuNode, metadata: {name: gpu-17}, status: {host: {fingerprint: \"%s\"}}}"
                .formatted("kernel.ioUring=no\\nkernel.ipv6=no"));

    assertThat(new KernelExam(List.of(strict, other)).findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.where()).isEqualTo("gpu-17");
              assertThat(finding.toString())
                  .contains("kernel.ioUring: expected yes, as on other nodes, got no");
            });
    assertThat(new KernelExam(List.of(strict)).findings()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NoDriver | libcuda.so.1: expected the driver's library, got none | agent.runtimeClassName",
        "NoCriu | criu: expected one that passes its check, got: timens is not supported | agent's"
            + " own image",
        "NoGpus | gpu.count: expected at least 1, got 0 | nvidia-smi",
        "NoContainerRuntime | /run/containerd/containerd.sock: expected a response, got none |"
            + " agent.paths.criSocket",
        "NoKubelet | pod-resources: expected a response, got none | agent.paths.kubelet",
        "NotRoot | agent: expected root, got another user | root",
        "SelfTestFailed | self-test: expected a pattern back, got another | logs"
      })
  void everyObstacleOfAnAgentIsAProblemWithARemedy(String reason, String message, String advice) {
    Resource broken =
        node(
            """
            missing: [{reason: %s, message: "%s"}]
            reason: %s
            conditions: [{type: Ready, status: "False", reason: %s, message: "%s"}]
            """
                .formatted(reason, message, reason, reason, message));
    assertThat(examine(broken))
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.severity()).isEqualTo(Finding.Severity.PROBLEM);
              assertThat(it.what()).isEqualTo(message);
              assertThat(it.advice()).contains(advice);
            });
  }

  @Test
  void anOldDriverIsAProblemAndOneWithoutAMapAWarning() {
    assertThat(examine(node("host: {driver: 550.54.15}")))
        .extracting(Finding::what)
        .containsExactly("driver: expected 570 or newer, got 550.54.15");
    Resource without =
        node("missing: [{reason: DriverTooOld, message: 'map of GPUs: expected driver 580'}]");
    assertThat(examine(without))
        .extracting(Finding::severity)
        .containsExactly(Finding.Severity.WARNING);
  }

  @Test
  void twoCgroupDriversAreAWarningWithARemedy() {
    String why = "cgroup driver: expected one of kubelet and runtime, got cgroupfs and systemd";
    assertThat(examine(node("missing: [{reason: CgroupDriverMismatch, message: '" + why + "'}]")))
        .singleElement()
        .satisfies(it -> assertThat(it.severity()).isEqualTo(Finding.Severity.WARNING))
        .satisfies(it -> assertThat(it.what()).isEqualTo(why))
        .satisfies(it -> assertThat(it.advice()).contains("SystemdCgroup"));
  }

  @Test
  void anOldCriuIsAProblem() {
    assertThat(examine(node("host: {criu: 4.0}")))
        .extracting(Finding::what)
        .containsExactly("criu: expected 4.1.1 or newer, got 4.0");
  }

  @Test
  void aDiskThatFillsUpIsAWarningAndAFullOneAProblem() {
    assertThat(
            examine(node("stores: [{name: local, totalBytes: 1000000000, freeBytes: 50000000}]")))
        .extracting(Finding::severity)
        .containsExactly(Finding.Severity.WARNING);
    assertThat(examine(node("stores: [{name: local, totalBytes: 1000000000, freeBytes: 0}]")))
        .singleElement()
        .satisfies(it -> assertThat(it.severity()).isEqualTo(Finding.Severity.PROBLEM))
        .satisfies(it -> assertThat(it.what()).contains("got nothing"));
    assertThat(
            examine(
                node("stores: [{name: local, writable: false, message: Read-only file system}]")))
        .extracting(Finding::what)
        .containsExactly("store local: expected a writable folder, got Read-only file system");
  }

  @Test
  void aStoreThatSharesItsDiskWithTheKubeletIsAWarning() {
    assertThat(examine(node("stores: [{name: local, writable: true, sharesNodefs: true}]")))
        .singleElement()
        .satisfies(it -> assertThat(it.severity()).isEqualTo(Finding.Severity.WARNING))
        .satisfies(it -> assertThat(it.what()).startsWith("store local:").contains("nodefs"));
    assertThat(examine(node("stores: [{name: local, writable: true, sharesNodefs: false}]")))
        .extracting(Finding::severity)
        .doesNotContain(Finding.Severity.WARNING);
  }

  @Test
  void aClockThatGoesWrongIsSeenByTheTimeOfTheWrite() {
    assertThat(examine(node("agent: {heartbeatTime: '2026-11-21T10:09:03Z'}")))
        .extracting(Finding::what)
        .containsExactly("clock: expected the time of the API server, got one that is 27s behind");
    assertThat(examine(node("agent: {heartbeatTime: '2026-11-21T10:09:57Z'}")))
        .extracting(Finding::what)
        .containsExactly("clock: expected the time of the API server, got one that is 27s ahead");
  }

  @Test
  void aSilentAgentIsAProblemAndSaysWhatIsFrozenThere() {
    Resource silent =
        node(
            """
            agent: {heartbeatTime: "2026-11-21T10:05:00Z"}
            frozen: [{pod: {namespace: ml, name: trainer}, state: Suspended}]
            """);
    assertThat(examine(silent).get(0).what())
        .isEqualTo(
            "agent: expected a heartbeat each minute, got none for 5m; 1 workloads are frozen"
                + " there");
    assertThat(examine(silent).get(0).advice()).contains("the node has no agent pod");
  }

  @Test
  void aPodThatIsFrozenTooLongIsNamedWithWhatFrozeIt() {
    String frozen =
        "frozen: [{pod: {namespace: ml, name: trainer}, state: %s, since: '2026-11-21T09:10:00Z',"
            + " by: {kind: GpuCheckpoint, name: train-1}}]";
    assertThat(examine(node(frozen.formatted("Frozen"))))
        .singleElement()
        .satisfies(it -> assertThat(it.what()).isEqualTo("pod ml/trainer: frozen for 60m"))
        .satisfies(it -> assertThat(it.advice()).contains("kubectl stasis cancel train-1 -n ml"));
    assertThat(examine(node(frozen.formatted("Suspended"))))
        .extracting(Finding::severity)
        .containsExactly(Finding.Severity.WELL);
  }

  @Test
  void aQuarantinedGpuIsAProblem() {
    assertThat(
            examine(node("gpus: [{uuid: GPU-1, quarantined: true, quarantineReason: it hangs}]")))
        .extracting(Finding::what)
        .containsExactly("GPU-1: quarantined: it hangs");
  }

  @Test
  void aNodeWithGpusAndWithoutAnAgentIsNamedWithTheStateOfItsPod() {
    Resource pod =
        Objects.of(
            """
            kind: Pod
            metadata:
              name: stasis-agent-x
              namespace: stasis-system
              labels: {app.kubernetes.io/name: stasis, app.kubernetes.io/component: agent}
            spec: {nodeName: gpu-17}
            status: {phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff}}}]}
            """);
    List<Finding> findings =
        new Doctor()
            .examine(
                new Facts(
                    Objects.NOW,
                    "1.36",
                    List.of(),
                    List.of(KUBE_NODE),
                    List.of(OPERATOR),
                    List.of(pod),
                    List.of(STORE),
                    List.of(),
                    List.of(),
                    Map.of()));
    assertThat(findings)
        .singleElement()
        .satisfies(it -> assertThat(it.where()).isEqualTo("gpu-17"))
        .satisfies(it -> assertThat(it.advice()).contains("is waiting (ImagePullBackOff)"));
  }

  @Test
  void aPodThatIsHeldForItsEvictionTooLongIsNamedWithTheWayOut() {
    Resource pod =
        Objects.of(
            """
            kind: Pod
            metadata: {name: trainer, namespace: ml, uid: p1, annotations: {stasis.dev/evict-deadline: 5m}}
            spec: {nodeName: gpu-17}
            """);
    Resource budget =
        Objects.of(
            """
            kind: PodDisruptionBudget
            metadata: {name: evict-trainer-p1, namespace: ml, labels: {stasis.dev/eviction: p1}, creationTimestamp: "2026-11-21T10:00:00Z"}
            """);
    List<Finding> findings =
        new Doctor()
            .examine(
                new Facts(
                    Objects.NOW,
                    "1.36",
                    List.of(Objects.node()),
                    List.of(KUBE_NODE),
                    List.of(OPERATOR),
                    List.of(),
                    List.of(STORE),
                    List.of(pod, budget),
                    List.of(),
                    Map.of()));
    assertThat(findings.get(0).what())
        .isEqualTo("pod ml/trainer: protected from eviction for 10m, expected at most 5m");
    assertThat(findings.get(0).advice())
        .isEqualTo(
            "if no checkpoint of the pod is in progress (kubectl stasis list -n ml) and the chart's"
                + " eviction.deadline has passed, release it: kubectl delete pdb -n ml"
                + " evict-trainer-p1");
  }

  @Test
  void findingsOfTheClusterComeFirstAndMissingRightsAreReported() {
    List<Finding> findings =
        new Doctor()
            .examine(
                new Facts(
                    Objects.NOW,
                    "1.32",
                    List.of(Objects.node()),
                    List.of(KUBE_NODE),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    Map.of("pods", "forbidden")));
    assertThat(findings)
        .extracting(Finding::what)
        .containsExactly(
            "Kubernetes: expected 1.33 or newer, got 1.32",
            "operator: expected its Deployment, got none",
            "stores: expected one with spec.default, got 0 without",
            "pods: not checked: forbidden",
            "2 x NVIDIA H200, driver 580.159.04, criu 4.2.1");
  }
}
