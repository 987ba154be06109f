package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Whom neither end talks to, and what it does not write. */
class StreamRefusalsTest extends TwoAgents {

  @Test
  void anotherCertificateThanTheOneInTheOperationIsRefused() throws Exception {
    writeArtifact();
    AgentKey stranger = AgentKey.generate("node1", Clock.systemUTC());
    Outbound outbound = new Outbound();
    addArtifact(outbound);
    outbound.complete();
    try (StreamReceiver.Expected expected = receiver.expect(ID, stranger.pem(), to)) {
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
      other.expect(ID, source.pem(), to);
      Outbound outbound = new Outbound();
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
    receiver.expect("of-stranger", stranger.pem(), to);
    receiver.expect(ID, source.pem(), Files.createDirectory(folder.resolve("mine")));
    Outbound outbound = new Outbound();
    addArtifact(outbound);
    outbound.complete();

    assertThatThrownBy(() -> sender("of-stranger", outbound).run())
        .hasMessageContaining("nobody expects it from this peer");
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void aConnectionThatComesAfterTheEndHearsWhatEndedIt() throws Exception {
    writeArtifact();
    try (StreamReceiver.Expected expected = receiver.expect(ID, source.pem(), to)) {
      assertThat(answerToABlockOf("no/name")).isEqualTo(Wire.FAILED);
    }
    Outbound late = new Outbound();
    addArtifact(late);
    late.complete();

    assertThatThrownBy(() -> sender(ID, late).run())
        .hasMessageContaining("refused")
        .hasMessageContaining("wanted a name of an artifact's file, found \"no/name\"");
  }

  @Test
  void noNameLeadsOutOfTheFolder() throws Exception {
    writeArtifact();
    for (String name : new String[] {"../x", "criu/../../x", "/etc/x", "other/x", "criu/a/b", ""}) {
      try (StreamReceiver.Expected expected = receiver.expect(ID, source.pem(), to)) {
        assertThat(answerToABlockOf(name)).as(name).isEqualTo(Wire.FAILED);
        assertThatThrownBy(() -> expected.await(ENOUGH))
            .hasMessageContaining("wanted a name of an artifact's file");
      }
    }
    assertThat(to).isEmptyDirectory();
  }

  @Test
  void aBlockWithAWrongChecksumEndsTheTransfer() throws Exception {
    writeArtifact();
    try (StreamReceiver.Expected expected = receiver.expect(ID, source.pem(), to)) {
      assertThat(answerToABlockOf("manifest.json", 1)).isEqualTo(Wire.FAILED);
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
    Outbound outbound = new Outbound();
    add(outbound, "criu/pages-1.img");
    outbound.complete();
    try (StreamReceiver.Expected expected = receiver.expect(ID, source.pem(), to)) {
      assertThatThrownBy(() -> sender(ID, outbound).run()).isInstanceOf(IOException.class);
    }
    assertThat(elsewhere).isEmptyDirectory();
  }

  /** A peer that is expected and sends what no sender of ours would. */
  private byte answerToABlockOf(String name) throws IOException {
    return answerToABlockOf(name, 0);
  }

  private byte answerToABlockOf(String name, int addedToTheChecksum) throws IOException {
    X509Certificate pinned = AgentKey.certificate(target.pem());
    try (Socket socket =
        source
            .context(() -> List.of(pinned))
            .getSocketFactory()
            .createSocket(InetAddress.getLoopbackAddress(), receiver.port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      Wire.hello(out, ID);
      assertThat(in.readByte()).isEqualTo(Wire.DONE);
      byte[] data = "{}".getBytes(StandardCharsets.US_ASCII);
      CRC32C crc = new CRC32C();
      crc.update(data, 0, data.length);
      out.writeByte(Wire.BLOCK);
      out.writeLong(0);
      out.writeUTF(name);
      out.writeLong(0);
      out.writeInt(data.length);
      out.write(data);
      out.writeInt((int) crc.getValue() + addedToTheChecksum);
      out.flush();
      return in.readByte();
    }
  }
}
