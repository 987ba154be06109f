package dev.stasis.agent.criu;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * A protobuf message of an image, read field by field from a stream. Fields that are not needed are
 * skipped, whatever their length, and nothing is kept. A hostile image therefore costs time in
 * proportion to its size, and no memory.
 */
final class ImageMessage {

  /** Reads one message. */
  @FunctionalInterface
  interface Reader {
    void read(ImageMessage message) throws IOException;
  }

  /** Accepts one of several magic numbers. */
  @FunctionalInterface
  interface Numbers {
    void take(int number) throws IOException;
  }

  private final String image;
  private final CodedInputStream in;
  private int tag;
  private boolean taken = true;

  ImageMessage(String image, CodedInputStream in) {
    this.image = image;
    this.in = in;
  }

  /** Moves to the next field; false at the end of the message. */
  boolean next() throws IOException {
    if (!taken) {
      skip();
    }
    tag = in.readTag();
    taken = tag == 0;
    return !taken;
  }

  int field() {
    return WireFormat.getTagFieldNumber(tag);
  }

  /** The lower 32 bits, as criu's own reader does. */
  int number() throws IOException {
    return (int) wide();
  }

  long wide() throws IOException {
    want(WireFormat.WIRETYPE_VARINT);
    return in.readRawVarint64();
  }

  /** Reads a repeated field: one number, or many packed into one field. */
  void numbers(Numbers numbers) throws IOException {
    if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_VARINT) {
      numbers.take(number());
      return;
    }
    int limit = begin();
    while (!in.isAtEnd()) {
      numbers.take((int) in.readRawVarint64());
    }
    end(limit);
  }

  void message(Reader reader) throws IOException {
    int limit = begin();
    ImageMessage inner = new ImageMessage(image, in);
    reader.read(inner);
    inner.end(limit);
  }

  /** Skips the rest of the message, and fails if the stream ends before it. */
  void end(int outerLimit) throws IOException {
    while (!in.isAtEnd() && next()) {
      // Returns what the reader has left over.
    }
    if (in.getBytesUntilLimit() != 0) {
      throw fault("whole entries", "an end within one");
    }
    in.popLimit(outerLimit);
  }

  String text(int atMost) throws IOException {
    return new String(bytes(atMost), StandardCharsets.UTF_8);
  }

  byte[] bytes(int atMost) throws IOException {
    want(WireFormat.WIRETYPE_LENGTH_DELIMITED);
    int length = in.readRawVarint32();
    if (length < 0 || length > atMost) {
      throw fault(
          "at most %d bytes in field %d".formatted(atMost, field()),
          Integer.toUnsignedString(length));
    }
    return in.readRawBytes(length);
  }

  ImageFault fault(String expected, String actual) {
    return new ImageFault("criu image " + image, expected, actual);
  }

  private int begin() throws IOException {
    want(WireFormat.WIRETYPE_LENGTH_DELIMITED);
    int length = in.readRawVarint32();
    if (length < 0) {
      throw fault("a length", Integer.toUnsignedString(length));
    }
    return in.pushLimit(length);
  }

  private void want(int type) throws IOException {
    int actual = WireFormat.getTagWireType(tag);
    if (actual != type) {
      throw fault("wire type " + type + " of field " + field(), Integer.toString(actual));
    }
    taken = true;
  }

  /** Groups, which criu does not use, could be nested without limit. */
  private void skip() throws IOException {
    int type = WireFormat.getTagWireType(tag);
    if (type == WireFormat.WIRETYPE_START_GROUP || !in.skipField(tag)) {
      throw fault("a field of a known kind", "wire type " + type);
    }
    taken = true;
  }
}
