package dev.stasis.agent.layer;

import java.util.List;
import java.util.Map;

/**
 * One entry of an archive.
 *
 * @param path relative, {@code .} for the folder itself
 * @param kind what it is; a deletion is a character device 0:0, as overlayfs has it
 * @param link a symbolic link's target, or the earlier path of a hard link's file; else empty
 * @param size a file's length in bytes
 * @param extents the parts of a file that are no hole, in order
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

  /** The attribute by which overlayfs says that nothing of the image's folder shows. */
  static final String OPAQUE = "trusted.overlay.opaque";

  /**
   * Whether an attribute is the program's: not the overlay's own, and of the security modules' only
   * the capabilities, since labels and signatures belong to the node.
   */
  static boolean isPrograms(String attribute) {
    return !attribute.startsWith("trusted.overlay.")
        && (!attribute.startsWith("security.") || attribute.equals("security.capability"));
  }

  /** Bytes that are stored. */
  record Extent(long offset, long length) {}

  /** The kinds of entries, with tar's letter for each. */
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

  boolean isDeletion() {
    return kind == Kind.CHARACTER_DEVICE && major == 0 && minor == 0;
  }

  /** Whether everything that lies in the folder already has to go. */
  boolean isOpaque() {
    return kind == Kind.FOLDER && attributes.containsKey(OPAQUE);
  }

  /** The folder that it lies in. */
  String parent() {
    int slash = path.lastIndexOf('/');
    return slash < 0 ? "." : path.substring(0, slash);
  }

  /** Its name in that folder. */
  String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
