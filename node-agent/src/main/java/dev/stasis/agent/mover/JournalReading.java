package dev.stasis.agent.mover;

import java.nio.file.Path;

/** What came of reading a region journal. */
public sealed interface JournalReading {

  /** The journal's file. */
  Path file();

  /** Whether it proves that all memory is in the process. When in doubt: no. */
  boolean whole();

  /** One sentence for a person. */
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
          ? process + "all memory is in the process, says " + file
          : process
              + journal.absent().size()
              + " of "
              + journal.chunks().size()
              + " chunks are still in "
              + journal.stage()
              + (journal.injected() ? ", a thread still holds foreign registers" : "");
    }
  }

  /**
   * Not even its first line is complete. That line stands before the first drop, and a journal that
   * begins with dropped memory (a restore's) is put in place by rename: nothing is absent.
   */
  record Begun(Path file) implements JournalReading {
    @Override
    public boolean whole() {
      return true;
    }

    @Override
    public String describe() {
      return "journal " + file + " has only begun, nothing was dropped";
    }
  }

  /** It was removed meanwhile, as whoever holds the container's lock does when all is well. */
  record Removed(Path file) implements JournalReading {
    @Override
    public boolean whole() {
      return true;
    }

    @Override
    public String describe() {
      return "journal " + file + " is gone";
    }
  }

  /** It was written before the machine was started: process and stage are gone. */
  record Lost(Path file, String bootId, String bootNow) implements JournalReading {
    @Override
    public boolean whole() {
      return false;
    }

    @Override
    public String describe() {
      return "journal "
          + file
          + ": lost, it was written under boot "
          + bootId
          + ", this is boot "
          + bootNow;
    }
  }

  /** It says something that makes no sense, so nothing in it is believed. */
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
