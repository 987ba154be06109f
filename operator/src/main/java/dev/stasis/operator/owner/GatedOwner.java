package dev.stasis.operator.owner;

/**
 * A controller that cannot create a pod without the operator.
 *
 * @param namespace its namespace
 * @param uid its uid
 */
record GatedOwner(String namespace, String uid) {}
