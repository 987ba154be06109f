package dev.stasis.operator.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.operation.OperationParts;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.testing.RefusingApiServer;
import dev.stasis.operator.testing.SetClock;
import dev.stasis.operator.testing.TestConfig;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The usage of a ResourceQuota was changed at the same moment: the API server refuses a creation
 * with the code of an existing name, and nothing was created.
 */
class QuotaConflictTest {

  private static final String CHANGED_MEANWHILE = "Conflict";
  private static final String EXISTS = "AlreadyExists";

  private final Pod pod =
      new PodBuilder()
          .withNewMetadata()
          .withNamespace("ml")
          .withName("trainer")
          .endMetadata()
          .build();

  @Test
  void aRequestIsTriedAgain() throws IOException {
    try (RefusingApiServer server = new RefusingApiServer(CHANGED_MEANWHILE)) {
      RequestWrites writes = new ClusterRequestWrites(server.client(), new SetClock());
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThatThrownBy(() -> writes.create(pod)).isInstanceOf(KubernetesClientException.class);
      }
    }
  }

  @Test
  void aRequestWhoseNameIsInUseCountsAsCreated() throws IOException {
    try (RefusingApiServer server = new RefusingApiServer(EXISTS)) {
      RequestWrites writes = new ClusterRequestWrites(server.client(), new SetClock());
      assertThat(writes.create(pod)).isEmpty();
    }
  }

  @Test
  void aTargetKeepsItsName() throws IOException {
    try (RefusingApiServer server = new RefusingApiServer(CHANGED_MEANWHILE)) {
      Targets targets = new Targets(server.client());
      assertThatThrownBy(() -> targets.create(pod, false))
          .isInstanceOf(KubernetesClientException.class);
    }
  }

  @Test
  void aTargetWhoseNameIsInUseGetsAnother() throws IOException {
    try (RefusingApiServer server = new RefusingApiServer(EXISTS)) {
      assertThat(new Targets(server.client()).create(pod, false)).isInstanceOf(Targets.Taken.class);
    }
  }

  @Test
  void anOperationIsTriedAgain() throws IOException {
    try (RefusingApiServer server = new RefusingApiServer(CHANGED_MEANWHILE)) {
      Operations operations = operations(server.client());
      GpuNodeOperation operation = operation(operations);
      assertThatThrownBy(() -> operations.create(operation))
          .isInstanceOf(KubernetesClientException.class);
    }
  }

  private static Operations operations(KubernetesClient client) {
    TestConfig config = new TestConfig("stasis-system");
    return OperationParts.operations(client, new Informers(client, config), config);
  }

  private static GpuNodeOperation operation(Operations operations) {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.DELETE_ARTIFACT);
    spec.setNodeName("node1");
    return operations.draft(
        new ObjectReference("GpuCheckpoint", "ml", "train", "6a1f0c52-8f5b-4f6c-9d1e-0c1a2b3c4d5e"),
        1,
        spec);
  }
}
