package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UploadLimitsTest {

  @Test
  void fewerThreadsFillPartsThanWriteThem() {
    assertThat(new UploadLimits(5 << 20, 8, 4).fillingThreads(8)).isEqualTo(4);
    assertThat(new UploadLimits(5 << 20, 8, 4).fillingThreads(2)).isEqualTo(2);
    assertThat(new UploadLimits(5 << 20, 2, 1).fillingThreads(8)).isEqualTo(1);
  }

  @Test
  void eachThreadFillsThePartsThatItWritesItself() {
    assertThat(new UploadLimits(1 << 20, 16, 16).fillingThreads(8)).isEqualTo(8);
  }
}
