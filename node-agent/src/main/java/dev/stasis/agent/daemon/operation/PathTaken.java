package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.DataPath;

/** The engine's text of the data path that a checkpoint took, in the words of the API. */
record PathTaken(DataPath path, String reason) {

  /** Parses {@code mover}, {@code mover, low memory (WHY)}, {@code direct; MORE} and the like. */
  static PathTaken of(String text) {
    String[] parts = text.split("[:;,] ?", 2);
    DataPath path =
        switch (parts[0]) {
          case "direct" -> DataPath.DIRECT;
          case "mover" -> DataPath.MOVER;
          default -> DataPath.CRIU;
        };
    return new PathTaken(
        path, parts.length > 1 && !parts[1].isBlank() ? parts[1] : "all its requirements are met");
  }
}
