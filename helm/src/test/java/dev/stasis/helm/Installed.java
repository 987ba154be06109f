package dev.stasis.helm;

import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.Definitions;
import dev.stasis.api.testing.TestCluster;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBindingBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The rights and policies of the chart on the test cluster, under a release of our own. */
final class Installed implements AutoCloseable {
  /** A request to an API server nearby takes milliseconds; one under load still answers by then. */
  private static final int REQUEST_MILLISECONDS = 20_000;

  /** An API server whose disk is busy refuses now and then. */
  private static final int RETRIES = 3;

  /** A second or two is usual. */
  private static final Duration POLICY_LIMIT = Duration.ofSeconds(120);

  final String release = "stasis-" + UUID.randomUUID().toString().substring(0, 8);
  final String namespace = release + "-system";
  final KubernetesClient admin;
  private final List<HasMetadata> made = new ArrayList<>();
  private final List<KubernetesClient> clients = new ArrayList<>();

  private Installed() {
    admin = TestCluster.connect();
    clients.add(admin);
  }

  /** On the test cluster. */
  static Installed fromEnvironment(Map<String, String> values) {
    Installed installed = new Installed();
    try {
      installed.install(values);
      return installed;
    } catch (RuntimeException broken) {
      installed.close();
      throw broken;
    }
  }

  private void install(Map<String, String> some) {
    Map<String, String> values = new LinkedHashMap<>(some);
    values.put("image.registry", "registry.test");
    values.put("rbac.aggregate", "false");
    namespace(namespace);
    String yaml = new Chart(ChartFilesTest.CHART).render(release, namespace, values, List.of());
    admin.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items().stream()
        .filter(Installed::isRightOrRule)
        .forEach(this::apply);
    makeCanary();
    // A policy counts some moments after it was made; nothing tells when.
    await().atMost(POLICY_LIMIT).until(this::refusesCanary);
    if ("Always".equals(values.get("admission.createdBy"))) {
      await().atMost(POLICY_LIMIT).until(() -> saysWhoAsked());
    }
  }

  /**
   * A policy and its binding, made after those of the chart: the API server learns of each kind in
   * the order in which they were made, so once this policy counts, all of them do.
   */
  private void makeCanary() {
    make(
        new ValidatingAdmissionPolicyBuilder()
            .withNewMetadata()
            .withName(canary())
            .endMetadata()
            .withNewSpec()
            .withNewMatchConstraints()
            .addNewResourceRule()
            .withApiGroups("")
            .withApiVersions("v1")
            .withOperations("CREATE")
            .withResources("configmaps")
            .endResourceRule()
            .endMatchConstraints()
            .addNewValidation()
            .withExpression("object.metadata.name != '%s'".formatted(canary()))
            .withMessage("refused by the canary")
            .endValidation()
            .endSpec()
            .build());
    make(
        new ValidatingAdmissionPolicyBindingBuilder()
            .withNewMetadata()
            .withName(canary())
            .endMetadata()
            .withNewSpec()
            .withPolicyName(canary())
            .withValidationActions("Deny")
            .endSpec()
            .build());
  }

  private String canary() {
    return release + "-canary";
  }

  private boolean refusesCanary() {
    ConfigMap refused =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(canary())
            .endMetadata()
            .build();
    try {
      admin.resource(refused).dryRun().create();
      return false;
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage()).contains("refused by the canary");
    }
  }

  private boolean saysWhoAsked() {
    return admin
        .resource(Objects.checkpoint(namespace, "is-signed"))
        .dryRun()
        .create()
        .getMetadata()
        .getAnnotations()
        .containsKey("stasis.dev/created-by");
  }

  /** What runs is not installed: there is no image. */
  private static boolean isRightOrRule(HasMetadata one) {
    return one instanceof CustomResourceDefinition
        || one.getKind().equals("ServiceAccount")
        || one.getApiVersion().startsWith("rbac.authorization.k8s.io/")
        || one.getApiVersion().startsWith("admissionregistration.k8s.io/");
  }

  private void apply(HasMetadata one) {
    if (one.getMetadata().getNamespace() == null) {
      one.getMetadata().setNamespace(namespace);
    }
    if (one instanceof CustomResourceDefinition definition) {
      // Every release on the cluster shares the definitions, so they stay.
      Definitions.serve(admin, definition);
    } else {
      make(one);
    }
  }

  /** Makes an object that goes with this. */
  <T extends HasMetadata> T make(T one) {
    T created = admin.resource(one).create();
    made.add(created);
    return created;
  }

  /**
   * Waits until the API server knows of a right in the namespace: it reads roles some moments after
   * they were made.
   *
   * @param name of the only object for which it is; null: any
   */
  void awaitRight(
      KubernetesClient who, String verb, String group, String resource, @Nullable String name) {
    String[] parts = resource.split("/", 2);
    SelfSubjectAccessReview review =
        new SelfSubjectAccessReviewBuilder()
            .withNewSpec()
            .withNewResourceAttributes()
            .withNamespace(namespace)
            .withVerb(verb)
            .withGroup(group)
            .withResource(parts[0])
            .withSubresource(parts.length > 1 ? parts[1] : null)
            .withName(name)
            .endResourceAttributes()
            .endSpec()
            .build();
    await()
        .atMost(POLICY_LIMIT)
        .until(() -> who.resource(review).create().getStatus().getAllowed());
  }

  /** Makes a namespace that goes with this. */
  void namespace(String name) {
    make(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build());
  }

  /** A client as somebody else; it is closed with this. */
  KubernetesClient client(Consumer<ConfigBuilder> who) {
    ConfigBuilder config =
        new ConfigBuilder(Config.autoConfigure(null))
            .withRequestTimeout(REQUEST_MILLISECONDS)
            .withRequestRetryBackoffLimit(RETRIES);
    who.accept(config);
    KubernetesClient client = new KubernetesClientBuilder().withConfig(config.build()).build();
    clients.add(client);
    return client;
  }

  /** A client as the owner of a token, and as nobody else. */
  KubernetesClient withToken(String token) {
    Config here = admin.getConfiguration();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(here.getMasterUrl())
            .withCaCertData(here.getCaCertData())
            .withCaCertFile(here.getCaCertFile())
            .withRequestTimeout(REQUEST_MILLISECONDS)
            .withRequestRetryBackoffLimit(RETRIES)
            .withOauthToken(token)
            .build();
    KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
    clients.add(client);
    return client;
  }

  @Override
  public void close() {
    Collections.reverse(made);
    made.forEach(one -> admin.resource(one).delete());
    clients.forEach(KubernetesClient::close);
  }
}
