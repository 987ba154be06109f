package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.stasis.agent.testing.Sh;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A copy of an artifact whose images root of another node has changed, its digests with them. */
final class ForgedArtifact {

  private static final int MAGIC = 8;

  private final Path folder;

  ForgedArtifact(Path good) {
    folder = good.resolveSibling("forged-" + UUID.randomUUID().toString().substring(0, 8));
    new Sh().must("cp", "-a", good.toString(), folder.toString());
  }

  Path folder() {
    return folder;
  }

  /** The message in a field of another one, changed. */
  static UnknownFieldSet in(
      UnknownFieldSet message, int field, UnaryOperator<UnknownFieldSet> change) {
    try {
      UnknownFieldSet inner =
          UnknownFieldSet.parseFrom(message.getField(field).getLengthDelimitedList().get(0));
      ByteString changed = change.apply(inner).toByteString();
      return with(message, field, UnknownFieldSet.Field.newBuilder().addLengthDelimited(changed));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A field of numbers. */
  static UnknownFieldSet numbers(UnknownFieldSet message, int field, long... values) {
    UnknownFieldSet.Field.Builder numbers = UnknownFieldSet.Field.newBuilder();
    for (long value : values) {
      numbers.addVarint(value);
    }
    return with(message, field, numbers);
  }

  private static UnknownFieldSet with(
      UnknownFieldSet message, int field, UnknownFieldSet.Field.Builder value) {
    return message.toBuilder().clearField(field).mergeField(field, value.build()).build();
  }

  /** Changes what each thread is given. */
  ForgedArtifact threads(UnaryOperator<UnknownFieldSet> change) throws IOException {
    return entries("core-", core -> in(core, 5, change));
  }

  /** Changes the credentials of each thread. */
  ForgedArtifact credentials(UnaryOperator<UnknownFieldSet> change) throws IOException {
    return threads(thread -> in(thread, 10, change));
  }

  /** Changes each entry of the images whose names begin so. */
  ForgedArtifact entries(String prefix, UnaryOperator<UnknownFieldSet> change) throws IOException {
    try (Stream<Path> images = Files.list(folder.resolve("criu"))) {
      for (Path image : images.toList()) {
        String name = image.getFileName().toString();
        if (name.startsWith(prefix)) {
          Files.write(image, changed(Files.readAllBytes(image), change));
          note("criu/" + name, image);
        }
      }
    }
    return this;
  }

  private static byte[] changed(byte[] image, UnaryOperator<UnknownFieldSet> change)
      throws IOException {
    ByteBuffer in = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN).position(MAGIC);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(image, 0, MAGIC);
    while (in.hasRemaining()) {
      byte[] entry = new byte[in.getInt()];
      in.get(entry);
      byte[] changed = change.apply(UnknownFieldSet.parseFrom(entry)).toByteArray();
      ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
      out.write(length.putInt(changed.length).array());
      out.write(changed);
    }
    return out.toByteArray();
  }

  private void note(String name, Path image) throws IOException {
    Path file = folder.resolve("manifest.json");
    ObjectMapper json = new ObjectMapper();
    ObjectNode manifest = (ObjectNode) json.readTree(file.toFile());
    ObjectNode entry = (ObjectNode) manifest.get("files").get(name);
    entry.put("size", Files.size(image));
    entry.put("sha256", digest(image));
    json.writeValue(file.toFile(), manifest);
    Files.writeString(folder.resolve("manifest.json.sha256"), digest(file) + "  manifest.json\n");
  }

  private static String digest(Path file) throws IOException {
    try {
      byte[] bytes = Files.readAllBytes(file);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
