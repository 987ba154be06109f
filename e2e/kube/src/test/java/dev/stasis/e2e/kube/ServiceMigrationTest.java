package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A service whose only pod moves answers again, from the same state. */
@ExtendWith(OnACluster.class)
class ServiceMigrationTest {

  private static final int PORT = 8080;

  /** A migration takes some 20 s here; a busy machine is given time. */
  private static final Duration LONGEST_GAP = Duration.ofMinutes(2);

  /** Until a node's proxy knows a service. */
  private static final Duration PROXY = Duration.ofSeconds(60);

  @Test
  void aClientOfAServiceSeesOneGapAndNoOlderState(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            pod ->
                pod.editMetadata()
                    .addToLabels("app", "trainer")
                    .endMetadata()
                    .editSpec()
                    .editFirstContainer()
                    .addToCommand("--listen", Integer.toString(PORT))
                    .endContainer()
                    .endSpec());
    scenario.apply(
        """
        apiVersion: v1
        kind: Service
        metadata:
          name: trainer
        spec:
          selector: {app: trainer}
          ports: [{port: 8080}]
        """);
    String address =
        scenario.kubectl("get", "service", "trainer", "-o", "jsonpath={.spec.clusterIP}");
    try (ServiceClient client = ServiceClient.start(address.strip(), PORT)) {
      awaitReached(client);

      MigrationRequest off = MigrationRequest.apply(scenario, "move", "trainer");
      Workload here = off.awaitMoving(workload);
      GpuMigrationStatus status = off.await(MigrationPhase.SUCCEEDED);
      here.verifyGoesOn();
      int before = client.seen().counters().size();
      scenario.until(
          "the service answers again", () -> client.seen().counters().size() > before + 100);

      ServiceClient.Seen seen = client.seen();
      System.out.println("downtime " + status.getDowntime() + ", client: " + seen);
      assertThat(seen.counters()).isSorted();
      assertThat(seen.longestGap()).isLessThan(LONGEST_GAP);
    }
  }

  private static void awaitReached(ServiceClient client) {
    try {
      Awaitility.await().atMost(PROXY).until(() -> client.seen().counters().size() > 100);
    } catch (ConditionTimeoutException e) {
      Assumptions.abort(
          "skipped: no service of the cluster can be reached from this machine, which needs"
              + " iptables and a route: "
              + client.seen());
    }
  }
}
