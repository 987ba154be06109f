package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a real API server takes and what it refuses, with which words. */
@OnTestCluster
class SuiteTest {
  @SuppressWarnings("NullAway.Init") // made before the first test
  private static ApiServer server;

  @BeforeAll
  static void connect() {
    server = ApiServer.fromEnvironment();
  }

  @AfterAll
  @SuppressWarnings("NullAway") // there is none when connect() was aborted
  static void disconnect() {
    if (server != null) {
      server.close();
    }
  }

  static List<Sample> valid() throws IOException {
    return Sample.all("valid-");
  }

  static List<Sample> invalid() throws IOException {
    return Sample.all("invalid-");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void valid(Sample sample) {
    assertThat(sample.messages()).as("messages of a valid file").isEmpty();

    GenericKubernetesResource stored = play(sample);

    GenericKubernetesResource last = sample.documents().get(sample.documents().size() - 1);
    String part = sample.ofStatus() ? "status" : "spec";
    assertThat(lost(part, last.get(part), stored.get(part)))
        .as("what the schema does not know, and the server drops")
        .isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void invalid(Sample sample) {
    assertThat(sample.messages()).as("messages of an invalid file").isNotEmpty();

    KubernetesClientException refusal =
        catchThrowableOfType(KubernetesClientException.class, () -> play(sample));

    assertThat(refusal).as("the API server's refusal").isNotNull();
    assertThat(refusal.getCode()).isEqualTo(422);
    assertThat(refusal.getStatus().getMessage()).contains(sample.messages());
  }

  private static List<String> lost(String path, @Nullable Object sent, @Nullable Object stored) {
    List<String> lost = new ArrayList<>();
    if (sent instanceof Map<?, ?> fields && stored instanceof Map<?, ?> kept) {
      fields.forEach((name, value) -> lost.addAll(lost(path + "." + name, value, kept.get(name))));
    } else if (sent instanceof List<?> items && stored instanceof List<?> kept) {
      for (int i = 0; i < items.size(); i++) {
        lost.addAll(lost(path + "[" + i + "]", items.get(i), i < kept.size() ? kept.get(i) : null));
      }
    } else if (sent != null && !sent.equals(stored)) {
      lost.add(path + ": sent " + sent + ", stored " + stored);
    }
    return lost;
  }

  @Test
  void everyKindHasValidAndInvalidFiles() throws IOException {
    Set<String> kinds =
        CrdYaml.KINDS.stream().map(Class::getSimpleName).collect(Collectors.toSet());

    assertThat(kindsOf(valid())).isEqualTo(kinds);
    assertThat(kindsOf(invalid())).isEqualTo(kinds);
  }

  private static Set<String> kindsOf(List<Sample> samples) {
    return samples.stream()
        .map(sample -> sample.documents().get(0).getKind())
        .collect(Collectors.toSet());
  }

  /** Only the last document may be refused; a file of one document leaves nothing behind. */
  private static GenericKubernetesResource play(Sample sample) {
    List<GenericKubernetesResource> documents = sample.documents();
    if (documents.size() == 1) {
      return server.handle(documents.get(0)).dryRun().create();
    }
    String name = documents.get(0).getMetadata().getName() + "-" + UUID.randomUUID();
    documents.forEach(document -> document.getMetadata().setName(name));
    GenericKubernetesResource current = server.handle(documents.get(0)).create();
    try {
      for (int i = 1; i < documents.size(); i++) {
        boolean last = i == documents.size() - 1;
        current = replace(sample, documents.get(i), current, last);
      }
      return current;
    } finally {
      server.handle(documents.get(0)).delete();
    }
  }

  private static GenericKubernetesResource replace(
      Sample sample,
      GenericKubernetesResource wanted,
      GenericKubernetesResource current,
      boolean last) {
    wanted.getMetadata().setResourceVersion(current.getMetadata().getResourceVersion());
    Resource<GenericKubernetesResource> handle = server.handle(wanted);
    try {
      return sample.ofStatus() ? handle.updateStatus() : handle.update();
    } catch (KubernetesClientException e) {
      if (last) {
        throw e;
      }
      throw new AssertionError(sample + ": only the last document may be refused", e);
    }
  }
}
