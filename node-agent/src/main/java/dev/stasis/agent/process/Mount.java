package dev.stasis.agent.process;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A line of {@code mountinfo}, names decoded.
 *
 * @param root the folder (or file) of the file system that is mounted here
 * @param mountPoint path as the process sees it
 * @param options of this mount: {@code ro}, {@code nosuid}, ...
 * @param optionalFields propagation: {@code shared:N}, {@code master:N}, ...
 * @param type type of the file system
 * @param source the device, or the file system's name for its source
 * @param superOptions options of the file system: for overlay its layers
 */
public record Mount(
    int id,
    int parentId,
    int major,
    int minor,
    String root,
    String mountPoint,
    List<String> options,
    List<String> optionalFields,
    String type,
    String source,
    List<String> superOptions) {

  public Mount {
    options = List.copyOf(options);
    optionalFields = List.copyOf(optionalFields);
    superOptions = List.copyOf(superOptions);
  }

  public boolean isReadOnly() {
    return options.contains("ro") || superOptions.contains("ro");
  }

  /** Returns the value of {@code name=value} among the file system's options. */
  public Optional<String> superOption(String name) {
    return superOptions.stream()
        .filter(option -> option.startsWith(name + "="))
        .map(option -> option.substring(name.length() + 1))
        .findFirst();
  }

  static Mount parse(String line) {
    String[] field = line.split(" ");
    int dash = 6;
    while (dash < field.length && !"-".equals(field[dash])) {
      dash++;
    }
    if (field.length < dash + 4) {
      throw new IllegalArgumentException("mountinfo: expected at least 10 fields, got " + line);
    }
    String[] device = field[2].split(":");
    return new Mount(
        Integer.parseInt(field[0]),
        Integer.parseInt(field[1]),
        Integer.parseInt(device[0]),
        Integer.parseInt(device[1]),
        decode(field[3]),
        decode(field[4]),
        split(field[5]),
        Arrays.asList(field).subList(6, dash),
        decode(field[dash + 1]),
        decode(field[dash + 2]),
        split(field[dash + 3]));
  }

  private static List<String> split(String options) {
    return Arrays.stream(options.split(",")).map(Mount::decode).toList();
  }

  /** The kernel writes space, tab, newline, backslash and # as three octal digits. */
  private static String decode(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder decoded = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      if (isEscape(text, i)) {
        decoded.append((char) Integer.parseInt(text.substring(i + 1, i + 4), 8));
        i += 3;
      } else {
        decoded.append(text.charAt(i));
      }
    }
    return decoded.toString();
  }

  private static boolean isEscape(String text, int at) {
    return text.charAt(at) == '\\'
        && at + 3 < text.length()
        && text.substring(at + 1, at + 4).chars().allMatch(digit -> digit >= '0' && digit <= '7');
  }
}
