package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What all scenarios stand on. */
@ExtendWith(OnACluster.class)
class HarnessTest {

  @Test
  void aPodCountsOnItsGpu(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    workload.verifyGoesOn();

    assertThat(workload.restarts()).isZero();
  }
}
