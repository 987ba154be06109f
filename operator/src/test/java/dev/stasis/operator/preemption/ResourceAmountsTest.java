package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class ResourceAmountsTest {

  @Test
  void anInitContainerCountsOnlyIfItNeedsMoreThanTheContainers() {
    assertThat(cores(init(4), main(1))).isEqualByComparingTo("4");
    assertThat(cores(init(1), main(4))).isEqualByComparingTo("4");
  }

  @Test
  void aSidecarIsNotAddedToAnInitContainerThatHasEndedBefore() {
    assertThat(cores(init(8), sidecar(1), main(2))).isEqualByComparingTo("8");
    assertThat(cores(sidecar(1), init(8), main(2))).isEqualByComparingTo("9");
    assertThat(cores(sidecar(1), init(2), sidecar(3), main(2))).isEqualByComparingTo("6");
  }

  /** The last one is the pod's container, those before it are its init containers. */
  private static BigDecimal cores(Container... containers) {
    PodBuilder pod = new PodBuilder().withNewSpec().endSpec();
    for (int i = 0; i < containers.length - 1; i++) {
      pod.editSpec().addToInitContainers(containers[i]).endSpec();
    }
    Pod built = pod.editSpec().addToContainers(containers[containers.length - 1]).endSpec().build();
    return ResourceAmounts.of(built).get("cpu");
  }

  private static Container main(int cores) {
    return new ContainerBuilder()
        .withNewResources()
        .addToRequests("cpu", new Quantity(Integer.toString(cores)))
        .endResources()
        .build();
  }

  private static Container init(int cores) {
    return main(cores);
  }

  private static Container sidecar(int cores) {
    return main(cores).edit().withRestartPolicy("Always").build();
  }
}
