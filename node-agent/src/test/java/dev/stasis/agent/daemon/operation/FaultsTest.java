package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Scope;
import org.junit.jupiter.api.Test;

class FaultsTest {

  /** By this reason a schedule restores an older checkpoint. */
  @Test
  void aDamagedArtifactIsNoFaultOfTheTarget() {
    FailedRequirement damaged =
        new FailedRequirement("sha256 of chunk 1", "16xab", "16xcd", Scope.ARTIFACT);

    assertThat(Faults.restoring(damaged).reason()).isEqualTo("ArtifactRefused");
  }
}
