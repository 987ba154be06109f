package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.Fault;
import java.util.List;

/** Something rules an operation out, and nothing was touched. */
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

  /** Every reason. */
  public List<Fault> faults() {
    return faults;
  }
}
