package dev.stasis.api.testing;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** The committed custom resource definitions on a real API server. They stay there. */
public final class Definitions {

  /** A definition is served a second after its creation; etcd on a slow disk takes longer. */
  private static final long SERVED_SECONDS = 60;

  private static final List<String> PLURALS =
      List.of(
          "gpucheckpoints",
          "gpurestores",
          "gpumigrations",
          "gpucheckpointschedules",
          "gpupreemptionpolicies",
          "gpunodes",
          "gpunodeoperations",
          "gpucheckpointstores");

  private Definitions() {}

  /** Applies all definitions and waits until each is served. */
  public static List<CustomResourceDefinition> serve(KubernetesClient client) {
    List<CustomResourceDefinition> definitions =
        PLURALS.stream().map(plural -> read(client, plural)).toList();
    definitions.forEach(definition -> apply(client, definition));
    definitions.forEach(definition -> awaitServed(client, definition));
    return definitions;
  }

  /** Applies one definition and waits until it is served. */
  public static void serve(KubernetesClient client, CustomResourceDefinition definition) {
    apply(client, definition);
    awaitServed(client, definition);
  }

  private static CustomResourceDefinition read(KubernetesClient client, String plural) {
    String path = "/crds/" + plural + ".stasis.dev.yaml";
    try (InputStream yaml =
        Objects.requireNonNull(GpuCheckpoint.class.getResourceAsStream(path), path)) {
      return client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void apply(KubernetesClient client, CustomResourceDefinition definition) {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .resource(definition)
        .forceConflicts()
        .serverSideApply();
  }

  private static void awaitServed(KubernetesClient client, CustomResourceDefinition definition) {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .resource(definition)
        .waitUntilCondition(Definitions::isEstablished, SERVED_SECONDS, TimeUnit.SECONDS);
    // The API server refuses lists for a moment after it has established a definition.
    var context = CustomResourceDefinitionContext.fromCrd(definition);
    Awaitility.await()
        .atMost(Duration.ofSeconds(SERVED_SECONDS))
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> client.genericKubernetesResources(context).list() != null);
  }

  private static boolean isEstablished(CustomResourceDefinition definition) {
    return definition != null
        && definition.getStatus() != null
        && definition.getStatus().getConditions() != null
        && definition.getStatus().getConditions().stream()
            .anyMatch(
                condition ->
                    condition.getType().equals("Established")
                        && condition.getStatus().equals("True"));
  }
}
