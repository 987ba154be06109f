package dev.stasis.agent.stream;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.net.ssl.SSLSocket;

/**
 * The protocol. A stream begins with a hello and its answer. The sender then sends blocks. Each
 * ends with its checksum and is acknowledged once it is written. A separate stream carries the list
 * of all files, which is answered once all of them are complete. A failure is one sentence and ends
 * the transfer.
 */
final class StreamProtocol {

  /** "STS2": name and version in one. */
  static final int MAGIC = 0x53545332;

  /** Part of a block that is read, checked and written at once: it fits into a core's own cache. */
  static final int PIECE = 256 << 10;

  /** The faster one first; for keys that live as long as a connection both are strong enough. */
  private static final String[] CIPHERS = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"};

  static final byte BLOCK = 'B';
  static final byte FILES = 'S';
  static final byte END = 'E';
  static final byte ACKNOWLEDGED = 'A';
  static final byte DONE = 'D';
  static final byte FAILED = 'F';

  /** Maximum length of an error message; a peer must not fill our memory. */
  private static final int LONGEST = 4096;

  /** Files of an artifact: criu creates a few hundred for a large tree. */
  private static final int MOST_FILES = 100_000;

  /** Of all names together: a name may have 64 KiB, and all of them are in memory. */
  private static final int MOST_NAMES = 8 << 20;

  private StreamProtocol() {}

  /** Both ends: TLS 1.3 only. */
  static void secure(SSLSocket socket) {
    socket.setEnabledProtocols(new String[] {"TLSv1.3"});
    socket.setEnabledCipherSuites(CIPHERS);
  }

  static void hello(DataOutputStream out, String transfer) throws IOException {
    out.writeInt(MAGIC);
    out.writeUTF(transfer);
    out.flush();
  }

  /** The transfer named by the other end. */
  static String hello(DataInputStream in) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new IOException(
          "stream: expected the greeting %08x, got %08x: the peer may have another version"
              .formatted(MAGIC, magic));
    }
    return in.readUTF();
  }

  static void sentence(DataOutputStream out, String sentence) throws IOException {
    out.writeByte(FAILED);
    out.writeUTF(sentence.substring(0, Math.min(sentence.length(), LONGEST)));
    out.flush();
  }

  static void files(DataOutputStream out, SortedMap<String, Long> sizes) throws IOException {
    out.writeByte(FILES);
    out.writeInt(sizes.size());
    for (var file : sizes.entrySet()) {
      out.writeUTF(file.getKey());
      out.writeLong(file.getValue());
    }
    out.flush();
  }

  static SortedMap<String, Long> files(DataInputStream in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > MOST_FILES) {
      throw new IOException("stream: expected at most " + MOST_FILES + " files, got " + count);
    }
    SortedMap<String, Long> sizes = new TreeMap<>();
    long names = 0;
    for (int i = 0; i < count; i++) {
      String name = in.readUTF();
      names += name.length();
      if (names > MOST_NAMES) {
        throw new IOException("stream: expected at most " + MOST_NAMES + " characters of names");
      }
      sizes.put(name, in.readLong());
    }
    return sizes;
  }
}
