package dev.stasis.trace;

/** Takes spans. Never blocks, never fails. */
public interface Spans {

  /** Nobody wants them. */
  Spans NONE =
      new Spans() {
        @Override
        public boolean areWanted() {
          return false;
        }

        @Override
        public void add(Span span) {}
      };

  /** Whether anybody does. */
  boolean areWanted();

  /** A span that is over. */
  void add(Span span);
}
