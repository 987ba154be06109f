package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What may have become of an artifact in its store. */
enum DamagedArtifact {
  MANIFEST_CUT_OFF("echo '{' >manifest.json"),
  MANIFEST_GONE("rm manifest.json"),
  DIGEST_GONE("rm manifest.json.sha256"),
  /** A reader that opens it waits for ever. */
  MANIFEST_IS_A_FIFO("rm manifest.json && mkfifo manifest.json"),
  MANIFEST_IS_A_FOLDER("rm manifest.json && mkdir manifest.json"),
  MANIFEST_NAMES_ITSELF("rm manifest.json && ln -s manifest.json manifest.json"),
  NOT_A_FOLDER("cd .. && rm -r \"$OLDPWD\" && touch \"$OLDPWD\""),
  GONE("rm -r \"$PWD\"");

  private final String script;

  DamagedArtifact(String script) {
    this.script = script;
  }

  /** Damages the artifact in that folder. */
  void damage(Path artifact) {
    try {
      Path folder = artifact.toRealPath();
      new Shell().must("sh", "-ec", "cd \"$0\"; " + script, folder.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Name of a checkpoint that has such an artifact. */
  String checkpoint() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  /** Whether anything of it is left. */
  static boolean isLeft(Path artifact) {
    return Files.exists(artifact, java.nio.file.LinkOption.NOFOLLOW_LINKS);
  }
}
