package dev.stasis.operator.event;

/** Tells people what happened. */
public interface Events {

  /**
   * Tells it, unless it was told before. It never fails: work does not depend on being told of.
   *
   * @return whether this operator had not told it yet; what is counted goes by it, since a turn
   *     that saw an old status comes twice
   */
  boolean tell(Story story);
}
