package dev.stasis.e2e.kube;

import dev.stasis.helm.Chart;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the chart installs beside the programs: definitions, accounts, roles, admission policies.
 * The programs run with these rights and no others.
 */
final class InstalledChart {

  /** They run as processes here, or would need what this cluster has not. */
  private static final Set<String> PROGRAMS =
      Set.of("Deployment", "DaemonSet", "Job", "ServiceMonitor", "PrometheusRule");

  private final Checkout checkout;
  private final Shell shell;

  InstalledChart(Checkout checkout, Shell shell) {
    this.checkout = checkout;
    this.shell = shell;
  }

  void apply(KubernetesClient admin, String namespace) {
    String yaml =
        new Chart(checkout.root().resolve("helm/stasis"))
            .render(
                "stasis",
                namespace,
                Map.of("image.registry", "stasis.dev", "webhook.timeoutSeconds", "30"),
                List.of());
    // There already when another run was here before.
    shell.run("kubectl", "create", "namespace", namespace);
    // The operator has written into it where it is; it does so again.
    for (String kind : List.of("validatingwebhookconfiguration", "mutatingwebhookconfiguration")) {
      shell.must("kubectl", "delete", kind, "stasis", "stasis-prepare", "--ignore-not-found");
    }
    List<HasMetadata> objects =
        admin.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items();
    // Definitions first: roles and policies do not need them, but nothing works before they are
    // served.
    install(only(objects, true), namespace);
    shell.must("kubectl", "wait", "--for=condition=Established", "crd", "--all", Scenario.TIMEOUT);
    install(only(objects, false), namespace);
  }

  private static List<HasMetadata> only(List<HasMetadata> objects, boolean definitions) {
    return objects.stream()
        .filter(object -> !PROGRAMS.contains(object.getKind()))
        .filter(object -> !object.getMetadata().getAnnotations().containsKey("helm.sh/hook"))
        .filter(object -> object.getKind().equals("CustomResourceDefinition") == definitions)
        .toList();
  }

  private void install(List<HasMetadata> objects, String namespace) {
    String yaml =
        objects.stream()
            .map(io.fabric8.kubernetes.client.utils.Serialization::asYaml)
            .collect(Collectors.joining("\n---\n"));
    Shell.Result result =
        shell.feed(yaml, "kubectl", "-n", namespace, "apply", "--server-side", "-f", "-");
    if (!result.ok()) {
      throw new IllegalStateException("the chart: " + result.output());
    }
  }
}
