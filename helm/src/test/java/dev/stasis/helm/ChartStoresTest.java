package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The stores of the chart, and what each needs on the nodes. */
class ChartStoresTest {
  private final Chart chart = new Chart(ChartFilesTest.CHART);

  private String render(Map<String, String> stores) {
    Map<String, String> values = new HashMap<>(stores);
    values.put("image.registry", "registry.test");
    values.put("crds.known", "true");
    return chart.render("stasis", "stasis-system", values, List.of());
  }

  /** Agents cannot write to a store that is not mounted in their containers. */
  @Test
  void everyStoreIsMountedInTheAgents() {
    String yaml =
        render(
            Map.of(
                "stores[0].name", "shared",
                "stores[0].type", "SharedPath",
                "stores[0].path", "/mnt/stasis",
                "stores[0].volume.persistentVolumeClaim.claimName", "checkpoints"));

    assertThat(yaml)
        .contains("  location:\n    sharedPath:\n      path: /mnt/stasis\n")
        .contains("        - name: store-shared\n          mountPath: /mnt/stasis\n")
        .contains(
            "      - name: store-shared\n"
                + "        persistentVolumeClaim:\n"
                + "          claimName: checkpoints\n");
  }

  @Test
  void aClaimIsMountedByPodsWithoutRightsAndNotByTheAgents() {
    String yaml =
        render(
            Map.of(
                "stores[0].name", "claim",
                "stores[0].type", "PersistentVolumeClaim",
                "stores[0].claimName", "checkpoints"));

    assertThat(yaml).contains("  location:\n    persistentVolumeClaim: {claimName: checkpoints}\n");
    List<String> claims =
        List.of(yaml.split("\n---\n")).stream()
            .filter(
                object ->
                    object.contains("        persistentVolumeClaim: {claimName: checkpoints}"))
            .toList();
    assertThat(claims)
        .singleElement()
        .asString()
        .contains("kind: DaemonSet", "name: stasis-store-claim", "stasis.dev/store: claim")
        .contains("automountServiceAccountToken: false", "capabilities: {drop: [ALL]}")
        .contains("nvidia.com/gpu.present")
        .doesNotContain("privileged", "hostPath", "hostPID");
  }

  /** A folder that is missing is created, because an agent without it would not start. */
  @Test
  void theSocketOfAKmsPluginIsMountedReadOnlyAndHoldsUpNoAgent() {
    Map<String, String> values = new HashMap<>();
    for (String store : List.of("stores[0].", "stores[1].")) {
      values.put(store + "name", store.contains("0") ? "first" : "second");
      values.put(store + "type", "SharedPath");
      values.put(store + "layout", "Chunks");
      values.put(store + "path", "/mnt/" + (store.contains("0") ? "first" : "second"));
      values.put(store + "encryption.kms.endpoint", "unix:///var/run/kmsplugin/socket.sock");
    }
    String yaml = render(values);

    assertThat(yaml)
        .contains("    kms:\n      endpoint: unix:///var/run/kmsplugin/socket.sock\n")
        .containsOnlyOnce(
            "        - name: kms-0\n          mountPath: /var/run/kmsplugin\n"
                + "          readOnly: true\n")
        .containsOnlyOnce(
            "      - name: kms-0\n"
                + "        hostPath: {path: /var/run/kmsplugin, type: DirectoryOrCreate}\n")
        .doesNotContain("kms-1")
        .doesNotContain("# Credentials and keys of the remote stores");

    values.put("stores[0].encryption.secretName", "keys");
    values.put("stores[0].encryption.key", "2026");
    assertThatThrownBy(() -> render(values)).hasMessageContaining("encryption");
    values.remove("stores[0].encryption.secretName");
    values.remove("stores[0].encryption.key");
    values.put("stores[0].encryption.kms.endpoint", "unix:///run/kms.sock");
    assertThatThrownBy(() -> render(values)).hasMessageContaining("encryption/kms/endpoint");
  }

  @Test
  void twoDefaultStoresAreRefused() {
    Map<String, String> values =
        Map.of(
            "stores[0].name", "shared",
            "stores[0].type", "SharedPath",
            "stores[0].path", "/mnt/stasis",
            "stores[0].default", "true");

    assertThatThrownBy(() -> render(values))
        .hasMessageContaining("expected at most one default store, got local, shared");
  }
}
