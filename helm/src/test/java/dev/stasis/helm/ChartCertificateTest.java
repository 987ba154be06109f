package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The certificate of the webhooks: the operator's own, or one of cert-manager. */
class ChartCertificateTest {
  private final Chart chart = new Chart(ChartFilesTest.CHART);

  private List<String> objects(Map<String, String> changes) {
    Map<String, String> values = new HashMap<>(changes);
    values.put("image.registry", "registry.test");
    values.put("crds.known", "true");
    String yaml = chart.render("stasis", "stasis-system", values, List.of());
    return Stream.of(yaml.split("\n---\n")).map(object -> object + "\n").toList();
  }

  private static boolean is(String object, String kind, String name) {
    return object.contains("\nkind: " + kind + "\n") && object.contains("\n  name: " + name + "\n");
  }

  @Test
  void theOperatorHasNoRightToSecretsIfCertManagerIssuesTheCertificate() {
    List<String> own = objects(Map.of());
    List<String> issued = objects(Map.of("webhook.certificates", "CertManager"));

    assertThat(own).anyMatch(it -> is(it, "Role", "stasis-operator") && it.contains("[secrets]"));
    assertThat(own).noneMatch(it -> it.contains("cert-manager.io/"));
    assertThat(issued)
        .filteredOn(
            it -> is(it, "Role", "stasis-operator") || is(it, "ClusterRole", "stasis-operator"))
        .hasSize(2)
        .noneMatch(it -> it.contains("secrets"));
  }

  @Test
  void theOperatorServesTheIssuedCertificateAndTheInjectorWritesItsAuthority() {
    List<String> issued = objects(Map.of("webhook.certificates", "CertManager"));

    assertThat(issued)
        .filteredOn(it -> it.contains("WebhookConfiguration\n"))
        .hasSize(3)
        .allMatch(
            it ->
                it.contains(
                    "  annotations: {cert-manager.io/inject-ca-from:"
                        + " stasis-system/stasis-webhook}\n"));
    assertThat(issued)
        .filteredOn(it -> is(it, "Certificate", "stasis-webhook"))
        .singleElement()
        .asString()
        .contains(
            "  secretName: stasis-webhook-tls\n",
            "  - stasis-webhook.stasis-system.svc\n",
            "  issuerRef: {name: stasis-webhook-ca, kind: Issuer, group: cert-manager.io}");
    assertThat(issued).anyMatch(it -> is(it, "Issuer", "stasis-webhook-ca"));
    assertThat(issued)
        .filteredOn(it -> is(it, "Deployment", "stasis-operator"))
        .singleElement()
        .asString()
        .contains(
            "        - name: STASIS_WEBHOOK_CERTIFICATES\n          value: /etc/stasis/webhook\n",
            "        - {name: webhook, mountPath: /etc/stasis/webhook, readOnly: true}\n",
            "        secret: {secretName: stasis-webhook-tls}\n")
        .doesNotContain("STASIS_WEBHOOK_SECRET");
  }

  @Test
  void anIssuerOfTheClusterReplacesTheAuthorityOfTheRelease() {
    List<String> issued =
        objects(
            Map.of(
                "webhook.certificates", "CertManager",
                "webhook.certManager.issuerRef.name", "company",
                "webhook.certManager.issuerRef.kind", "ClusterIssuer"));

    assertThat(issued).noneMatch(it -> it.contains("\nkind: Issuer\n"));
    assertThat(issued)
        .filteredOn(it -> it.contains("kind: Certificate\n"))
        .singleElement()
        .asString()
        .contains("  issuerRef: {name: company, kind: ClusterIssuer, group: cert-manager.io}");
  }

  @ParameterizedTest
  @CsvSource({
    "https://operator.example.com:8443, '  - operator.example.com\n'",
    "https://10.0.0.7:8443, '  ipAddresses: [10.0.0.7]\n'",
  })
  void theCertificateIsForTheAddressThatTheApiServerUses(String url, String line) {
    assertThat(objects(Map.of("webhook.certificates", "CertManager", "webhook.url", url)))
        .filteredOn(it -> is(it, "Certificate", "stasis-webhook"))
        .singleElement()
        .asString()
        .contains(line.replace("\\n", "\n"));
  }
}
