package dev.stasis.agent.daemon.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A unix socket of this node at which gRPC is spoken. Connected at the first call and, when its
 * other end was started anew, at the next.
 */
public final class NodeSocket implements AutoCloseable {

  /** An answer to exec holds up to 16 MiB of each stream (containerd's and CRI-O's own bound). */
  private static final int LARGEST_ANSWER = 33 << 20;

  /** Nothing is under way when the agent ends; this only waits for two threads. */
  private static final long CLOSE_SECONDS = 2;

  private final Path path;
  private final EventLoopGroup threads;
  private final ManagedChannel channel;

  /**
   * A socket; whether anybody listens is seen at the first call.
   *
   * @param path the socket's file
   */
  public NodeSocket(Path path) {
    this.path = path;
    this.threads = new EpollEventLoopGroup(1, new DefaultThreadFactory("node-socket", true));
    this.channel =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(path.toFile()))
            .eventLoopGroup(threads)
            .channelType(EpollDomainSocketChannel.class)
            // A path is no host name, and servers on unix sockets ask for none.
            .overrideAuthority("localhost")
            .usePlaintext()
            .maxInboundMessageSize(LARGEST_ANSWER)
            .build();
  }

  ManagedChannel channel() {
    return channel;
  }

  /**
   * Makes a call.
   *
   * @param what what is asked, for the message: {@code "ListContainers"}
   */
  <T> T ask(String what, Supplier<T> call) throws NodeApiException {
    try {
      return call.get();
    } catch (StatusRuntimeException e) {
      throw unanswered(what, e);
    }
  }

  NodeApiException unanswered(String what, StatusRuntimeException e) {
    Status status = e.getStatus();
    String why = status.getDescription() == null ? "" : ": " + status.getDescription();
    return new NodeApiException(
        what + " at " + path + ": wanted an answer, found " + status.getCode() + why, e);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    threads
        .shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
