package dev.stasis.agent.daemon.operation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The folder of a namespace in a store, into which somebody else has put something. Nobody but root
 * may be able to put another artifact into the place of one that was checked.
 */
record TrustedFolder(Path path) {

  private static final int OTHERS_WRITE = 0022;

  /** It is a folder, no link to one, and root's alone to change. */
  void require() throws Refused, IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      boolean there = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
      throw refused("namespace's folder " + path, "a folder", there ? "a link or a file" : "none");
    }
    Map<String, Object> attributes =
        Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    if (!Integer.valueOf(0).equals(attributes.get("uid"))) {
      throw refused("owner of " + path, "uid 0", "uid " + attributes.get("uid"));
    }
    if (attributes.get("mode") instanceof Integer mode && (mode & OTHERS_WRITE) != 0) {
      throw refused(
          "mode of " + path,
          "one without write for group and others",
          "%04o".formatted(mode & 07777));
    }
  }

  private static Refused refused(String property, String wanted, String found) {
    return new Refused(Faults.of("ArtifactRefused", property, wanted, found));
  }
}
