package dev.stasis.operator.owner;

/**
 * A controller that makes no pod without the operator.
 *
 * @param namespace where it is
 * @param uid which it is
 */
record HeldOwner(String namespace, String uid) {}
