package dev.stasis.operator.admission;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** The key of the webhook endpoint; it can be replaced while the endpoint runs. */
@SuppressWarnings("NullAway") // the interface requires null if there is no key
final class ServingKeyManager extends X509ExtendedKeyManager {

  private volatile @Nullable ServingKey current;

  /** A handshake may have started with it. */
  private volatile @Nullable ServingKey before;

  void serve(ServingKey key) {
    ServingKey last = current;
    if (last == null || !last.certificate().equals(key.certificate())) {
      before = last;
      current = key;
    }
  }

  boolean areThere() {
    return current != null;
  }

  /** Returns a context for a client that trusts only the key that is currently served. */
  SSLContext trusting() {
    ServingKey key = current;
    if (key == null) {
      throw new IllegalStateException("key of the webhooks: not created yet");
    }
    try {
      KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
      anchors.load(null, null);
      anchors.setCertificateEntry("webhooks", key.certificate());
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(anchors);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), new SecureRandom());
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("TLS is part of every Java platform", e);
    }
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal[] issuers, SSLEngine engine) {
    return alias(keyType);
  }

  @Override
  public @Nullable String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
    return alias(keyType);
  }

  private @Nullable String alias(String keyType) {
    ServingKey key = current;
    return key == null || !key.key().getAlgorithm().equals(keyType) ? null : serial(key);
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    ServingKey key = of(alias);
    return key == null
        ? null
        : Stream.concat(Stream.of(key.certificate()), key.issuers().stream())
            .toArray(X509Certificate[]::new);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    ServingKey key = of(alias);
    return key == null ? null : key.key();
  }

  private @Nullable ServingKey of(String alias) {
    for (ServingKey key : new ServingKey[] {current, before}) {
      if (key != null && serial(key).equals(alias)) {
        return key;
      }
    }
    return null;
  }

  private static String serial(ServingKey key) {
    return key.certificate().getSerialNumber().toString();
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal[] issuers) {
    String alias = alias(keyType);
    return alias == null ? null : new String[] {alias};
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal[] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
    return null;
  }
}
