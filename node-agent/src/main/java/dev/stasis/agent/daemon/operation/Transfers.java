package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.AgentKey;
import dev.stasis.agent.stream.StreamReceiver;
import java.io.IOException;

/**
 * What this agent has for streams between agents.
 *
 * @param key its own, of this start
 * @param receiver where it listens
 * @param address the address at which other agents reach the receiver, without the port
 */
public record Transfers(AgentKey key, StreamReceiver receiver, String address)
    implements AutoCloseable {

  /** Address and port, as another agent has to name it. */
  public String listening() {
    String host = address.indexOf(':') >= 0 ? "[" + address + "]" : address;
    return host + ":" + receiver.port();
  }

  /** Ends what is on its way. */
  @Override
  public void close() {
    try {
      receiver.close();
    } catch (IOException e) {
      System.getLogger(Transfers.class.getName())
          .log(System.Logger.Level.WARNING, "the end of the streams", e);
    }
  }
}
