package dev.stasis.local.image;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The images of this machine: {@code ROOT/FOLDER/rootfs} with the files, {@code image.json} with
 * the settings, {@code name} with the name. A user adds an image by creating such a folder.
 */
public final class LocalImages {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path root;

  public LocalImages(Path root) {
    this.root = root;
  }

  /** Returns all images by name. */
  public List<LocalImage> all() {
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(root)) {
      List<LocalImage> images = new ArrayList<>();
      for (Path folder : folders.filter(it -> Files.exists(it.resolve("name"))).toList()) {
        images.add(read(folder));
      }
      images.sort(Comparator.comparing(LocalImage::name));
      return images;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the image with that name or id; a name without a tag means {@code :latest}. */
  public Optional<LocalImage> find(String wanted) {
    return all().stream()
        .filter(
            image ->
                image.name().equals(wanted)
                    || image.name().equals(wanted + ":latest")
                    || image.id().equals(wanted))
        .findFirst();
  }

  /** Adds an image with the files that {@code files} creates. */
  public void add(String name, LocalImage.Settings settings, RootFiles files) throws IOException {
    Path folder = root.resolve(name.replaceAll("[^A-Za-z0-9._-]", "_"));
    Path rootfs = Files.createDirectories(folder.resolve("rootfs"));
    files.fill(rootfs);
    JSON.writeValue(folder.resolve("image.json").toFile(), settings);
    Files.writeString(folder.resolve("name"), name);
  }

  /** Creates the files of an image. */
  @FunctionalInterface
  public interface RootFiles {
    void fill(Path rootfs) throws IOException;
  }

  private static LocalImage read(Path folder) throws IOException {
    Path rootfs = folder.resolve("rootfs");
    byte[] settings = Files.readAllBytes(folder.resolve("image.json"));
    MessageDigest digest = sha256();
    digest.update(settings);
    long bytes = 0;
    try (Stream<Path> files = Files.walk(rootfs)) {
      for (Path file : files.sorted().toList()) {
        boolean regular = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
        long size = regular ? Files.size(file) : 0;
        bytes += size;
        // Name, size and time, not the content: an image may have gigabytes, and only we write it.
        String line =
            "%s %d %s%n"
                .formatted(
                    rootfs.relativize(file),
                    size,
                    regular ? Files.getLastModifiedTime(file).toString() : "");
        digest.update(line.getBytes(StandardCharsets.UTF_8));
      }
    }
    return new LocalImage(
        Files.readString(folder.resolve("name")).strip(),
        "sha256:" + HexFormat.of().formatHex(digest.digest()),
        rootfs,
        JSON.readValue(settings, LocalImage.Settings.class),
        bytes);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
