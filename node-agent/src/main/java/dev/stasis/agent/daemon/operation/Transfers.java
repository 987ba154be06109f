package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.AgentKey;
import dev.stasis.agent.stream.StreamReceiver;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * The agent's part of streams between agents.
 *
 * @param key its key, new at each start
 * @param receiver the listening end
 * @param address the receiver's address for other agents, without the port
 */
public record Transfers(AgentKey key, StreamReceiver receiver, String address)
    implements AutoCloseable {

  /** Returns address and port for other agents. */
  public String listening() {
    String host = address.indexOf(':') >= 0 ? "[" + address + "]" : address;
    return host + ":" + receiver.port();
  }

  /** Ends running transfers. */
  @Override
  public void close() {
    try {
      receiver.close();
    } catch (IOException e) {
      System.getLogger(Transfers.class.getName()).log(Level.WARNING, "the end of the streams", e);
    }
  }
}
