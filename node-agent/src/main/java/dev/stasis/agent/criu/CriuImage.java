package dev.stasis.agent.criu;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.IOException;
import java.io.InputStream;

/**
 * A criu image as a stream: magic numbers, then entries of a length and a protobuf message. Invalid
 * bytes always cause an {@link ImageFault}.
 */
final class CriuImage {

  /** The first magic number of every image except the inventory. */
  static final int COMMON = 0x54564319;

  private final String name;
  private final int[] magic;

  /**
   * A kind of image.
   *
   * @param name the file's name, for messages
   */
  CriuImage(String name, int... magic) {
    this.name = name;
    this.magic = magic.clone();
  }

  /**
   * Reads the stream to its end.
   *
   * @param atMost maximum number of entries
   */
  void read(InputStream stream, int atMost, ImageMessage.Reader reader) throws IOException {
    CodedInputStream in = CodedInputStream.newInstance(stream);
    try {
      for (int word : magic) {
        int actual = in.readRawLittleEndian32();
        if (actual != word) {
          throw fault("%08x at the beginning".formatted(word), "%08x".formatted(actual));
        }
      }
      for (int entries = 0; !in.isAtEnd(); entries++) {
        if (entries == atMost) {
          throw fault("at most %d entries".formatted(atMost), "more");
        }
        entry(in, reader);
        in.resetSizeCounter();
      }
    } catch (InvalidProtocolBufferException e) {
      throw fault("whole entries", String.valueOf(e.getMessage()));
    }
  }

  private void entry(CodedInputStream in, ImageMessage.Reader reader) throws IOException {
    int length = in.readRawLittleEndian32();
    if (length < 0) {
      throw fault("a length below 2 GiB", Integer.toUnsignedString(length));
    }
    int outer = in.pushLimit(length);
    ImageMessage message = new ImageMessage(name, in);
    reader.read(message);
    message.end(outer);
  }

  ImageFault fault(String expected, String actual) {
    return new ImageFault("criu image " + name, expected, actual);
  }
}
