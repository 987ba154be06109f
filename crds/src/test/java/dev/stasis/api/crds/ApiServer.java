package dev.stasis.api.crds;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/**
 * A real API server that knows the committed definitions, and a namespace of our own in it. Which
 * one says {@code KUBECONFIG}; without it there is none, and the tests say so.
 */
final class ApiServer implements AutoCloseable {
  /** A request to an API server nearby takes milliseconds; one under load still answers by then. */
  private static final int REQUEST_MILLISECONDS = 20_000;

  /** An API server whose disk is busy refuses now and then. */
  private static final int RETRIES = 3;

  /** A definition is served a second after it was made; etcd on a slow disk takes longer. */
  private static final long SERVED_SECONDS = 60;

  private final KubernetesClient client;
  private final Namespace namespace;
  private final Map<String, ResourceDefinitionContext> kinds = new HashMap<>();

  private ApiServer(KubernetesClient client, Namespace namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /** The one that KUBECONFIG names; aborts the test when there is none. */
  static ApiServer fromEnvironment() throws IOException {
    String kubeconfig = System.getenv("KUBECONFIG");
    if (kubeconfig == null || kubeconfig.isBlank()) {
      String why = "skipped: no API server, KUBECONFIG is not set; see bin/with-kube";
      System.err.println(why);
      Assumptions.abort(why);
    }
    Config config =
        new ConfigBuilder(Config.autoConfigure(null))
            .withRequestTimeout(REQUEST_MILLISECONDS)
            .withRequestRetryBackoffLimit(RETRIES)
            .build();
    KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
    Namespace namespace =
        client
            .namespaces()
            .resource(
                new NamespaceBuilder()
                    .withNewMetadata()
                    .withGenerateName("stasis-crds-")
                    .endMetadata()
                    .build())
            .create();
    ApiServer server = new ApiServer(client, namespace);
    for (String yaml : CrdYaml.committed().values()) {
      server.define(yaml);
    }
    return server;
  }

  private void define(String yaml) {
    CustomResourceDefinition definition =
        client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
    var resource = client.apiextensions().v1().customResourceDefinitions().resource(definition);
    resource.forceConflicts().serverSideApply();
    resource.waitUntilCondition(ApiServer::isServed, SERVED_SECONDS, TimeUnit.SECONDS);
    // Established says that it is known; requests are refused for a moment longer.
    var context = CustomResourceDefinitionContext.fromCrd(definition);
    Awaitility.await()
        .atMost(Duration.ofSeconds(SERVED_SECONDS))
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> client.genericKubernetesResources(context).list() != null);
    var names = definition.getSpec().getNames();
    kinds.put(
        names.getKind(),
        new ResourceDefinitionContext.Builder()
            .withGroup(definition.getSpec().getGroup())
            .withVersion(definition.getSpec().getVersions().get(0).getName())
            .withKind(names.getKind())
            .withPlural(names.getPlural())
            .withNamespaced(definition.getSpec().getScope().equals("Namespaced"))
            .build());
  }

  private static boolean isServed(CustomResourceDefinition definition) {
    return definition != null
        && definition.getStatus() != null
        && definition.getStatus().getConditions() != null
        && definition.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Established") && c.getStatus().equals("True"));
  }

  KubernetesClient client() {
    return client;
  }

  String namespace() {
    return namespace.getMetadata().getName();
  }

  /** A handle on a resource, in our namespace if its kind has one. */
  Resource<GenericKubernetesResource> handle(GenericKubernetesResource resource) {
    ResourceDefinitionContext kind = kinds.get(resource.getKind());
    if (kind == null) {
      throw new IllegalArgumentException(
          "kind: wanted one of " + kinds.keySet() + ", found " + resource.getKind());
    }
    var resources = client.genericKubernetesResources(kind);
    return kind.isNamespaceScoped()
        ? resources.inNamespace(namespace()).resource(resource)
        : resources.resource(resource);
  }

  @Override
  public void close() {
    client.resource(namespace).delete();
    client.close();
  }
}
