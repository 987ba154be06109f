package dev.stasis.operator.owner;

import dev.stasis.operator.admission.WebhookConfig;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The webhook for pods of controllers with an unfinished hand-over, in the chart's
 * MutatingWebhookConfiguration. It fails closed, and does not exist while there is no unfinished
 * hand-over.
 */
@Singleton
class HandoverWebhook {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  /** The API server's timeout; the answer takes a few requests to it, milliseconds each. */
  private static final int SECONDS = 10;

  /**
   * The maximum number of uids in the expression: 40 KB, well within CEL's limit of 100,000
   * characters.
   */
  private static final int MOST_OWNERS = 1000;

  private final KubernetesClient client;
  private final WebhookConfig config;

  HandoverWebhook(KubernetesClient client, WebhookConfig config) {
    this.client = client;
    this.config = config;
  }

  /** Configures the webhook for these; returns whether the configuration exists. */
  boolean asks(Collection<GatedOwner> held, WebhookClientConfig reach) {
    Resource<MutatingWebhookConfiguration> handle =
        client
            .admissionRegistration()
            .v1()
            .mutatingWebhookConfigurations()
            .withName(config.configuration());
    MutatingWebhookConfiguration found = handle.get();
    if (found == null) {
      return false;
    }
    List<MutatingWebhook> wanted = held.isEmpty() ? List.of() : List.of(webhook(held, reach));
    if (!same(found.getWebhooks(), wanted)) {
      handle.patch(MERGE, client.getKubernetesSerialization().asJson(Map.of("webhooks", wanted)));
    }
    return true;
  }

  private static boolean same(List<MutatingWebhook> found, List<MutatingWebhook> wanted) {
    return found.size() == wanted.size()
        && (wanted.isEmpty()
            || (found.get(0).getMatchConditions().equals(wanted.get(0).getMatchConditions())
                && found
                    .get(0)
                    .getNamespaceSelector()
                    .equals(wanted.get(0).getNamespaceSelector())));
  }

  /**
   * The pods for which the API server calls the webhook. A CEL expression may have 100,000
   * characters, and a uid takes 40. Above that limit the webhook is called for every pod of a
   * controller in these namespaces, and the operator decides.
   */
  static String condition(Collection<GatedOwner> held) {
    List<String> owners =
        held.stream().map(it -> "'" + it.uid() + "'").distinct().sorted().toList();
    String which =
        owners.size() > MOST_OWNERS
            ? "o.?controller.orValue(false)"
            : "o.uid in [" + String.join(", ", owners) + "]";
    return "object.metadata.?ownerReferences.orValue([]).exists(o, " + which + ")";
  }

  private static MutatingWebhook webhook(Collection<GatedOwner> held, WebhookClientConfig reach) {
    List<String> namespaces = held.stream().map(GatedOwner::namespace).distinct().sorted().toList();
    return new MutatingWebhookBuilder()
        .withName(HandoverReconciler.WEBHOOK)
        .withClientConfig(reach)
        .withRules(
            new RuleWithOperationsBuilder()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations("CREATE")
                .withResources("pods")
                .withScope("Namespaced")
                .build())
        .withNewNamespaceSelector()
        .addNewMatchExpression()
        .withKey("kubernetes.io/metadata.name")
        .withOperator("In")
        .withValues(namespaces)
        .endMatchExpression()
        .endNamespaceSelector()
        .addNewMatchCondition(condition(held), "of-these-owners")
        .withMatchPolicy("Equivalent")
        .withFailurePolicy("Fail")
        .withReinvocationPolicy("Never")
        .withTimeoutSeconds(SECONDS)
        .withSideEffects("None")
        .withAdmissionReviewVersions("v1")
        .build();
  }
}
