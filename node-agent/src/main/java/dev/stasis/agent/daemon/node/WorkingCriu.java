package dev.stasis.agent.daemon.node;

import dev.stasis.agent.criu.CriuCheck;
import dev.stasis.agent.criu.CriuLocator;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The criu that this agent uses until it ends.
 *
 * @param program its path; empty if none works
 * @param version its version; empty if none works
 * @param why one sentence on why none works; empty if one does
 */
public record WorkingCriu(Optional<Path> program, Optional<String> version, String why) {

  private static final System.Logger LOG = System.getLogger(WorkingCriu.class.getName());

  /** Finds and checks a criu, in less than a second. */
  public static WorkingCriu find(CriuLocator locator) throws IOException, InterruptedException {
    Optional<Path> found = locator.find();
    if (found.isEmpty()) {
      return none("criu: expected a program, got none");
    }
    CriuCheck.Result result = new CriuCheck().check(found.get());
    if (result instanceof CriuCheck.Result.Good good && !good.mended()) {
      LOG.log(
          Level.WARNING,
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
