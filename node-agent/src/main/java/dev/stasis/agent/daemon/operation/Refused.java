package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.Fault;
import java.util.List;

/** An operation is refused, and nothing was changed. */
public final class Refused extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<Fault> faults;

  public Refused(List<Fault> faults) {
    super(Faults.sentence(faults));
    this.faults = List.copyOf(faults);
  }

  public Refused(Fault fault) {
    this(List.of(fault));
  }

  Refused(String reason, String property, String expected, String actual) {
    this(Faults.of(reason, property, expected, actual));
  }

  public List<Fault> faults() {
    return faults;
  }
}
