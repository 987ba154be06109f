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
 * Opens artifacts, and refuses those that differ from their sealed state: criu reads them as root,
 * so nothing is trusted before it is checked.
 */
public final class ArtifactReader {

  /** Files that the manifest does not list; a signature is added after the seal. */
  private static final Set<String> BESIDE_THE_FILES =
      Set.of(Manifest.FILE_NAME, Manifest.DIGEST_FILE_NAME, SigningKeys.SIGNATURE_FILE_NAME);

  private static final int MOST_DIGEST_BYTES = 1024;

  private final int threads;
  private final Progress progress;

  /**
   * Reads with a thread for each processor, at most sixteen.
   *
   * @param progress receives the number of checked bytes
   */
  public ArtifactReader(Progress progress) {
    this(Runtime.getRuntime().availableProcessors(), progress);
  }

  /**
   * @param threads number of files or chunks read in parallel, at most sixteen
   * @param progress receives the number of checked bytes
   */
  public ArtifactReader(int threads, Progress progress) {
    this.threads = threads;
    this.progress = progress;
  }

  /**
   * Opens an artifact and checks every byte of it.
   *
   * @param expected the required digest, if known
   * @throws IOException if the disk fails, which does not mean that the artifact is damaged
   */
  public Opened open(Path folder, @Nullable String expected) throws IOException {
    return open(folder, expected, true);
  }

  /**
   * Opens an artifact and checks everything except the bytes of {@link Manifest#allSets()}. The
   * program that copies them into a process or onto a GPU must check the digest of each chunk.
   *
   * @param expected the required digest, if known
   * @throws IOException if the disk fails, which does not mean that the artifact is damaged
   */
  public Opened openExceptRegions(Path folder, @Nullable String expected) throws IOException {
    return open(folder, expected, false);
  }

  private Opened open(Path folder, @Nullable String expected, boolean regions) throws IOException {
    try {
      Artifact artifact = unverified(folder, expected, null);
      requireWholeFolder(artifact);
      Manifest manifest = artifact.manifest();
      List<RegionSet> checked = regions ? manifest.allSets() : List.of();
      Hasher hasher = new Hasher(progress, toBeChecked(manifest, checked));
      verifyFiles(artifact, hasher);
      for (RegionSet set : manifest.allSets()) {
        ChunkTable table = table(artifact, set);
        if (regions) {
          verifyRegions(artifact, set, table, hasher);
        }
      }
      return new Verified(artifact);
    } catch (Refusal e) {
      return e.refused();
    }
  }

  /**
   * Checks the manifest, and that exactly its files exist, with their sizes; the content of files
   * is not checked.
   *
   * @param expected the required digest, if known
   * @throws IOException if the disk fails, which does not mean that the artifact is damaged
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

  /** Reads only the manifest: for display, never for a restore. */
  public Opened inspect(Path folder) throws IOException {
    return inspect(folder, null, null);
  }

  /**
   * Reads only the manifest. Its signature is checked before it is parsed.
   *
   * @param expected the required digest, if known
   * @param keys the accepted signing keys; null if no signature is required
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
      throw damaged(Manifest.FILE_NAME, "JSON", "other bytes");
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

  /** Size limit of a file that is read into memory. */
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

  /**
   * Checks that exactly the files of the manifest exist, with their sizes and with trusted owners.
   */
  private static void requireWholeFolder(Artifact artifact) throws IOException, Refusal {
    Map<String, Long> wanted = new HashMap<>();
    artifact.manifest().files().forEach((name, facts) -> wanted.put(name, facts.size()));
    for (RegionSet set : artifact.manifest().allSets()) {
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

  private static long toBeChecked(Manifest manifest, List<RegionSet> sets) {
    long files = manifest.files().values().stream().mapToLong(FileFacts::size).sum();
    return files + sets.stream().mapToLong(RegionSet::storedBytes).sum();
  }

  private void verifyFiles(Artifact artifact, Hasher hasher) throws IOException, Refusal {
    Map<String, FileFacts> files = artifact.manifest().files();
    List<Map.Entry<String, FileFacts>> entries = List.copyOf(files.entrySet());
    List<FileDigests.Subject> subjects = new ArrayList<>();
    for (Map.Entry<String, FileFacts> entry : entries) {
      subjects.add(
          FileDigests.Subject.having(
              artifact.path().resolve(entry.getKey()), entry.getValue().sha256()));
    }
    List<FileFacts> found = new FileDigests(new Workers(threads), hasher).of(subjects);
    for (int i = 0; i < entries.size(); i++) {
      String wanted = entries.get(i).getValue().sha256();
      if (!found.get(i).sha256().equals(wanted)) {
        throw damaged("sha256 of " + entries.get(i).getKey(), wanted, found.get(i).sha256());
      }
    }
  }

  private static ChunkTable table(Artifact artifact, RegionSet set) throws Refusal {
    if (!artifact.manifest().files().containsKey(set.chunks())) {
      throw damaged(set.chunks(), "its digest in the manifest", "none");
    }
    try {
      return artifact.chunks(set);
    } catch (IOException e) {
      throw damaged("regions of process " + set.ownPid(), "a whole table", firstLine(e));
    }
  }

  private void verifyRegions(Artifact artifact, RegionSet set, ChunkTable table, Hasher hasher)
      throws IOException, Refusal {
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
