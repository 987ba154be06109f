package dev.stasis.artifact;

import dev.stasis.artifact.Opened.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Public keys of which one must have signed an artifact's manifest. The signature has the format of
 * {@code cosign sign-blob} and {@code openssl dgst -sha256 -sign}: ECDSA on P-256 over the SHA-256
 * of the manifest's bytes, DER, in base64.
 */
public final class SigningKeys {

  /** The file in an artifact's folder with the signature of its manifest. */
  public static final String SIGNATURE_FILE_NAME = Manifest.FILE_NAME + ".sig";

  private static final Pattern PEM =
      Pattern.compile("-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\\s]+)-----END PUBLIC KEY-----\\s*");

  /** A signature has at most 72 bytes, 96 in base64; the remainder allows for line breaks. */
  private static final int LONGEST = 256;

  private static final int P256_BITS = 256;

  private final List<PublicKey> keys;

  private SigningKeys(List<PublicKey> keys) {
    this.keys = List.copyOf(keys);
  }

  /**
   * Parses public keys.
   *
   * @param pem one or more, concatenated
   * @throws GeneralSecurityException if there is no key, other content, or another kind of key
   */
  public static SigningKeys ofPem(String pem) throws GeneralSecurityException {
    List<PublicKey> keys = new ArrayList<>();
    Matcher each = PEM.matcher(pem.strip());
    int end = 0;
    while (each.find() && each.start() == end) {
      keys.add(key(each.group(1)));
      end = each.end();
    }
    if (keys.isEmpty() || end != pem.strip().length()) {
      throw new GeneralSecurityException("expected public keys in PEM, got something else");
    }
    return new SigningKeys(keys);
  }

  private static PublicKey key(String base64) throws GeneralSecurityException {
    try {
      byte[] der = Base64.getMimeDecoder().decode(base64);
      PublicKey key = KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(der));
      // Java supports no other curve of this size.
      if (key instanceof ECPublicKey ec && ec.getParams().getOrder().bitLength() == P256_BITS) {
        return key;
      }
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      throw new GeneralSecurityException(
          "expected an ECDSA key on P-256, got another kind: " + e.getMessage(), e);
    }
    throw new GeneralSecurityException("expected an ECDSA key on P-256, got another curve");
  }

  /** Refuses a manifest that none of the keys has signed. */
  void require(Path folder, byte[] manifest) throws IOException, Refusal {
    Path file = folder.resolve(SIGNATURE_FILE_NAME);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw refusal("no such file");
    }
    long size = Files.size(file);
    if (size > LONGEST) {
      throw refusal(size + " bytes");
    }
    byte[] signature;
    try {
      String text = new String(Files.readAllBytes(file), StandardCharsets.US_ASCII);
      signature = Base64.getDecoder().decode(text.replaceAll("\\s", ""));
    } catch (IllegalArgumentException e) {
      throw refusal("a file that is not base64");
    }
    for (PublicKey key : keys) {
      if (isSigned(key, manifest, signature)) {
        return;
      }
    }
    throw refusal("a signature of other bytes or by a different key");
  }

  private static boolean isSigned(PublicKey key, byte[] manifest, byte[] signature) {
    try {
      Signature check = Signature.getInstance("SHA256withECDSA");
      check.initVerify(key);
      check.update(manifest);
      return check.verify(signature);
    } catch (GeneralSecurityException e) {
      // Not a valid signature format.
      return false;
    }
  }

  private static Refusal refusal(String found) {
    return new Refusal(
        new Opened.Refused(
            Kind.FOREIGN,
            SIGNATURE_FILE_NAME,
            "the signature of " + Manifest.FILE_NAME + " by an allowed key",
            found));
  }
}
