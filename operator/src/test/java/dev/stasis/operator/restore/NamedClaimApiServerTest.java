package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.testing.ClaimedGpus;
import dev.stasis.operator.testing.ClaimedGpus.Allocated;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A pod whose GPU comes from a ResourceClaim that its user created, and that it refers to. */
@SuppressWarnings("NullAway") // what is not there fails the test
class NamedClaimApiServerTest extends OnApiServer {

  private ClaimedGpus gpus;

  @BeforeEach
  void claim() {
    gpus = new ClaimedGpus(client, namespace);
    node(second);
    gpus.publish(first, "H200");
    gpus.publish(second, "H200");
    gpus.claim("mine", "H200");
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    checkpoint.getStatus().setPod(new ObservedPod("trainer", "pod-uid", "main", second));
    checkpoint.getStatus().setPodTemplate(Examples.template(claiming()));
    checkpoint(checkpoint);
  }

  @AfterEach
  void forget() {
    gpus.close();
  }

  @Test
  void theRestoreIsScheduledToTheNodeOfTheSourceAndUsesTheSameClaim() {
    agent.ends(second, Examples::proven);
    restore(it -> {});

    until(it -> phase(it) == RestorePhase.SUCCEEDED);
    assertThat(target().getSpec().getNodeName()).isEqualTo(second);
    assertThat(gpus.allocated()).containsExactly(new Allocated("mine", null, second, "gpu-0"));
  }

  @Test
  void aRestoreOnAnotherNodeIsRefused() {
    restore(it -> it.getSpec().setTarget(new Target(first, null, null, null)));

    GpuRestore refused = until(it -> phase(it) == RestorePhase.FAILED);
    assertThat(refused.getStatus().getMessage())
        .contains(
            "spec.resourceClaims[gpu]: expected a claim template, or node " + second,
            "got claim mine and node " + first);
    assertThat(targets()).isEmpty();
    assertThat(gpus.allocated()).isEmpty();
  }

  private Pod claiming() {
    return new PodBuilder(Examples.pod(namespace, "trainer"))
        .editSpec()
        .addNewResourceClaim()
        .withName("gpu")
        .withResourceClaimName("mine")
        .endResourceClaim()
        .editFirstContainer()
        .editResources()
        .removeFromLimits("nvidia.com/gpu")
        .addNewClaim()
        .withName("gpu")
        .endClaim()
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
