package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VolumesTest {

  /** No cluster is behind it: a folder of the node is judged by the pod alone. */
  private final KubernetesClient client =
      new KubernetesClientBuilder().withConfig(Config.empty()).build();

  @AfterEach
  void hangUp() {
    client.close();
  }

  @Test
  void aFolderOfTheNodeThatIsOnlyReadMayStayThere() {
    assertThat(against(pod(List.of(), mounts("main", true)))).isEmpty();
    assertThat(against(pod(List.of(mounts("first", true)), mounts("main", true)))).isEmpty();
  }

  @Test
  void aFolderOfTheNodeThatIsWrittenCannotFollow() {
    refused(pod(List.of(), mounts("main", false)));
    refused(pod(List.of(), mounts("main", null)));
  }

  @Test
  void oneWriterAmongReadersIsEnough() {
    refused(pod(List.of(), mounts("main", true), mounts("side", false)));
    refused(pod(List.of(mounts("first", false)), mounts("main", true)));
  }

  @Test
  void volumesOfThePodItselfAreAccepted() {
    Pod pod =
        new PodBuilder(pod(List.of(), mounts("main", true)))
            .editSpec()
            .addNewVolume()
            .withName("scratch")
            .withNewEmptyDir()
            .endEmptyDir()
            .endVolume()
            .editFirstContainer()
            .addNewVolumeMount()
            .withName("scratch")
            .withMountPath("/scratch")
            .endVolumeMount()
            .endContainer()
            .endSpec()
            .build();

    assertThat(against(pod)).isEmpty();
  }

  @Test
  void aClaimThatOneNodeMayMountIsRefusedWhileTheSourceHoldsIt() {
    claimed("ReadWriteOnce", MigrationStrategy.LIVE, true);
    claimed("ReadWriteOncePod", MigrationStrategy.LIVE, true);
  }

  @Test
  void aClaimThatManyNodesMayMountFollows() {
    claimed("ReadWriteMany", MigrationStrategy.LIVE, false);
    claimed("ReadOnlyMany", MigrationStrategy.LIVE, false);
  }

  @Test
  void aClaimOfOneNodeFollowsWhenTheSourceIsRemovedFirst() {
    claimed("ReadWriteOnce", MigrationStrategy.RECREATE, false);
  }

  private void claimed(String mode, MigrationStrategy order, boolean refused) {
    PersistentVolumeClaim claim =
        new PersistentVolumeClaimBuilder()
            .withNewMetadata()
            .withNamespace("ml")
            .withName("data")
            .endMetadata()
            .withNewSpec()
            .withAccessModes(mode)
            .endSpec()
            .build();
    Volumes volumes =
        new Volumes(client) {
          @Override
          Optional<PersistentVolumeClaim> claim(Pod pod, String name) {
            return Optional.of(claim).filter(it -> it.getMetadata().getName().equals(name));
          }
        };
    Pod pod =
        new PodBuilder(pod(List.of(), mounts("main", false)))
            .editSpec()
            .withVolumes(
                new VolumeBuilder()
                    .withName("data")
                    .withNewPersistentVolumeClaim("data", false)
                    .build())
            .endSpec()
            .build();
    assertThat(volumes.against(pod, order))
        .extracting(Fault::reason, Fault::found)
        .isEqualTo(
            refused
                ? List.of(
                    tuple(
                        "VolumeCannotFollow",
                        "claim data with ["
                            + mode
                            + "]; strategy: Recreate removes the source first"))
                : List.of());
  }

  private void refused(Pod pod) {
    assertThat(against(pod))
        .containsExactly(
            Fault.misfit(
                "VolumeCannotFollow",
                "spec.volumes[data]",
                "one that is available on another node, or is mounted readOnly",
                "the node's own hostPath /srv/data, writable"));
  }

  private List<Fault> against(Pod pod) {
    return new Volumes(client).against(pod, MigrationStrategy.LIVE);
  }

  private static Container mounts(String container, @Nullable Boolean readOnly) {
    return new ContainerBuilder()
        .withName(container)
        .addNewVolumeMount()
        .withName("data")
        .withMountPath("/data")
        .withReadOnly(readOnly)
        .endVolumeMount()
        .build();
  }

  private static Pod pod(List<Container> before, Container... containers) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("ml")
        .withName("trainer")
        .endMetadata()
        .withNewSpec()
        .addNewVolume()
        .withName("data")
        .withNewHostPath("/srv/data", "Directory")
        .endVolume()
        .withInitContainers(before)
        .withContainers(containers)
        .endSpec()
        .build();
  }
}
