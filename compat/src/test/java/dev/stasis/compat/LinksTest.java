package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LinksTest {
  @Test
  void linksAreOrderedFromWeakToStrong() {
    List<Link> links =
        Stream.of("SYS", "NODE", "PHB", "PXB", "PIX", "NV1", "NV4", "NV18")
            .map(Link::parse)
            .toList();

    assertThat(links).isSorted();
    assertThat(links.stream().map(Link::text).map(Link::parse)).isEqualTo(links);
  }

  @Test
  void onlyNvlinkHasLanes() {
    assertThatThrownBy(() -> new Link(Link.Kind.PIX, 2))
        .hasMessage("link: expected lanes only for NVLink, got PIX with 2");
    assertThatThrownBy(() -> Link.nvlink(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aSingleGpuHasNoLinks() {
    assertThat(Links.alike(1, Link.nvlink(18)).text()).isEqualTo("None");
    assertThatThrownBy(() -> Links.parse("None").between(0, 1))
        .hasMessage("interconnect: expected a pair of None, got 0 and 1");
  }

  @Test
  void aPairIsFoundInEitherOrder() {
    Links links = Links.parse("0-1=NV18 0-2=SYS 1-2=PIX");

    assertThat(links.between(2, 1)).isEqualTo(Link.of(Link.Kind.PIX));
    assertThat(links.between(0, 1)).isEqualTo(Link.nvlink(18));
    assertThat(Links.parse("NV18").between(5, 2)).isEqualTo(Link.nvlink(18));
  }
}
