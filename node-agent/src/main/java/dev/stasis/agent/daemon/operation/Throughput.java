package dev.stasis.agent.daemon.operation;

import java.util.function.LongSupplier;

/** Says how far a transfer is, and how fast it goes. */
final class Throughput {

  private final Desk desk;
  private final String step;
  private final LongSupplier nanoTime;
  private long since;
  private long before;

  Throughput(Desk desk, String step, LongSupplier nanoTime) {
    this.desk = desk;
    this.step = step;
    this.nanoTime = nanoTime;
    this.since = nanoTime.getAsLong();
  }

  /** The bytes by now; a total of 0 is one that is not known. */
  void say(Assignment assignment, long done, long total) {
    long now = nanoTime.getAsLong();
    long rate = now > since ? (long) ((done - before) * 1e9 / (now - since)) : 0;
    since = now;
    before = done;
    desk.mention(
        assignment,
        status -> {
          status.setStep(step);
          status.setDoneBytes(done);
          status.setTotalBytes(total > 0 ? total : null);
          status.setProgress(total > 0 ? HumanText.share(done, total) : null);
          status.setBytesPerSecond(rate);
          status.setRate(HumanText.size(rate) + "/s");
        });
  }
}
