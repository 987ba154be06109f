package dev.stasis.artifact;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;

/** Manifests and regions to test with. */
final class Samples {
  static final long ADDRESS = 0x7f00_0000_0000L;

  Manifest draft() {
    return new Manifest(
        Manifest.FORMAT_VERSION,
        new Manifest.Origin(
            "6f1c", "ml", "2b7e", null, Instant.parse("2026-11-21T10:00:00.123456789Z"), "0.1.0"),
        new NodeFacts("gpu-17", "6.18", "x86_64", Set.of("avx2", "sse4_2"), "4.2.1", "580", 13000),
        new Hardware(
            List.of(
                new Hardware.Gpu(0, "GPU-a", "H200", 1L << 37, "00000000:01:00.0", "9.0"),
                new Hardware.Gpu(1, "GPU-b", "H200", 1L << 37, "00000000:02:00.0", "9.0")),
            List.of(new Hardware.Link(0, 1, "NVLINK"))),
        List.of(
            new ProcessFacts(
                4242,
                99887,
                List.of(4242, 1),
                List.of("python3", "t.py"),
                true,
                Map.of("GPU-a", 9L),
                null,
                List.of(new ThreadFacts(7, "2-3", "0-3", 1000L)))),
        List.of(new SourceMount(137, 89, "0:33", "/", "/", "rw", "overlay", "overlay", "rw")),
        List.of(new StdioPipe(7731, List.of(new StdioPipe.End(1, 1, "w")))),
        null,
        new Manifest.User(1000, 1000),
        new Manifest.Sizes(0, 9),
        List.of(),
        Map.of(),
        Map.of("lock", 12L, "dump", 170L),
        new Manifest.DataPath(Manifest.DataPath.Kind.MOVER, "every rule holds"),
        List.of(new VolumeFile("/data/log", 77, Instant.parse("2026-11-21T09:00:00Z"))),
        List.of(
            new InterfaceAddress("eth0", "10.244.0.5"), new InterfaceAddress("eth0", "fd00::5")),
        null,
        null);
  }

  /** Chunks of the given length; every third is zeros and has no bytes in the file. */
  ChunkTable stage(Path file, int count, int length) throws IOException {
    Random random = new Random(count);
    List<Chunk> chunks = new ArrayList<>();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int i = 0; i < count; i++) {
        long at = (long) i * length;
        if (i % 3 == 2) {
          chunks.add(new Chunk(i, ADDRESS + at, length, at, null, null));
          continue;
        }
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        channel.write(ByteBuffer.wrap(bytes), at);
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        chunks.add(new Chunk(i, ADDRESS + at, length, at, (int) crc.getValue(), null));
      }
    }
    try (java.io.RandomAccessFile whole = new java.io.RandomAccessFile(file.toFile(), "rw")) {
      whole.setLength((long) count * length);
    }
    return new ChunkTable(List.of(new Region(ADDRESS, (long) count * length)), chunks);
  }

  /** Writes what criu and the packing would have written. */
  void fill(ArtifactStage stage) throws IOException {
    Files.writeString(stage.criu().resolve("inventory.img"), "inventory");
    Files.writeString(stage.criu().resolve("pages-1.img"), "pages".repeat(1000));
    Files.writeString(stage.layer().resolve("root.tar"), "a layer");
  }

  /** A whole artifact with one process of 10 chunks. */
  ArtifactStage.SealedArtifact sealed(ArtifactStore store, String name, Path scratch)
      throws IOException {
    try (ArtifactStage stage = store.stage(name)) {
      fill(stage);
      Path data = scratch.resolve(name + ".stage");
      stage.addRegions(1, data, stage(data, 10, 4096), List.of(), 2, Progress.NONE);
      return stage.seal(draft(), 2, Progress.NONE);
    }
  }

  /** The same as it was before format 2: each chunk has one SHA-256. */
  ArtifactStage.SealedArtifact sealedAsFormat1(ArtifactStore store, String name, Path scratch)
      throws IOException {
    ArtifactStage.SealedArtifact sealed;
    try (ArtifactStage stage = store.stage(name)) {
      fill(stage);
      Path data = scratch.resolve(name + ".stage");
      ChunkTable table = stage(data, 10, 4096);
      byte[] bytes = Files.readAllBytes(data);
      List<Chunk> chunks =
          table.chunks().stream()
              .map(
                  chunk -> {
                    int at = (int) chunk.offset();
                    return chunk.zero()
                        ? chunk
                        : chunk.with(Hasher.sha256(Arrays.copyOfRange(bytes, at, at + 4096)));
                  })
              .toList();
      stage.addRegions(
          1, data, new ChunkTable(table.regions(), chunks), List.of(), 2, Progress.NONE);
      sealed = stage.seal(draft(), 2, Progress.NONE);
    }
    Path manifest = sealed.path().resolve(Manifest.FILE_NAME);
    String text = Files.readString(manifest);
    Files.writeString(manifest, text.replaceFirst("(\"formatVersion\" : )\\d+", "$11"));
    Files.writeString(
        sealed.path().resolve(Manifest.DIGEST_FILE_NAME),
        Hasher.sha256(Files.readAllBytes(manifest)) + "  manifest.json\n");
    return sealed;
  }
}
