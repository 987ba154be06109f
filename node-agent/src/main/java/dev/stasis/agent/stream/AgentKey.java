package dev.stasis.agent.stream;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * The key of one agent, generated at its start and never stored, with the certificate of its public
 * half. The certificate is self-signed: the peer learns it from the operation.
 */
public final class AgentKey {

  /**
   * Longer than any agent runs. The pin provides the security, and each start creates a new key.
   */
  private static final Duration VALID = Duration.ofDays(3650);

  /** A node's clock may be slow. */
  private static final Duration BEFORE = Duration.ofDays(1);

  /** The key is never stored, so its key store needs no password. */
  private static final char[] IN_MEMORY = {};

  private final KeyPair pair;
  private final X509Certificate certificate;

  private AgentKey(KeyPair pair, X509Certificate certificate) {
    this.pair = pair;
    this.certificate = certificate;
  }

  /**
   * Generates a key.
   *
   * @param nodeName the agent's node, for readers of the certificate
   */
  public static AgentKey generate(String nodeName, Clock clock) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair pair = generator.generateKeyPair();
      X500Name name = new X500NameBuilder().addRDN(BCStyle.CN, nodeName).build();
      Instant now = clock.instant();
      return new AgentKey(
          pair,
          new JcaX509CertificateConverter()
              .getCertificate(
                  new JcaX509v3CertificateBuilder(
                          name,
                          new BigInteger(120, new SecureRandom()),
                          Date.from(now.minus(BEFORE)),
                          Date.from(now.plus(VALID)),
                          name,
                          pair.getPublic())
                      .build(
                          new JcaContentSignerBuilder("SHA256withECDSA")
                              .build(pair.getPrivate()))));
    } catch (GeneralSecurityException | OperatorCreationException e) {
      throw new IllegalStateException("ECDSA with P-256 is part of every Java platform", e);
    }
  }

  /** The certificate in PEM, as published in the GpuNode. */
  public String pem() {
    try {
      return "-----BEGIN CERTIFICATE-----\n"
          + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
              .encodeToString(certificate.getEncoded())
          + "\n-----END CERTIFICATE-----\n";
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a generated certificate can be encoded", e);
    }
  }

  /**
   * Returns a TLS context with this key. It accepts the peers that are expected at the time of each
   * handshake.
   */
  SSLContext context(Supplier<? extends Collection<X509Certificate>> peers) {
    try {
      KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
      keys.load(null, null);
      keys.setKeyEntry("agent", pair.getPrivate(), IN_MEMORY, new Certificate[] {certificate});
      KeyManagerFactory own =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      own.init(keys, IN_MEMORY);
      SSLContext context = SSLContext.getInstance("TLSv1.3");
      context.init(
          own.getKeyManagers(), new TrustManager[] {new PinnedPeer(peers)}, new SecureRandom());
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("TLS 1.3 is part of every Java platform", e);
    }
  }

  /**
   * Parses a peer's certificate.
   *
   * @throws IOException if it is not a certificate
   */
  static X509Certificate certificate(String pem) throws IOException {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(
                  new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "certificate of the peer: expected one in PEM, got " + pem.length() + " other characters",
          e);
    }
  }

  /**
   * Accepts exactly the certificates that are currently expected, compared byte by byte, whatever
   * their issuer.
   */
  static final class PinnedPeer extends X509ExtendedTrustManager {

    private final Supplier<? extends Collection<X509Certificate>> pinned;

    PinnedPeer(Supplier<? extends Collection<X509Certificate>> pinned) {
      this.pinned = pinned;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
      if (chain.length == 0) {
        throw new CertificateException("certificate of the peer: expected one, got none");
      }
      for (X509Certificate one : pinned.get()) {
        if (MessageDigest.isEqual(chain[0].getEncoded(), one.getEncoded())) {
          return;
        }
      }
      throw new CertificateException(
          "certificate of the peer: expected the one in the operation, got a different one of "
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
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    /** An empty list: the peer is asked for any certificate that it has. */
    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
