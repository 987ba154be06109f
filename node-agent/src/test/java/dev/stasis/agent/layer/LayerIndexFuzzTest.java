package dev.stasis.agent.layer;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;

class LayerIndexFuzzTest {

  @FuzzTest
  void anyIndexIsReadOrRefused(byte[] index) {
    try {
      for (LayerIndex.Part part : LayerIndex.parse(index).parts()) {
        if (part.archive().contains("/")) {
          throw new AssertionError("archive: " + part.archive());
        }
      }
    } catch (IOException refused) {
      return;
    }
  }
}
