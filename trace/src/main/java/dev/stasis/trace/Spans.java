package dev.stasis.trace;

/** Receives spans. Never blocks, never fails. */
public interface Spans {

  /** Discards all spans. */
  Spans NONE =
      new Spans() {
        @Override
        public boolean areWanted() {
          return false;
        }

        @Override
        public void add(Span span) {}
      };

  /** Whether spans are exported. */
  boolean areWanted();

  /** Receives a finished span. */
  void add(Span span);
}
