package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Whom neither end talks to, and what it does not write. */
class StreamRefusalsTest extends TwoAgents {

  @Test
  void anotherCertificateThanTheOneInTheOperationIsRefused() throws Exception {
    writeArtifact();
    AgentKey stranger = AgentKey.generate("node1", Clock.systemUTC());
    SendQueue outbound = new SendQueue();
    addArtifact(outbound);
    outbound.complete();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, stranger.pem(), to, ROOM, BlockListener.NONE)) {
      assertThatThrownBy(
              () -> sender(outbound, address(receiver.port()), 1, 0, Duration.ofSeconds(1)).run())
          .isInstanceOf(IOException.class);
      assertThat(expected.bytes()).isZero();
    }
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void aSenderTalksToNoOtherReceiverThanTheOneInTheOperation() throws Exception {
    writeArtifact();
    AgentKey stranger = AgentKey.generate("node2", Clock.systemUTC());
    try (StreamReceiver other =
        new StreamReceiver(stranger, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      other.expect(ID, source.pem(), to, ROOM, BlockListener.NONE);
      SendQueue outbound = new SendQueue();
      addArtifact(outbound);
      outbound.complete();

      assertThatThrownBy(
              () -> sender(outbound, address(other.port()), 1, 0, Duration.ofSeconds(1)).run())
          .isInstanceOf(IOException.class);
    }
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void aTransferOfAnotherPeerIsNoBusinessOfAnExpectedPeer() throws Exception {
    writeArtifact();
    AgentKey stranger = AgentKey.generate("node3", Clock.systemUTC());
    receiver.expect("of-stranger", stranger.pem(), to, ROOM, BlockListener.NONE);
    receiver.expect(
        ID, source.pem(), Files.createDirectory(folder.resolve("mine")), ROOM, BlockListener.NONE);
    SendQueue outbound = new SendQueue();
    addArtifact(outbound);
    outbound.complete();

    assertThatThrownBy(() -> sender("of-stranger", outbound).run())
        .hasMessageContaining("not expected from this peer");
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void aConnectionThatComesAfterTheEndHearsWhatEndedIt() throws Exception {
    writeArtifact();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      assertThat(answerToABlockOf("no/name")).isEqualTo(StreamProtocol.FAILED);
    }
    SendQueue late = new SendQueue();
    addArtifact(late);
    late.complete();

    assertThatThrownBy(() -> sender(ID, late).run())
        .hasMessageContaining("refused")
        .hasMessageContaining("expected the name of a file of an artifact, got \"no/name\"");
  }

  @Test
  void everyFolderOfAnArtifactIsReceived() throws Exception {
    writeArtifact();
    for (String folder : new String[] {"criu", "device", "layer", "regions"}) {
      try (StreamReceiver.Expected expected =
          receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
        // The checksum is checked after the name.
        answerToABlockOf(folder + "/1.data", 0, 1);
        assertThatThrownBy(() -> expected.await(ENOUGH))
            .hasMessageContaining("block of " + folder + "/1.data at 0: ")
            .hasMessageNotContaining("name of a file of an artifact");
      }
    }
  }

  @Test
  void noNameLeadsOutOfTheFolder() throws Exception {
    writeArtifact();
    for (String name : new String[] {"../x", "criu/../../x", "/etc/x", "other/x", "criu/a/b", ""}) {
      try (StreamReceiver.Expected expected =
          receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
        assertThat(answerToABlockOf(name)).as(name).isEqualTo(StreamProtocol.FAILED);
        assertThatThrownBy(() -> expected.await(ENOUGH))
            .hasMessageContaining("expected the name of a file of an artifact");
      }
    }
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void aBlockWithAWrongChecksumEndsTheTransfer() throws Exception {
    writeArtifact();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      assertThat(answerToABlockOf("manifest.json", 0, 1)).isEqualTo(StreamProtocol.FAILED);
      assertThatThrownBy(() -> expected.await(ENOUGH))
          .hasMessageContaining("block of manifest.json at 0: ")
          .hasMessageContaining("the checksum");
    }
  }

  @Test
  void aFolderThatIsALinkIsNotFollowed() throws Exception {
    writeArtifact();
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.createSymbolicLink(to.resolve("criu"), elsewhere);
    SendQueue outbound = new SendQueue();
    add(outbound, "criu/pages-1.img");
    outbound.complete();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
      assertThatThrownBy(() -> sender(ID, outbound).run()).isInstanceOf(IOException.class);
    }
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void anOffsetBeyondAnyFileEndsTheTransferByName() throws Exception {
    for (long offset :
        new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 1, 1L << 60}) {
      try (StreamReceiver.Expected expected =
          receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
        assertThat(answerToABlockOf("manifest.json", offset, 0)).isEqualTo(StreamProtocol.FAILED);
        assertThatThrownBy(() -> expected.await(ENOUGH))
            .hasMessageContaining("expected an offset from 0 to");
      }
    }
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void moreBytesThanThereIsRoomForEndTheTransfer() throws Exception {
    long room = writeArtifact();
    SendQueue outbound = new SendQueue();
    addArtifact(outbound);
    outbound.complete();
    try (StreamReceiver.Expected expected =
        receiver.expect(ID, source.pem(), to, room, BlockListener.NONE)) {
      assertThatThrownBy(() -> sender(ID, outbound).run()).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> expected.await(ENOUGH))
          .hasMessageContaining("the free space in the store");
      assertThat(expected.bytes()).isLessThanOrEqualTo(room);
    }
  }

  @Test
  void connectionsThatNeverGreetGiveWayToAPeer() throws Exception {
    writeArtifact();
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 3 * StreamReceiver.MOST_GREETING; i++) {
        silent.add(new Socket(InetAddress.getLoopbackAddress(), receiver.port()));
      }
      SendQueue outbound = new SendQueue();
      addArtifact(outbound);
      outbound.complete();
      try (StreamReceiver.Expected expected =
          receiver.expect(ID, source.pem(), to, ROOM, BlockListener.NONE)) {
        sender(ID, outbound).run();
        assertThat(expected.await(ENOUGH)).isTrue();
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void aConnectionThatGreetsByteAfterByteIsHungUpAtItsDeadline() throws Exception {
    try (StreamReceiver strict = new StreamReceiver(target, address(0), Duration.ofMillis(300));
        Socket slow = new Socket(InetAddress.getLoopbackAddress(), strict.port())) {
      slow.getOutputStream().write(22);

      // Each read of the receiver would wait for ten seconds.
      slow.setSoTimeout((int) Duration.ofSeconds(8).toMillis());
      assertThat(endOf(slow)).isTrue();
    }
  }

  private static boolean endOf(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketException reset) {
      return true;
    }
  }

  /** A peer that is expected and sends what no sender of ours would. */
  private byte answerToABlockOf(String name) throws IOException {
    return answerToABlockOf(name, 0, 0);
  }

  private byte answerToABlockOf(String name, long offset, int addedToTheChecksum)
      throws IOException {
    X509Certificate pinned = AgentKey.certificate(target.pem());
    try (Socket socket =
        source
            .context(() -> List.of(pinned))
            .getSocketFactory()
            .createSocket(InetAddress.getLoopbackAddress(), receiver.port())) {
      // At once: the receiver closes the connection as soon as it has read a name that it refuses.
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      DataInputStream in = new DataInputStream(socket.getInputStream());
      StreamProtocol.hello(out, ID);
      out.flush();
      assertThat(in.readByte()).isEqualTo(StreamProtocol.DONE);
      byte[] data = "{}".getBytes(StandardCharsets.US_ASCII);
      CRC32C crc = new CRC32C();
      crc.update(data, 0, data.length);
      out.writeByte(StreamProtocol.BLOCK);
      out.writeLong(0);
      out.writeUTF(name);
      out.writeLong(offset);
      out.writeInt(data.length);
      out.write(data);
      out.writeInt((int) crc.getValue() + addedToTheChecksum);
      out.flush();
      return in.readByte();
    }
  }
}
