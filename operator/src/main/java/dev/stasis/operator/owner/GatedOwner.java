package dev.stasis.operator.owner;

/** A controller that cannot create a pod without the operator. */
record GatedOwner(String namespace, String uid) {}
