package dev.stasis.api.crds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.testing.Definitions;
import dev.stasis.api.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.net.URL;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The test cluster with the committed definitions, and a namespace of our own in it. */
final class ApiServer implements AutoCloseable {
  private final KubernetesClient client;
  private final Namespace namespace;
  private final Map<String, ResourceDefinitionContext> kinds = new HashMap<>();

  private ApiServer(KubernetesClient client, Namespace namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /** The one that KUBECONFIG names; aborts the test when there is none. */
  static ApiServer fromEnvironment() {
    KubernetesClient client = TestCluster.connect();
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
    Definitions.serve(client).forEach(server::add);
    return server;
  }

  private void add(CustomResourceDefinition definition) {
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
          "kind: expected one of " + kinds.keySet() + ", got " + resource.getKind());
    }
    var resources = client.genericKubernetesResources(kind);
    return kind.isNamespaceScoped()
        ? resources.inNamespace(namespace()).resource(resource)
        : resources.resource(resource);
  }

  /** Returns the table of a resource that kubectl prints. */
  JsonNode table(GenericKubernetesResource resource) throws Exception {
    ResourceDefinitionContext kind = Objects.requireNonNull(kinds.get(resource.getKind()));
    String place = kind.isNamespaceScoped() ? "/namespaces/" + namespace() : "";
    URL url =
        new URL(
            client.getMasterUrl(),
            "apis/stasis.dev/v1beta1"
                + place
                + "/"
                + kind.getPlural()
                + "/"
                + resource.getMetadata().getName());
    var http = client.getHttpClient();
    HttpResponse<String> answer =
        http.sendAsync(
                http.newHttpRequestBuilder()
                    .url(url)
                    .header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
                    .build(),
                String.class)
            // As long as any other request to the server may take.
            .get(20, TimeUnit.SECONDS);
    return client.getKubernetesSerialization().unmarshal(answer.bodyString(), JsonNode.class);
  }

  @Override
  public void close() {
    client.resource(namespace).delete();
    client.close();
  }
}
