package dev.stasis.e2e.kube;

import java.nio.file.Files;
import java.nio.file.Path;

/** What was built in the checkout that this test runs in. */
record Checkout(Path root) {

  static Checkout ofThisBuild() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isRegularFile(folder.resolve("bin/setup"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new IllegalStateException("not inside a checkout: " + Path.of("").toAbsolutePath());
      }
    }
    return new Checkout(folder);
  }

  /** A file or folder that has to be there, and the command that makes it. */
  Path built(String path, String by) {
    Path found = root.resolve(path);
    if (!Files.exists(found)) {
      throw new IllegalStateException("expected %s, got none; run %s".formatted(found, by));
    }
    return found;
  }
}
