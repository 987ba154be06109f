package dev.stasis.store;

import java.util.List;

/**
 * What a garbage collection of one namespace did.
 *
 * @param packs how many packs there are
 * @param condemned how many packs it took out of use; a later run deletes them
 * @param deleted how many packs it deleted
 * @param freedBytes the size of the deleted packs
 * @param movedBytes the live chunks that it moved out of packs that are to be deleted
 * @param waiting how many condemned packs still wait for their time, or for a writer
 * @param problems what it could not read, which it keeps
 */
public record CollectReport(
    String namespaceUid,
    int packs,
    int condemned,
    int deleted,
    long freedBytes,
    long movedBytes,
    int waiting,
    List<String> problems) {}
