/**
 * The cluster as kubectl reaches it. kubectl itself carries every request: so contexts, users,
 * proxies and login plugins are those that the user knows, and half of the start of a client in a
 * JVM is saved.
 */
@NullMarked
package dev.stasis.kubectl.cluster;

import org.jspecify.annotations.NullMarked;
