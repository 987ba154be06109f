package dev.stasis.agent.stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.stasis.agent.testing.Sh;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;

/** Whatever an expected peer sends: files of an artifact are written, within their folder. */
class StreamFramesFuzzTest {
  private static final long ROOM = 1 << 20;

  private final X509Certificate peer =
      AgentKey.certificate(AgentKey.generate("node1", Clock.systemUTC()).pem());

  StreamFramesFuzzTest() throws IOException {}

  @FuzzTest
  void anyFramesAreTakenOrRefused(byte[] frames) throws IOException {
    Path folder = Files.createTempDirectory("stasis-frames");
    try (ReceiveSession incoming =
        new ReceiveSession(
            peer, Files.createDirectory(folder.resolve("in")), ROOM, BlockListener.NONE)) {
      DataInputStream in = new DataInputStream(new ByteArrayInputStream(frames));
      try {
        StreamReceiver.receive(incoming, in, new DataOutputStream(new ByteArrayOutputStream()));
      } catch (IOException ended) {
        // The connection broke off.
      }
      if (incoming.bytes() > ROOM) {
        throw new AssertionError("bytes: " + incoming.bytes());
      }
      try (var beside = Files.list(folder)) {
        if (beside.count() != 1) {
          throw new AssertionError("a file beside the folder");
        }
      }
    } finally {
      new Sh().run("rm", "-rf", folder.toString());
    }
  }

  @FuzzTest
  void anyGreetingIsTakenOrRefused(byte[] greeting) {
    try {
      String id = StreamProtocol.hello(new DataInputStream(new ByteArrayInputStream(greeting)));
      if (id.length() > 65535) {
        throw new AssertionError("id: " + id.length());
      }
    } catch (IOException refused) {
      return;
    }
  }
}
