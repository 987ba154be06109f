package dev.stasis.local.api;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.VersionInfo;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.ServerRequest;
import io.fabric8.mockwebserver.ServerResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * Keeps objects in memory and serves them on a loopback port, to clients with the token only: a
 * client that can create pods here has root rights.
 */
public final class LocalApiServer implements AutoCloseable {

  /**
   * It is in this process and answers in milliseconds. Whole machines that paused for 40 s were
   * seen; a request during that time must be late, not lost.
   */
  private static final int REQUEST_MILLISECONDS = 120_000;

  private static final int TOKEN_BITS = 128;

  private final String token = new BigInteger(TOKEN_BITS, new SecureRandom()).toString(36);
  private final MockWebServer web = new MockWebServer();
  private final KubernetesMockServer server;
  private final KnownKinds kinds = new KnownKinds();

  /** Starts the server, with the CRDs of Stasis. */
  public LocalApiServer() {
    Map<ServerRequest, Queue<ServerResponse>> none = new HashMap<>();
    this.server =
        new KubernetesMockServer(
            new Context(),
            web,
            none,
            new LocalDispatcher(new KubernetesMixedDispatcher(none), kinds, token),
            false,
            new VersionInfo.Builder().withMajor("1").withMinor("34").build());
    server.init(InetAddress.getLoopbackAddress(), 0);
    try (KubernetesClient client = client()) {
      for (CustomResourceDefinition definition : kinds.all()) {
        client.resource(definition).create();
      }
      for (String name : List.of("default", "kube-system", "stasis-system")) {
        Namespace namespace =
            new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build();
        client.resource(namespace).create();
      }
    }
  }

  /** Returns its address. */
  public String url() {
    return "http://" + web.getHostName() + ":" + web.getPort();
  }

  /** Returns the header that every request needs. */
  public String token() {
    return token;
  }

  /** Returns a client of it; the caller closes it. */
  public KubernetesClient client() {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(url())
            .withOauthToken(token)
            .withNamespace("default")
            .withHttp2Disable(true)
            .withRequestTimeout(REQUEST_MILLISECONDS)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /** Returns the CRDs of Stasis. */
  public List<CustomResourceDefinition> definitions() {
    return kinds.all();
  }

  @Override
  public void close() {
    try {
      web.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
