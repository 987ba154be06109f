package dev.stasis.store;

/**
 * What a namespace takes in a store.
 *
 * @param artifacts how many artifacts it has there
 * @param logicalBytes the size of their files
 * @param storedBytes the size of everything in the store, what a collection would free included
 */
public record StoreUsage(int artifacts, long logicalBytes, long storedBytes) {}
