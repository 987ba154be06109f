package dev.stasis.agent.layer;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Packs or unpacks the volume /data in a process of its own, whose heap is small. */
final class SmallHeapChild {
  private SmallHeapChild() {}

  public static void main(String[] args) {
    Path root = Path.of(args[1]);
    Path archives = Path.of(args[2]);
    try {
      if (args[0].equals("pack")) {
        LayerIndex index =
            new LayerPacker(List.of("/"))
                .pack(null, root, List.of("/data"), archives, Set.of(), bytes -> {});
        System.out.println("packed " + index.parts().get(0).entries() + " entries");
      } else if (args[0].equals("map")) {
        System.out.println("read " + map(root, archives.resolve("map.tar")) + " extents");
      } else if (args[0].equals("links")) {
        links(root);
      } else {
        VolumeGuard guard =
            new VolumeGuard(
                List.of(), new TargetVolumes(Map.of("/data", root.resolve("data")), Set.of()));
        System.out.println(
            "unpacked "
                + new LayerUnpacker(List.of("/"), guard, 2).unpack(archives, root).entries()
                + " entries");
      }
    } catch (IOException e) {
      System.out.println("refused " + e.getMessage());
    }
  }

  /** A file of 440,000 bytes with holes between them, through an archive. */
  private static int map(Path folder, Path archive) throws IOException {
    LayerEntry file =
        CraftedLayer.entry("holes", LayerEntry.Kind.FILE, "", 440_000L << 14, Map.of());
    try (RandomAccessFile zeros = new RandomAccessFile(folder.resolve("zeros").toFile(), "rw");
        PaxWriter writer = new PaxWriter(archive)) {
      zeros.setLength(file.size());
      writer.write(file, holes(440_000), zeros.getChannel());
      writer.finish();
    }
    try (PaxReader reader = new PaxReader(archive, 2)) {
      return reader.next().orElseThrow().extents().size();
    }
  }

  /** More files with a second name than are remembered. */
  private static void links(Path folder) throws IOException {
    try (HardLinks links = new HardLinks(folder)) {
      for (int i = 0; i <= HardLinks.MOST; i++) {
        String inode = "253:1:%012d".formatted(i);
        Stat stat = new Stat(Stat.Type.FILE, 0644, 0, 0, 2, inode, 0, 0, 0, 0, 0, 0, 0, 0);
        links.first(stat, "a/".repeat(2000) + "file-" + i);
      }
    }
  }

  /** So many extents of a byte. */
  static Extents holes(long count) {
    return sink -> {
      for (long i = 0; i < count; i++) {
        sink.take(i << 14, 1);
      }
      return count;
    };
  }
}
