package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.store.ImportPolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Stores of the lab, which lie in one folder and differ in what may be imported. */
final class LabStores {

  static final String ANY_UID = "any-uid";
  static final String SIGNED = "signed";
  static final String BAD_KEY = "bad-key";
  static final String REMOTE = "remote";

  /** Protects nothing: it was made for this test. */
  private static final String PRIVATE_KEY =
      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmtFjlKc+rP/e"
          + "JQEu9L5xajYaZQeLKRnLotLO9WZlo9ehRANCAAR0BkQkUdYP1vz3eXUnwFKc"
          + "8jt74DXiWnHfAR4YuaRtiq90yDEsD0P15qFiG3lI2rlu1epDvmem70gJCUFy"
          + "H2Ri";

  private static final String PUBLIC_KEY =
      """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdAZEJFHWD9b893l1J8BSnPI7e+A1
      4lpx3wEeGLmkbYqvdMgxLA9D9eahYht5SNq5btXqQ75npu9ICQlBch9kYg==
      -----END PUBLIC KEY-----
      """;

  private LabStores() {}

  static @Nullable ImportPolicy imports(String store) {
    return switch (store) {
      case ANY_UID -> new ImportPolicy(true, null);
      case SIGNED -> new ImportPolicy(null, PUBLIC_KEY);
      case BAD_KEY -> new ImportPolicy(null, PUBLIC_KEY + "more");
      default -> null;
    };
  }

  /** Signs as the administrator of {@link #SIGNED} would. */
  static void sign(Path artifact) throws Exception {
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(
        KeyFactory.getInstance("EC")
            .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(PRIVATE_KEY))));
    signature.update(Files.readAllBytes(artifact.resolve("manifest.json")));
    Files.writeString(
        artifact.resolve("manifest.json.sig"),
        Base64.getEncoder().encodeToString(signature.sign()));
  }
}
