package dev.stasis.agent.layer;

import dev.stasis.agent.process.LibC;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A failed system call: its name, its subject, and the error's number and text. */
final class LinuxError extends IOException {
  private static final long serialVersionUID = 1L;

  private final int number;

  LinuxError(String call, String name, int number) {
    super("%s %s: %s (%d)".formatted(call, shown(name), LibC.INSTANCE.strerror(number), number));
    this.number = number;
  }

  int number() {
    return number;
  }

  /** Returns a name of this package in readable form. */
  static String shown(String name) {
    return new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
