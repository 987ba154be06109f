package dev.stasis.store;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-256-GCM under one key. A key belongs to one writer, whose random 128-bit name it is derived
 * from; that writer counts its nonces, so that none is used twice.
 *
 * <p>What a counter seals is cut into segments with a tag each. The nonce has the number of the
 * segment beside the counter, and every segment is bound to the length of the whole, so that none
 * can be moved, left out or cut off. Java encrypts calls of 2 MiB at some 20 MiB/s until its
 * compiler has seen a few thousand of them, and calls of 64 KiB at 1 GiB/s from the start.
 */
record Sealer(byte[] key) {
  static final int TAG_BYTES = 16;
  static final int NONCE_BYTES = 12;
  static final int SEGMENT_BYTES = 64 << 10;
  private static final int SEALED_SEGMENT_BYTES = SEGMENT_BYTES + TAG_BYTES;
  private static final String AES_GCM = "AES/GCM/NoPadding";

  /** Returns how long so many bytes are when they are sealed under a counter. */
  static int sealedBytes(int plain) {
    return plain + TAG_BYTES * segments(plain);
  }

  private static int segments(int plain) {
    return Math.max(1, (plain + SEGMENT_BYTES - 1) / SEGMENT_BYTES);
  }

  /** Takes sealed bytes, in order. */
  interface Sink<E extends Exception> {
    /** Takes the first bytes of an array that is used again. */
    void write(byte[] bytes, int length) throws E;
  }

  /** What segments are sealed with, one after the other. For one thread at a time. */
  static final class Workspace {
    private final byte[] sealed = new byte[SEALED_SEGMENT_BYTES];
    private final Cipher cipher;

    Workspace() {
      try {
        cipher = Cipher.getInstance(AES_GCM);
      } catch (GeneralSecurityException e) {
        throw new AssertionError("AES-GCM is part of every Java platform", e);
      }
    }
  }

  /** Encrypts under a counter; what is written has the length {@link #sealedBytes}. */
  <E extends Exception> void seal(
      long nonce, byte[] additional, byte[] plain, int length, Workspace workspace, Sink<E> sink)
      throws E {
    Cipher cipher = workspace.cipher;
    byte[] sealed = workspace.sealed;
    try {
      for (int segment = 0; segment < segments(length); segment++) {
        int from = segment * SEGMENT_BYTES;
        begin(cipher, Cipher.ENCRYPT_MODE, nonce, segment, length, additional);
        sink.write(
            sealed, cipher.doFinal(plain, from, Math.min(SEGMENT_BYTES, length - from), sealed, 0));
      }
    } catch (GeneralSecurityException e) {
      throw new AssertionError("AES-GCM is part of every Java platform", e);
    }
  }

  /** Encrypts under a counter. */
  byte[] seal(long nonce, byte[] additional, byte[] plain) {
    ByteBuffer sealed = ByteBuffer.allocate(sealedBytes(plain.length));
    seal(
        nonce,
        additional,
        plain,
        plain.length,
        new Workspace(),
        (bytes, count) -> sealed.put(bytes, 0, count));
    return sealed.array();
  }

  /** Encrypts. */
  byte[] seal(byte[] nonce, byte[] additional, byte[] plain) {
    try {
      return cipher(Cipher.ENCRYPT_MODE, nonce, additional).doFinal(plain);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("AES-GCM is part of every Java platform", e);
    }
  }

  /**
   * Decrypts what a counter sealed.
   *
   * @throws AEADBadTagException when key, nonce, additional data, length or any byte differs
   */
  byte[] open(long nonce, byte[] additional, byte[] sealed) throws AEADBadTagException {
    byte[] plain = new byte[plainBytes(sealed.length)];
    var unused = open(nonce, additional, sealed, sealed.length, plain);
    return plain;
  }

  /**
   * Decrypts what a counter sealed to the start of another array, and returns its length.
   *
   * @throws AEADBadTagException when key, nonce, additional data, length or any byte differs; the
   *     content of the other array is then undefined
   */
  int open(long nonce, byte[] additional, byte[] sealed, int count, byte[] plain)
      throws AEADBadTagException {
    int length = plainBytes(count);
    try {
      Cipher cipher = Cipher.getInstance(AES_GCM);
      int at = 0;
      for (int segment = 0; segment < segments(length); segment++) {
        int from = segment * SEALED_SEGMENT_BYTES;
        int size = Math.min(SEALED_SEGMENT_BYTES, count - from);
        begin(cipher, Cipher.DECRYPT_MODE, nonce, segment, length, additional);
        at += cipher.doFinal(sealed, from, size, plain, at);
      }
      return length;
    } catch (AEADBadTagException e) {
      throw e;
    } catch (GeneralSecurityException e) {
      throw new AssertionError("AES-GCM is part of every Java platform", e);
    }
  }

  private static int plainBytes(int sealed) throws AEADBadTagException {
    int segments = Math.max(1, (sealed + SEALED_SEGMENT_BYTES - 1) / SEALED_SEGMENT_BYTES);
    int length = sealed - TAG_BYTES * segments;
    if (length < 0 || segments(length) != segments) {
      throw new AEADBadTagException(
          "expected a longer sealed chunk, got %d bytes".formatted(sealed));
    }
    return length;
  }

  /**
   * Decrypts.
   *
   * @throws AEADBadTagException if the key, the nonce, the additional data or any byte differs
   */
  byte[] open(byte[] nonce, byte[] additional, byte[] sealed) throws AEADBadTagException {
    // The JDK's cipher answers fewer bytes with a ProviderException.
    if (sealed.length < TAG_BYTES) {
      throw new AEADBadTagException(
          "expected at least %d bytes, got %d".formatted(TAG_BYTES, sealed.length));
    }
    try {
      return cipher(Cipher.DECRYPT_MODE, nonce, additional).doFinal(sealed);
    } catch (AEADBadTagException e) {
      throw e;
    } catch (GeneralSecurityException e) {
      throw new AssertionError("AES-GCM is part of every Java platform", e);
    }
  }

  private Cipher cipher(int mode, byte[] nonce, byte[] additional) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(AES_GCM);
    cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * TAG_BYTES, nonce));
    cipher.updateAAD(additional);
    return cipher;
  }

  private void begin(
      Cipher cipher, int mode, long counter, int segment, int length, byte[] additional)
      throws GeneralSecurityException {
    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putInt(segment).putLong(counter).array();
    cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * TAG_BYTES, nonce));
    cipher.updateAAD(additional);
    cipher.updateAAD(ByteBuffer.allocate(Integer.BYTES).putInt(length).array());
  }

  @Override
  public String toString() {
    return "Sealer";
  }
}
