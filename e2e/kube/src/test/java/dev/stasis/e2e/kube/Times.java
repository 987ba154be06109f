package dev.stasis.e2e.kube;

/** How often a scenario happens in a row: what the time before left behind shows in the next. */
final class Times {

  private Times() {}

  /** As STASIS_E2E_TIMES says. */
  static int or(int usual) {
    String asked = System.getenv("STASIS_E2E_TIMES");
    return asked == null ? usual : Integer.parseInt(asked);
  }
}
