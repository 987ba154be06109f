package dev.stasis.artifact;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;

/** Whatever a manifest holds: it is understood, or refused; what is understood can be written. */
class ManifestFuzzTest {
  private final ManifestCodec codec = new ManifestCodec();

  @FuzzTest
  void anyManifestIsReadOrRefused(byte[] bytes) {
    Manifest manifest;
    try {
      int version = codec.formatVersion(bytes);
      if (version < Manifest.WITHOUT_DEVICE_MEMORY || version > Manifest.FORMAT_VERSION) {
        return;
      }
      manifest = codec.manifest(bytes);
    } catch (IOException refused) {
      return;
    }
    codec.bytes(manifest);
  }
}
