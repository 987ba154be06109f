package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;

/** Kubeconfigs of service accounts, with tokens as the kubelet would mount them. */
final class Identity {

  /** Longer than any run of the scenarios. */
  private static final Duration VALID = Duration.ofHours(6);

  private final KubernetesClient admin;
  private final Path folder;

  Identity(KubernetesClient admin, Path folder) {
    this.admin = admin;
    this.folder = folder;
  }

  /** A token that is bound to nothing. */
  Path kubeconfig(String namespace, String account) {
    return write(account, token(namespace, account, new TokenRequestBuilder()));
  }

  /** A token that says on which node its holder runs, as that of a DaemonSet's pod does. */
  Path kubeconfigOn(String node, String namespace, String account) {
    TokenRequestBuilder bound =
        new TokenRequestBuilder()
            .withNewSpec()
            .withNewBoundObjectRef()
            .withApiVersion("v1")
            .withKind("Node")
            .withName(node)
            .withUid(admin.nodes().withName(node).require().getMetadata().getUid())
            .endBoundObjectRef()
            .endSpec();
    return write(account + "-" + node, token(namespace, account, bound));
  }

  private String token(String namespace, String account, TokenRequestBuilder request) {
    TokenRequest asked =
        request.editOrNewSpec().withExpirationSeconds(VALID.toSeconds()).endSpec().build();
    return admin
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(account)
        .tokenRequest(asked)
        .getStatus()
        .getToken();
  }

  private Path write(String name, String token) {
    Config config = admin.getConfiguration();
    Path file = folder.resolve(name + ".kubeconfig");
    try {
      Files.writeString(
          file,
          """
          {"apiVersion": "v1", "kind": "Config", "current-context": "e2e",
           "clusters": [{"name": "e2e", "cluster":
             {"server": "%s", "certificate-authority-data": "%s"}}],
           "users": [{"name": "e2e", "user": {"token": "%s"}}],
           "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}]}
          """
              .formatted(config.getMasterUrl(), authority(config), token));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return file;
  }

  private static String authority(Config config) throws IOException {
    if (config.getCaCertData() != null) {
      return config.getCaCertData();
    }
    return Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(config.getCaCertFile())));
  }
}
