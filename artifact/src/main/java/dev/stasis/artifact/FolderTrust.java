package dev.stasis.artifact;

import dev.stasis.artifact.Opened.Kind;
import dev.stasis.artifact.Opened.Refused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * Checks that only root can have written, or can change, the content of an artifact. A path that
 * passed the check then stays unchanged.
 */
record FolderTrust(Path folder) {
  private static final int OTHERS = 0077;
  private static final int OTHERS_WRITE = 0022;
  private static final int PERMISSIONS = 07777;

  void requireArtifactFolder() throws IOException, Refusal {
    if (!new SharedLookup(folder).exists()) {
      throw refusal(Kind.MISSING, folder.toString(), "an artifact", "nothing");
    }
    Path manifest = folder.resolve(Manifest.FILE_NAME);
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
        || !Files.exists(manifest, LinkOption.NOFOLLOW_LINKS)) {
      throw refusal(
          Kind.NOT_AN_ARTIFACT,
          folder.toString(),
          "a folder with " + Manifest.FILE_NAME,
          Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
              ? "a folder without one"
              : "no folder");
    }
    if (!Files.isRegularFile(manifest, LinkOption.NOFOLLOW_LINKS)) {
      throw refusal(Kind.DAMAGED, Manifest.FILE_NAME, "a file", "something else");
    }
    require(folder, OTHERS, "0700");
    require(manifest, OTHERS_WRITE, "a mode without write for group and others");
  }

  FolderScan scan() throws IOException, Refusal {
    FolderScan scan;
    try {
      scan = FolderScan.of(folder);
    } catch (FolderScan.ForeignEntry e) {
      throw refusal(
          Kind.DAMAGED,
          folder.toString(),
          "only files and folders",
          String.valueOf(e.getMessage()));
    }
    for (Path path : scan.folders()) {
      require(path, OTHERS_WRITE, "a mode without write for group and others");
    }
    for (Path path : scan.files()) {
      require(path, OTHERS_WRITE, "a mode without write for group and others");
    }
    return scan;
  }

  private void require(Path path, int forbidden, String wanted) throws IOException, Refusal {
    Map<String, Object> attributes =
        Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    String name = path.equals(folder) ? folder.toString() : folder.relativize(path).toString();
    if (!Integer.valueOf(0).equals(attributes.get("uid"))) {
      throw refusal(Kind.FOREIGN, "owner of " + name, "uid 0", "uid " + attributes.get("uid"));
    }
    if (attributes.get("mode") instanceof Integer mode && (mode & forbidden) != 0) {
      throw refusal(Kind.FOREIGN, "mode of " + name, wanted, "%04o".formatted(mode & PERMISSIONS));
    }
  }

  private static Refusal refusal(Kind kind, String property, String wanted, String found) {
    return new Refusal(new Refused(kind, property, wanted, found));
  }
}
