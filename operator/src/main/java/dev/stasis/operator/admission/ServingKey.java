package dev.stasis.operator.admission;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A key and its certificate. One that the operator generates is self-signed and signs nothing else;
 * the API server trusts it through the caBundle that the operator writes.
 *
 * @param key exists only in the Secret and in the operator's memory
 * @param certificate for the names by which the API server reaches the operator
 * @param issuers intermediate certificates, which are served too; empty if it is self-signed
 * @param token secret part of the paths that are valid while this key is served; empty in a Secret
 *     of a version without tokens
 */
record ServingKey(
    PrivateKey key, X509Certificate certificate, List<X509Certificate> issuers, String token) {

  /** The lifetime that public authorities use: short enough that renewals are routine. */
  private static final Duration VALID = Duration.ofDays(90);

  /** The API server's clock may be slow. */
  private static final Duration BEFORE = Duration.ofHours(1);

  /** As many bits as the code derived from it. */
  private static final int TOKEN_BYTES = 32;

  private static final String SIGNATURE = "SHA256withECDSA";
  private static final int DNS = 2;
  private static final int ADDRESS = 7;
  private static final Pattern NUMBERS = Pattern.compile("[0-9.]+|[0-9a-fA-F:]+");
  private static final Pattern PEM = Pattern.compile("-----(BEGIN|END) [A-Z ]+-----|\\s");

  static ServingKey generate(Set<String> names, Instant now) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair pair = generator.generateKeyPair();
      var subject = new X500NameBuilder().addRDN(BCStyle.CN, "stasis-webhook").build();
      GeneralName[] alternatives =
          names.stream()
              .map(
                  name ->
                      new GeneralName(
                          isAddress(name) ? GeneralName.iPAddress : GeneralName.dNSName, name))
              .toArray(GeneralName[]::new);
      var builder =
          new JcaX509v3CertificateBuilder(
                  subject,
                  new BigInteger(120, new SecureRandom()),
                  Date.from(now.minus(BEFORE)),
                  Date.from(now.plus(VALID)),
                  subject,
                  pair.getPublic())
              .addExtension(Extension.subjectAlternativeName, false, new GeneralNames(alternatives))
              .addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
              .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature))
              .addExtension(
                  Extension.extendedKeyUsage,
                  false,
                  new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
      return new ServingKey(
          pair.getPrivate(),
          new JcaX509CertificateConverter()
              .getCertificate(
                  builder.build(new JcaContentSignerBuilder(SIGNATURE).build(pair.getPrivate()))),
          List.of(),
          randomToken());
    } catch (GeneralSecurityException | OperatorCreationException | CertIOException e) {
      throw new IllegalStateException("ECDSA with P-256 is part of every Java platform", e);
    }
  }

  static String randomToken() {
    byte[] random = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  ServingKey withToken(String other) {
    return new ServingKey(key, certificate, issuers, other);
  }

  /**
   * Parses key and certificate.
   *
   * @throws IllegalArgumentException if they are invalid
   */
  static ServingKey parse(String keyPem, String certificatePem, String token) {
    try {
      byte[] encoded = Base64.getDecoder().decode(PEM.matcher(keyPem).replaceAll(""));
      PrivateKey key =
          KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(encoded));
      List<X509Certificate> chain = chain(certificatePem);
      return new ServingKey(key, chain.get(0), chain.subList(1, chain.size()), token);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("key: expected an EC key in PKCS 8", e);
    }
  }

  private static List<X509Certificate> chain(String pem) throws GeneralSecurityException {
    List<X509Certificate> chain =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)))
            .stream()
            .map(X509Certificate.class::cast)
            .toList();
    if (chain.isEmpty()) {
      throw new CertificateException("expected a certificate, got none");
    }
    return chain;
  }

  /** Returns whether the certificate is for the key: files may be from two issues. */
  boolean isPair() {
    try {
      byte[] message = {1};
      Signature signature = Signature.getInstance(SIGNATURE);
      signature.initSign(key);
      signature.update(message);
      byte[] signed = signature.sign();
      signature.initVerify(certificate);
      signature.update(message);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static boolean isAddress(String name) {
    return NUMBERS.matcher(name).matches();
  }

  String keyPem() {
    return pem("PRIVATE KEY", key.getEncoded());
  }

  String certificatePem() {
    try {
      return pem("CERTIFICATE", certificate.getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a parsed certificate can be encoded", e);
    }
  }

  private static String pem(String what, byte[] encoded) {
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
        .formatted(
            what,
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(encoded),
            what)
        .replace(System.lineSeparator(), "\n");
  }

  /** Returns the time of its creation. */
  Instant made() {
    return certificate.getNotBefore().toInstant().plus(BEFORE);
  }

  /** Returns the time of its expiry. */
  Instant end() {
    return certificate.getNotAfter().toInstant();
  }

  /** The names in its certificate. */
  Set<String> names() {
    try {
      var alternatives = certificate.getSubjectAlternativeNames();
      if (alternatives == null) {
        return Set.of();
      }
      List<String> names = new ArrayList<>();
      for (List<?> name : alternatives) {
        Object type = name.get(0);
        if (type.equals(DNS) || type.equals(ADDRESS)) {
          names.add(String.valueOf(name.get(1)));
        }
      }
      return names.stream().collect(Collectors.toCollection(TreeSet::new));
    } catch (GeneralSecurityException e) {
      return Set.of();
    }
  }
}
