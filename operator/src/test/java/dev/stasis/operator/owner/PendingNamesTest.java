package dev.stasis.operator.owner;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

class PendingNamesTest {

  private final PendingNames names = new PendingNames();

  @Test
  void eachNameIsTakenOnceByTheReconciliationOfItsNamespace() {
    names.add("ml", "train-1");
    names.add("ml", "train-1");
    names.add("ml", "train-2");
    names.add("web", "train-1");

    assertThat(names.take("ml")).containsExactlyInAnyOrder("train-1", "train-2");
    assertThat(names.take("ml")).isEmpty();
    assertThat(names.take("web")).containsExactly("train-1");
  }

  /** A change during a reconciliation triggers another one, and so does a failed one. */
  @Test
  void aNameThatIsAddedAgainIsTakenAgain() {
    names.add("ml", "train-1");
    assertThat(names.take("ml")).containsExactly("train-1");
    names.add("ml", "train-1");
    assertThat(names.take("ml")).containsExactly("train-1");
    names.addAll("ml", List.of("train-1", "train-2"));
    assertThat(names.take("ml")).containsExactlyInAnyOrder("train-1", "train-2");
  }

  /** The framework does not reconcile an object with a deletionTimestamp. */
  @Test
  void aNamespaceThatIsBeingDeletedIsReconciled() {
    NamespaceNames namespaces = new NamespaceNames();
    namespaces.put(
        "ml",
        new NamespaceBuilder()
            .withNewMetadata()
            .withName("ml")
            .withDeletionTimestamp("2026-11-21T10:00:00Z")
            .endMetadata()
            .build());

    assertThat(namespaces.get("ml").isMarkedForDeletion()).isFalse();
  }
}
