package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Clock;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SigningKeysTest {

  /** Made by openssl ecparam -name prime256v1 -genkey. */
  private static final String OF_OPENSSL =
      """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdAZEJFHWD9b893l1J8BSnPI7e+A1
      4lpx3wEeGLmkbYqvdMgxLA9D9eahYht5SNq5btXqQ75npu9ICQlBch9kYg==
      -----END PUBLIC KEY-----
      """;

  /** Made by openssl dgst -sha256 -sign KEY manifest.json | base64 -w0. */
  private static final String SIGNED_BY_OPENSSL =
      "MEQCIG9a+ifRUGOnbOYJsHMbGcpqKyogsQCwfAzlI1SpsjfiAiBL56QtdNam"
          + "5J5tkt3U8pGAp5N3YlDo4bYc9qy9tpg8RQ==";

  private static final String SIGNED_BYTES = "{\"formatVersion\" : 2}\n";

  /** Made by cosign 2.5.3: cosign generate-key-pair. */
  private static final String OF_COSIGN =
      """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtzdd3aOQqhEUYpc90ZTu4D109yoX
      jyWbt8ZHFWNh6f0qb2EIlxMyUUsgxWfWEYsXlQ7YVxXBJcnRHND6CMIIyA==
      -----END PUBLIC KEY-----
      """;

  /** Made by cosign 2.5.3: cosign sign-blob --key KEY --tlog-upload=false manifest.json. */
  private static final String SIGNED_BY_COSIGN =
      "MEUCIQCHLs4auqHRwgwu9gAh//yC44kHrICLxAcSTHXKjHZXMAIgVY7KHPkvx51n"
          + "97B/KVfRflW+AxZ7YzZBZxdFEHHq/iU=";

  private static final String ON_P384 =
      """
      -----BEGIN PUBLIC KEY-----
      MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEZyYcDupbqsHYyfr4fgbNmMfWU0J+88aV
      3hoSLJlqd0eOGEe0rwd9zTkSOent1frKRX3qAkXUMYfiW25B9tYIaBcYWFgcUnOK
      DCDg8yJestBhfLQaVDjgnAGPW7PunsiM
      -----END PUBLIC KEY-----
      """;

  @TempDir Path temp = Path.of("/");
  private Path artifact = temp;

  @BeforeEach
  void sealOne() throws IOException {
    Path folder = Files.createDirectory(temp.resolve("store"));
    artifact = new Samples().sealed(new ArtifactStore(folder, Clock.systemUTC()), "a", temp).path();
  }

  @Test
  void aSignatureOfOpensslIsAccepted() throws Exception {
    accepted(OF_OPENSSL, SIGNED_BY_OPENSSL + "\n");
  }

  @Test
  void aSignatureOfCosignIsAccepted() throws Exception {
    accepted(OF_COSIGN, SIGNED_BY_COSIGN);
  }

  private void accepted(String pem, String signature) throws Exception {
    Path folder = Files.createDirectory(temp.resolve("signed"));
    Files.writeString(folder.resolve("manifest.json.sig"), signature);
    SigningKeys keys = SigningKeys.ofPem(pem);

    keys.require(folder, SIGNED_BYTES.getBytes());

    assertThatThrownBy(() -> keys.require(folder, (SIGNED_BYTES + " ").getBytes()))
        .isInstanceOf(Refusal.class);
  }

  @Test
  void aSignatureByAnyOfTheKeysIsAcceptedAndNotReportedAsDamage() throws Exception {
    KeyPair key = key();
    sign(key);

    assertThat(message(pem(key))).isEqualTo("verified");
    assertThat(message(OF_OPENSSL + pem(key))).isEqualTo("verified");
    assertThat(new ArtifactReader(1, Progress.NONE).open(artifact, null))
        .isInstanceOf(Opened.Verified.class);
  }

  @Test
  void aMissingSignatureOrOneByAnotherKeyIsRefused() throws Exception {
    String none = message(OF_OPENSSL);
    sign(key());

    assertThat(none).startsWith("manifest.json.sig: ").endsWith("got no such file");
    assertThat(message(OF_OPENSSL))
        .endsWith("got a signature of other bytes or by a different key");
  }

  @Test
  void aManifestThatWasChangedIsRefusedBeforeItIsParsed() throws Exception {
    KeyPair key = key();
    sign(key);
    Files.writeString(artifact.resolve(Manifest.FILE_NAME), "not even JSON");

    assertThat(message(pem(key))).endsWith("got a signature of other bytes or by a different key");
  }

  @Test
  void aMalformedSignatureIsRefused() throws Exception {
    String pem = pem(key());
    for (String text : List.of("", "?", "AAAA", "MAYCAQACAQA=", "A".repeat(1 << 20))) {
      Files.writeString(artifact.resolve(SigningKeys.SIGNATURE_FILE_NAME), text);

      assertThat(message(pem)).startsWith("manifest.json.sig: ");
    }
  }

  @Test
  void aLinkIsNotReadAsASignature() throws Exception {
    KeyPair key = key();
    sign(key);
    Path file = artifact.resolve(SigningKeys.SIGNATURE_FILE_NAME);
    Files.createSymbolicLink(file, Files.move(file, temp.resolve("elsewhere")));

    assertThat(message(pem(key))).endsWith("got no such file");
  }

  @Test
  void onlyP256KeysAreAccepted() {
    for (String pem :
        List.of("", "x", ON_P384, OF_OPENSSL + ON_P384, OF_OPENSSL + "x", "x" + OF_OPENSSL)) {
      assertThatThrownBy(() -> SigningKeys.ofPem(pem))
          .isInstanceOf(GeneralSecurityException.class)
          .hasMessageStartingWith("expected ");
    }
  }

  private String message(String pem) throws Exception {
    Opened opened =
        new ArtifactReader(1, Progress.NONE).inspect(artifact, null, SigningKeys.ofPem(pem));
    return opened instanceof Opened.Refused refused ? refused.message() : "verified";
  }

  private void sign(KeyPair key) throws Exception {
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(key.getPrivate());
    signature.update(Files.readAllBytes(artifact.resolve(Manifest.FILE_NAME)));
    Files.writeString(
        artifact.resolve(SigningKeys.SIGNATURE_FILE_NAME),
        Base64.getEncoder().encodeToString(signature.sign()));
  }

  private static KeyPair key() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  private static String pem(KeyPair key) {
    return "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
        .formatted(Base64.getMimeEncoder().encodeToString(key.getPublic().getEncoded()));
  }
}
