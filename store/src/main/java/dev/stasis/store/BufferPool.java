package dev.stasis.store;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * Large arrays that are used again. The agent's collector frees an array that has become old only
 * once the heap has reached its limit, so an upload, its verification and a download would each
 * enlarge the heap by arrays of their own. Free arrays are held weakly: a collection frees them.
 * For several threads at once.
 */
public final class BufferPool {
  // Guarded by this.
  private final List<WeakReference<byte[]>> free = new ArrayList<>();

  /** Returns the smallest free array of at least so many bytes, or a new one, with any content. */
  synchronized byte[] take(int bytes) {
    free.removeIf(each -> each.get() == null);
    byte[] found = null;
    int place = -1;
    for (int i = 0; i < free.size(); i++) {
      byte[] array = free.get(i).get();
      if (array != null
          && array.length >= bytes
          && (found == null || array.length < found.length)) {
        found = array;
        place = i;
      }
    }
    if (found == null) {
      return new byte[bytes];
    }
    free.remove(place);
    return found;
  }

  /** Takes an array back that nothing uses any more. */
  synchronized void give(byte[] array) {
    free.add(new WeakReference<>(array));
  }
}
