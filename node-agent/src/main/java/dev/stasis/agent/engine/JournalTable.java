package dev.stasis.agent.engine;

import dev.stasis.agent.mover.RegionJournal;
import dev.stasis.artifact.Chunk;
import dev.stasis.artifact.ChunkTable;
import dev.stasis.artifact.Region;
import java.util.List;

/** Converts a region journal to the table of chunks in an artifact. */
final class JournalTable {

  private final RegionJournal journal;

  JournalTable(RegionJournal journal) {
    this.journal = journal;
  }

  ChunkTable table() {
    List<Region> regions =
        journal.regions().stream()
            .map(region -> new Region(region.address(), region.length()))
            .toList();
    List<Chunk> chunks =
        journal.chunks().values().stream()
            .map(
                chunk ->
                    new Chunk(
                        chunk.number(),
                        chunk.address(),
                        chunk.length(),
                        chunk.offset(),
                        chunk.crc32c().map(hex -> Integer.parseUnsignedInt(hex, 16)).orElse(null),
                        chunk.sha256().orElse(null)))
            .toList();
    return new ChunkTable(regions, chunks);
  }
}
