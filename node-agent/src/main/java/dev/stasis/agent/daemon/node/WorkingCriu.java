package dev.stasis.agent.daemon.node;

import dev.stasis.agent.criu.CriuCheck;
import dev.stasis.agent.criu.CriuLocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The criu with which this agent works until it ends.
 *
 * @param program where it is; empty when none works
 * @param version its version; empty when none works
 * @param why one sentence that says why none works; empty when one does
 */
public record WorkingCriu(Optional<Path> program, Optional<String> version, String why) {

  private static final System.Logger LOG = System.getLogger(WorkingCriu.class.getName());

  /** Looks for one and tries it, which takes less than a second. */
  public static WorkingCriu find(CriuLocator locator) throws IOException, InterruptedException {
    Optional<Path> found = locator.find();
    if (found.isEmpty()) {
      return none("criu: wanted a program, found none");
    }
    CriuCheck.Result result = new CriuCheck().check(found.get());
    if (result instanceof CriuCheck.Result.Good good && !good.mended()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "criu {0} at {1}, {2}",
          good.version(),
          found.get(),
          CriuCheck.Result.Good.FAULTS);
    }
    return result instanceof CriuCheck.Result.Good good
        ? new WorkingCriu(found, Optional.of(good.version().toString()), "")
        : none(((CriuCheck.Result.Unusable) result).why());
  }

  private static WorkingCriu none(String why) {
    return new WorkingCriu(Optional.empty(), Optional.empty(), why);
  }
}
