package dev.stasis.agent.layer;

import java.util.List;
import java.util.Map;

/**
 * An entry of an archive.
 *
 * @param path relative, {@code .} for the folder itself
 * @param kind its type; a deletion is a character device 0:0, as in overlayfs
 * @param link a symbolic link's target, or the earlier path of a hard link's file; else empty
 * @param size a file's length in bytes
 * @param extents the parts of a file that are not holes, in order
 */
record LayerEntry(
    String path,
    Kind kind,
    int mode,
    int uid,
    int gid,
    long seconds,
    int nanos,
    String link,
    int major,
    int minor,
    Map<String, byte[]> attributes,
    long size,
    List<Extent> extents) {

  /** The attribute by which overlayfs marks that the image's folder is hidden. */
  static final String OPAQUE = "trusted.overlay.opaque";

  /**
   * Returns whether an attribute belongs to the program: not to overlayfs, and of those of security
   * modules only the capabilities, since labels and signatures belong to the node.
   */
  static boolean isPrograms(String attribute) {
    return !attribute.startsWith("trusted.overlay.")
        && (!attribute.startsWith("security.") || attribute.equals("security.capability"));
  }

  /** Bytes stored in the archive. */
  record Extent(long offset, long length) {}

  /** The kinds of entries, with tar's letters. */
  enum Kind {
    FILE('0'),
    HARD_LINK('1'),
    SYMLINK('2'),
    CHARACTER_DEVICE('3'),
    BLOCK_DEVICE('4'),
    FOLDER('5'),
    FIFO('6');

    private final char letter;

    Kind(char letter) {
      this.letter = letter;
    }

    char letter() {
      return letter;
    }
  }

  /** A deletion of what is at this path. */
  static LayerEntry deletion(String path) {
    return new LayerEntry(
        path, Kind.CHARACTER_DEVICE, 0, 0, 0, 0, 0, "", 0, 0, Map.of(), 0, List.of());
  }

  boolean isDeletion() {
    return kind == Kind.CHARACTER_DEVICE && major == 0 && minor == 0;
  }

  /** Returns whether the existing content of the folder must be deleted. */
  boolean isOpaque() {
    return kind == Kind.FOLDER && attributes.containsKey(OPAQUE);
  }

  String parent() {
    int slash = path.lastIndexOf('/');
    return slash < 0 ? "." : path.substring(0, slash);
  }

  String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
