package dev.stasis.operator.explain;

/**
 * How many nodes can restore a workload.
 *
 * @param fit number of matching nodes
 * @param known number of nodes with GPUs
 */
public record NodeCount(int fit, int known) {

  /** Returns one sentence: {@code 11 of 500 nodes fit}. */
  public String sentence() {
    return fit + " of " + known + (known == 1 ? " node fits" : " nodes fit");
  }
}
