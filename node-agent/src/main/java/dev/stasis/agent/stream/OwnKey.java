package dev.stasis.agent.stream;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Gives TLS the one key that there is, whoever asks. A key store in memory would encrypt and
 * decrypt it on the way, for nobody.
 */
final class OwnKey extends X509ExtendedKeyManager {

  private static final String NAME = "agent";

  private final PrivateKey key;
  private final X509Certificate certificate;

  OwnKey(PrivateKey key, X509Certificate certificate) {
    this.key = key;
    this.certificate = certificate;
  }

  @Override
  public @Nullable String chooseServerAlias(
      String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return type.equals(key.getAlgorithm()) ? NAME : null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return Arrays.asList(types).contains(key.getAlgorithm()) ? NAME : null;
  }

  @Override
  public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
    return type.equals(key.getAlgorithm()) ? new String[] {NAME} : null;
  }

  @Override
  public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
    return getServerAliases(type, issuers);
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String name) {
    return name.equals(NAME) ? new X509Certificate[] {certificate} : null;
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String name) {
    return name.equals(NAME) ? key : null;
  }
}
