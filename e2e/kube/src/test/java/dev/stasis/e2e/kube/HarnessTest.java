package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What all scenarios stand on: it runs first, and when it fails the others are skipped. */
@ExtendWith(OnACluster.class)
@Order(OnACluster.FIRST)
class HarnessTest {

  @Test
  void aPodCountsOnItsGpu(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    workload.verifyGoesOn();

    assertThat(workload.restarts()).isZero();
  }
}
