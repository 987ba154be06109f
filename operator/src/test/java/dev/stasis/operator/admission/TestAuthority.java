package dev.stasis.operator.admission;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A certificate authority with an intermediate one, as of an issuer of cert-manager, and the volume
 * into which a kubelet writes what it issues.
 */
final class TestAuthority {

  private static final X500Name ROOT = new X500Name("CN=root");
  private static final X500Name INTERMEDIATE = new X500Name("CN=intermediate");

  private final KeyPair rootKey = pair();
  private final KeyPair intermediateKey = pair();
  private final X509Certificate root;
  private final X509Certificate intermediate;
  private final Path folder;
  private int issued;

  TestAuthority(Path folder) throws Exception {
    this.folder = folder;
    Instant end = Instant.now().plus(Duration.ofDays(1));
    this.root = sign(ROOT, rootKey.getPublic(), ROOT, rootKey, end, true);
    this.intermediate = sign(INTERMEDIATE, intermediateKey.getPublic(), ROOT, rootKey, end, true);
  }

  /** Returns the certificate that clients trust. */
  String root() throws Exception {
    return pem("CERTIFICATE", root.getEncoded());
  }

  /** Returns a context for a client that trusts only the root. */
  SSLContext trusting() throws Exception {
    KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
    anchors.load(null, null);
    anchors.setCertificateEntry("root", root);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(anchors);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), new SecureRandom());
    return context;
  }

  /** Issues a certificate for a new key, and replaces the files of the volume at once. */
  X509Certificate issue(Instant end) throws Exception {
    KeyPair key = pair();
    X509Certificate certificate =
        sign(new X500Name("CN=leaf"), key.getPublic(), INTERMEDIATE, intermediateKey, end, false);
    write(
        pem("PRIVATE KEY", key.getPrivate().getEncoded()),
        pem("CERTIFICATE", certificate.getEncoded())
            + pem("CERTIFICATE", intermediate.getEncoded()));
    return certificate;
  }

  /** Writes a certificate beside the key of another one. */
  void mismatch() throws Exception {
    String key = Files.readString(folder.resolve("tls.key"));
    issue(Instant.now().plus(Duration.ofDays(1)));
    write(key, Files.readString(folder.resolve("tls.crt")));
  }

  /** As a kubelet: the names are links into a folder that is replaced as a whole. */
  private void write(String key, String chain) throws Exception {
    Path version = Files.createDirectory(folder.resolve("..version-" + ++issued));
    Files.writeString(version.resolve("tls.key"), key);
    Files.writeString(version.resolve("tls.crt"), chain);
    Files.writeString(version.resolve("ca.crt"), root());
    Path next = Files.createSymbolicLink(folder.resolve("..next"), version.getFileName());
    Files.move(next, folder.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    for (String name : new String[] {"tls.key", "tls.crt", "ca.crt"}) {
      link(name);
    }
  }

  private void link(String name) throws IOException {
    Path link = folder.resolve(name);
    if (!Files.isSymbolicLink(link)) {
      Files.createSymbolicLink(link, Path.of("..data", name));
    }
  }

  private static X509Certificate sign(
      X500Name subject,
      PublicKey key,
      X500Name issuer,
      KeyPair issuerKey,
      Instant end,
      boolean authority)
      throws Exception {
    Instant begin = end.minus(Duration.ofDays(10));
    var builder =
        new JcaX509v3CertificateBuilder(
                issuer,
                new BigInteger(120, new SecureRandom()),
                Date.from(begin),
                Date.from(end),
                subject,
                key)
            .addExtension(Extension.basicConstraints, true, new BasicConstraints(authority))
            .addExtension(
                Extension.subjectAlternativeName,
                false,
                new GeneralNames(new GeneralName(GeneralName.iPAddress, "127.0.0.1")));
    return new JcaX509CertificateConverter()
        .getCertificate(
            builder.build(
                new JcaContentSignerBuilder("SHA256withECDSA").build(issuerKey.getPrivate())));
  }

  private static KeyPair pair() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  private static String pem(String what, byte[] encoded) {
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
        .formatted(
            what,
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(encoded));
  }
}
