package dev.stasis.e2e.kube;

import org.jspecify.annotations.Nullable;

/** What has to be in a status. */
final class Present {

  private Present() {}

  static <T> T in(String status, @Nullable T value) {
    if (value == null) {
      throw new AssertionError("expected " + status + ", got none");
    }
    return value;
  }
}
