package dev.stasis.agent.stream;

import java.net.Socket;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts the certificates that are expected now, byte for byte, whoever signed them. */
final class PinnedPeer extends X509ExtendedTrustManager {

  private final Supplier<? extends Collection<X509Certificate>> pinned;

  PinnedPeer(Supplier<? extends Collection<X509Certificate>> pinned) {
    this.pinned = pinned;
  }

  private void check(X509Certificate[] chain) throws CertificateException {
    if (chain.length == 0) {
      throw new CertificateException("certificate of the peer: wanted one, found none");
    }
    for (X509Certificate one : pinned.get()) {
      if (MessageDigest.isEqual(chain[0].getEncoded(), one.getEncoded())) {
        return;
      }
    }
    throw new CertificateException(
        "certificate of the peer: wanted the one in the operation, found another, of "
            + chain[0].getSubjectX500Principal());
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain);
  }

  /** None: the peer is asked for whatever it has. */
  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
