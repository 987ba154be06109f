package dev.stasis.agent.stream;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
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
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * The key of one agent, made at its start and never written anywhere, and the certificate that says
 * its public half. Nobody signs it but the agent: the other end knows it from the operation.
 */
public final class AgentKey {

  /** Longer than any agent runs: the pin is what counts, a new start makes a new one. */
  private static final Duration VALID = Duration.ofDays(3650);

  /** A node's clock may be behind. */
  private static final Duration BEFORE = Duration.ofDays(1);

  private final KeyPair pair;
  private final X509Certificate certificate;

  private AgentKey(KeyPair pair, X509Certificate certificate) {
    this.pair = pair;
    this.certificate = certificate;
  }

  /**
   * Makes a key.
   *
   * @param nodeName the agent's node, for whoever reads the certificate
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

  /** The certificate in PEM, as a GpuNode publishes it. */
  public String pem() {
    try {
      return "-----BEGIN CERTIFICATE-----\n"
          + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
              .encodeToString(certificate.getEncoded())
          + "\n-----END CERTIFICATE-----\n";
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a certificate that was made here can be encoded", e);
    }
  }

  /** TLS with this key, with the peers that are expected at the time of each handshake. */
  SSLContext context(Supplier<? extends Collection<X509Certificate>> peers) {
    try {
      SSLContext context = SSLContext.getInstance("TLSv1.3");
      context.init(
          new KeyManager[] {new OwnKey(pair.getPrivate(), certificate)},
          new TrustManager[] {new PinnedPeer(peers)},
          new SecureRandom());
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("TLS 1.3 is part of every Java platform", e);
    }
  }

  /**
   * Reads a peer's certificate.
   *
   * @throws IOException when that is none
   */
  static X509Certificate certificate(String pem) throws IOException {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(
                  new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "certificate of the peer: wanted one in PEM, found " + pem.length() + " other characters",
          e);
    }
  }
}
