package dev.stasis.artifact;

import dev.stasis.artifact.Opened.Kind;
import dev.stasis.artifact.Opened.Refused;
import dev.stasis.artifact.Opened.Verified;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Opens artifacts, and refuses those that are not as they were sealed: criu reads them as root, so
 * nothing of one is believed before it is checked.
 */
public final class ArtifactReader {

  /** What the manifest does not list; a signature is added after the artifact was sealed. */
  private static final Set<String> BESIDE_THE_FILES =
      Set.of(Manifest.FILE_NAME, Manifest.DIGEST_FILE_NAME, SigningKeys.SIGNATURE_FILE_NAME);

  private static final int MOST_DIGEST_BYTES = 1024;

  private final int threads;
  private final Progress progress;

  /**
   * @param threads how many files or chunks are read at a time, sixteen at most
   * @param progress hears of the bytes that were checked
   */
  public ArtifactReader(int threads, Progress progress) {
    this.threads = threads;
    this.progress = progress;
  }

  /** When the bytes of the regions are checked. */
  public enum Regions {
    /** With all other files. */
    NOW,
    /** By whoever fills them, each chunk before it is filled. */
    BEFORE_EACH_FILL
  }

  /**
   * Opens an artifact and checks every file but, if so asked, the regions' data.
   *
   * @param expected the digest that it must have, where one is known
   * @throws IOException when the disk fails, which says nothing about the artifact
   */
  public Opened open(Path folder, Regions regions, @Nullable String expected) throws IOException {
    try {
      Artifact artifact = unverified(folder, expected, null);
      requireWholeFolder(artifact);
      Hasher hasher = new Hasher(progress, toBeChecked(artifact.manifest(), regions));
      verifyFiles(artifact, hasher);
      for (RegionSet set : artifact.manifest().regions()) {
        verifyRegions(artifact, set, regions, hasher);
      }
      return new Verified(artifact);
    } catch (Refusal e) {
      return e.refused();
    }
  }

  /**
   * Checks the manifest, and that every file is there with its size and no other: not what is in
   * them.
   *
   * @param expected the digest that it must have, where one is known
   * @throws IOException when the disk fails, which says nothing about the artifact
   */
  public Opened whole(Path folder, @Nullable String expected) throws IOException {
    try {
      Artifact artifact = unverified(folder, expected, null);
      requireWholeFolder(artifact);
      return new Verified(artifact);
    } catch (Refusal e) {
      return e.refused();
    }
  }

  /** Reads the manifest alone: for showing, never for restoring. */
  public Opened inspect(Path folder) throws IOException {
    return inspect(folder, null, null);
  }

  /**
   * Reads the manifest alone. Its signature is checked before anything of it is parsed.
   *
   * @param expected the digest that it must have, where one is known
   * @param keys the keys, any of which may have signed it; null: it needs no signature
   */
  public Opened inspect(Path folder, @Nullable String expected, @Nullable SigningKeys keys)
      throws IOException {
    try {
      return new Verified(unverified(folder, expected, keys));
    } catch (Refusal e) {
      return e.refused();
    }
  }

  private static Artifact unverified(
      Path folder, @Nullable String expected, @Nullable SigningKeys keys)
      throws IOException, Refusal {
    new FolderTrust(folder).requireArtifactFolder();
    byte[] bytes = bounded(folder.resolve(Manifest.FILE_NAME), ManifestCodec.MOST_BYTES);
    if (keys != null) {
      keys.require(folder, bytes);
    }
    ManifestCodec codec = new ManifestCodec();
    String digest = Hasher.sha256(bytes);
    int version;
    try {
      version = codec.formatVersion(bytes);
    } catch (IOException e) {
      throw damaged(Manifest.FILE_NAME, "JSON", "bytes that are none");
    }
    if (version > Manifest.FORMAT_VERSION) {
      throw new Refusal(
          new Refused(
              Kind.NEWER,
              "format version",
              "at most " + Manifest.FORMAT_VERSION,
              Integer.toString(version)));
    }
    requireOwnDigest(folder, digest);
    if (expected != null && !expected.equals(digest)) {
      throw new Refusal(new Refused(Kind.FOREIGN, "artifact digest", expected, digest));
    }
    try {
      if (version < 1) {
        throw damaged("format version", "1 or more", Integer.toString(version));
      }
      return new Artifact(folder, codec.manifest(bytes), digest);
    } catch (IOException e) {
      throw damaged(Manifest.FILE_NAME, "a whole manifest", firstLine(e));
    }
  }

