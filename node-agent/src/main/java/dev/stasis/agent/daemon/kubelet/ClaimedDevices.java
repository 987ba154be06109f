package dev.stasis.agent.daemon.kubelet;

import java.util.Optional;

/** Tells which hardware a device of dynamic resource allocation is. */
@FunctionalInterface
public interface ClaimedDevices {

  /**
   * The uuid that the driver published for a device; empty when it published none.
   *
   * @throws NodeApiException when nobody can be asked
   */
  Optional<String> uuid(String driver, String pool, String device) throws NodeApiException;
}
