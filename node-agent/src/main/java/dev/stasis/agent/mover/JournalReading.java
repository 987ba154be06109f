package dev.stasis.agent.mover;

import java.nio.file.Path;

/** The result of reading a region journal. */
public sealed interface JournalReading {

  /** The journal's file. */
  Path file();

  /** Whether it proves that all memory is in the process. False in case of doubt. */
  boolean whole();

  /** One sentence for users. */
  String describe();

  /** It was read to its end, or to the line that was being written when its writer died. */
  record Read(Path file, RegionJournal journal) implements JournalReading {
    @Override
    public boolean whole() {
      return journal.whole();
    }

    @Override
    public String describe() {
      String process = "process " + journal.process() + ": ";
      return whole()
          ? process + "all memory is in the process according to " + file
          : process
              + journal.absent().size()
              + " of "
              + journal.chunks().size()
              + " chunks are still in "
              + journal.stage()
              + (journal.injected() ? ", a thread still has foreign registers" : "");
    }
  }

  /**
   * Not even its first line is complete. That line precedes the first drop, and a journal that
   * begins with dropped memory (of a restore) is created by rename, so no memory is absent.
   */
  record Begun(Path file) implements JournalReading {
    @Override
    public boolean whole() {
      return true;
    }

    @Override
    public String describe() {
      return "journal " + file + " is incomplete, no memory was dropped";
    }
  }

  /** It was removed meanwhile, by the holder of the container's lock after a success. */
  record Removed(Path file) implements JournalReading {
    @Override
    public boolean whole() {
      return true;
    }

    @Override
    public String describe() {
      return "journal " + file + " does not exist";
    }
  }

  /** It was written before the last boot: process and stage are gone. */
  record Lost(Path file, String bootId, String bootNow) implements JournalReading {
    @Override
    public boolean whole() {
      return false;
    }

    @Override
    public String describe() {
      return "journal "
          + file
          + ": lost, it was written during boot "
          + bootId
          + ", this is boot "
          + bootNow;
    }
  }

  /** It contains an invalid line, so none of its content is used. */
  record Unreadable(Path file, String why) implements JournalReading {
    @Override
    public boolean whole() {
      return false;
    }

    @Override
    public String describe() {
      return "journal " + file + " cannot be read: " + why;
    }
  }
}
