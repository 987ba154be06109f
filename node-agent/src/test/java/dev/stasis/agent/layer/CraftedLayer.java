package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/** Archives of a writable layer with any entries whatever; a file's content is {@code evil}. */
record CraftedLayer(Path folder) {
  void of(LayerEntry... entries) throws IOException {
    Files.writeString(folder.resolve("evil"), "evil");
    Files.deleteIfExists(folder.resolve("root.tar"));
    try (PaxWriter writer = new PaxWriter(folder.resolve("root.tar"));
        Handle parent = Handle.ofTrusted(folder);
        Handle evil = parent.file("evil")) {
      for (LayerEntry entry : entries) {
        write(writer, entry, evil);
      }
      writer.finish();
    }
    index("/", "root.tar");
  }

  static void write(PaxWriter writer, LayerEntry entry, Handle data) throws IOException {
    if (entry.size() == 0) {
      writer.write(entry);
      return;
    }
    try (FileChannel bytes = data.channel(StandardOpenOption.READ)) {
      writer.write(entry, Extents.of(data, entry.size()), bytes);
    }
  }

  void index(String target, String archive) throws IOException {
    new LayerIndex(List.of(new LayerIndex.Part(target, archive, 1, 1, List.of(), List.of())))
        .write(folder);
  }

  static LayerEntry file(String path) {
    return entry(path, LayerEntry.Kind.FILE, "", 4, Map.of());
  }

  static LayerEntry folder(String path) {
    return entry(path, LayerEntry.Kind.FOLDER, "", 0, Map.of());
  }

  static LayerEntry opaque(String path) {
    Map<String, byte[]> opaque = Map.of(LayerEntry.OPAQUE, new byte[] {'y'});
    return entry(path, LayerEntry.Kind.FOLDER, "", 0, opaque);
  }

  static LayerEntry symlink(String path, String to) {
    return entry(path, LayerEntry.Kind.SYMLINK, to, 0, Map.of());
  }

  static LayerEntry hardLink(String path, String to) {
    return entry(path, LayerEntry.Kind.HARD_LINK, to, 0, Map.of());
  }

  static LayerEntry deletion(String path) {
    return entry(path, LayerEntry.Kind.CHARACTER_DEVICE, "", 0, Map.of());
  }

  static LayerEntry entry(
      String path, LayerEntry.Kind kind, String link, long size, Map<String, byte[]> attributes) {
    return new LayerEntry(path, kind, 0644, 0, 0, 1, 0, link, 0, 0, attributes, size, List.of());
  }
}