  /** A file that has to lie in memory. */
  private static byte[] bounded(Path file, int most) throws IOException, Refusal {
    long size = Files.size(file);
    if (size > most) {
      throw damaged("size of " + file.getFileName(), "at most " + most + " bytes", size + " bytes");
    }
    return Files.readAllBytes(file);
  }

  private static void requireOwnDigest(Path folder, String digest) throws IOException, Refusal {
    Path file = folder.resolve(Manifest.DIGEST_FILE_NAME);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw damaged(Manifest.DIGEST_FILE_NAME, "the manifest's digest", "no such file");
    }
    String wanted = new String(bounded(file, MOST_DIGEST_BYTES), StandardCharsets.US_ASCII);
    if (!wanted.equals("%s  %s\n".formatted(digest, Manifest.FILE_NAME))) {
      throw damaged("sha256 of " + Manifest.FILE_NAME, wanted.trim(), digest);
    }
  }

  /** Every file of the manifest is there with its size, trusted, and no other. */
  private static void requireWholeFolder(Artifact artifact) throws IOException, Refusal {
    Map<String, Long> wanted = new HashMap<>();
    artifact.manifest().files().forEach((name, facts) -> wanted.put(name, facts.size()));
    for (RegionSet set : artifact.manifest().regions()) {
      wanted.put(set.data(), set.dataSize());
    }
    FolderScan scan = new FolderTrust(artifact.path()).scan();
    TreeSet<String> missing = new TreeSet<>(wanted.keySet());
    for (Path file : scan.files()) {
      String name = artifact.path().relativize(file).toString();
      if (BESIDE_THE_FILES.contains(name)) {
        continue;
      }
      Long size = wanted.get(name);
      if (size == null) {
        throw damaged(name, "no such file in the artifact", "a file");
      }
      missing.remove(name);
      if (Files.size(file) != size) {
        throw damaged("size of " + name, size + " bytes", Files.size(file) + " bytes");
      }
    }
    if (!missing.isEmpty()) {
      throw damaged(missing.first(), "a file", "no such file");
    }
  }

  private static long toBeChecked(Manifest manifest, Regions regions) {
    long files = manifest.files().values().stream().mapToLong(FileFacts::size).sum();
    return regions == Regions.BEFORE_EACH_FILL
        ? files
        : files + manifest.regions().stream().mapToLong(RegionSet::storedBytes).sum();
  }

  private void verifyFiles(Artifact artifact, Hasher hasher) throws IOException, Refusal {
    Map<String, FileFacts> files = artifact.manifest().files();
    List<Map.Entry<String, FileFacts>> entries = List.copyOf(files.entrySet());
    List<Callable<FileFacts>> work = new ArrayList<>();
    entries.forEach(entry -> work.add(() -> hasher.file(artifact.path().resolve(entry.getKey()))));
    List<FileFacts> found = new Workers(threads).all(work);
    for (int i = 0; i < entries.size(); i++) {
      String wanted = entries.get(i).getValue().sha256();
      if (!found.get(i).sha256().equals(wanted)) {
        throw damaged("sha256 of " + entries.get(i).getKey(), wanted, found.get(i).sha256());
      }
    }
  }

  private void verifyRegions(Artifact artifact, RegionSet set, Regions regions, Hasher hasher)
      throws IOException, Refusal {
    if (!artifact.manifest().files().containsKey(set.chunks())) {
      throw damaged(set.chunks(), "its digest in the manifest", "none");
    }
    ChunkTable table;
    try {
      table = artifact.chunks(set);
    } catch (IOException e) {
      throw damaged("regions of process " + set.ownPid(), "a whole table", firstLine(e));
    }
    if (regions == Regions.BEFORE_EACH_FILL) {
      return;
    }
    try (FileChannel data = Hasher.openForReading(artifact.data(set))) {
      List<Callable<Hasher.Digests>> work = new ArrayList<>();
      List<Chunk> chunks = table.chunks().stream().filter(chunk -> !chunk.zero()).toList();
      for (Chunk chunk : chunks) {
        work.add(() -> hasher.chunk(chunk, data, null));
      }
      List<Hasher.Digests> found = new Workers(threads).all(work);
      for (int i = 0; i < chunks.size(); i++) {
        Chunk chunk = chunks.get(i);
        if (!found.get(i).sha256().equals(chunk.sha256())) {
          throw damaged(
              "sha256 of chunk %d of %s".formatted(chunk.number(), set.data()),
              "" + chunk.sha256(),
              found.get(i).sha256());
        }
      }
    }
  }

  private static Refusal damaged(String property, String wanted, String found) {
    return new Refusal(new Refused(Kind.DAMAGED, property, wanted, found));
  }

  private static String firstLine(IOException e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("nothing");
  }
}
