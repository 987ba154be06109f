package dev.stasis.agent.layer;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A system call that failed: which, on what, and the error's number and words. */
final class LinuxError extends IOException {
  private static final long serialVersionUID = 1L;

  private final int number;

  LinuxError(String call, String name, int number) {
    super("%s %s: %s".formatted(call, shown(name), Words.of(number)));
    this.number = number;
  }

  int number() {
    return number;
  }

  /** A name of this package as people read it. */
  static String shown(String name) {
    return new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  private interface Words extends com.sun.jna.Library {
    Words LIBC = Native.load("c", Words.class);

    String strerror(int number);

    static String of(int number) {
      return LIBC.strerror(number) + " (" + number + ")";
    }
  }
}
