package dev.stasis.operator.admission;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Finds the hook for a request path. API servers do not authenticate to a webhook, so a path
 * contains a secret that only readers of the webhook configurations know.
 */
final class HookPaths {

  private static final String ALGORITHM = "HmacSHA256";

  private final List<AdmissionHook> hooks;
  private volatile Set<String> tokens = Set.of();

  HookPaths(Collection<? extends AdmissionHook> hooks) {
    this.hooks = List.copyOf(hooks);
  }

  /**
   * Returns the path of a hook. Each hook has its own code: if a webhook fails closed, the API
   * server shows its URL to the user, and that must not open the other hooks.
   *
   * @param token the token of the Secret; empty for a Secret of a version without tokens
   */
  static String path(String token, String hook) {
    return token.isEmpty() ? "/" + hook : "/" + code(token, hook) + "/" + hook;
  }

  private static String code(String token, String hook) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(token.getBytes(StandardCharsets.US_ASCII), ALGORITHM));
      return HexFormat.of().formatHex(mac.doFinal(hook.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + " is part of every Java platform", e);
    }
  }

  /** Replaces the valid tokens. */
  void accept(Set<String> accepted) {
    tokens = Set.copyOf(accepted);
  }

  /** Returns the hook for a path; compares in constant time. */
  Optional<AdmissionHook> hook(String path) {
    byte[] asked = path.getBytes(StandardCharsets.UTF_8);
    AdmissionHook found = null;
    for (AdmissionHook hook : hooks) {
      for (String token : tokens) {
        byte[] expected = path(token, hook.path()).getBytes(StandardCharsets.UTF_8);
        if (MessageDigest.isEqual(expected, asked)) {
          found = hook;
        }
      }
    }
    return Optional.ofNullable(found);
  }
}
