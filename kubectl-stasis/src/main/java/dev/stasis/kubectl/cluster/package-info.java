/**
 * Access to the cluster through kubectl. kubectl sends every request, so the user's contexts,
 * credentials, proxies and login plugins apply, and half of the start time of a Java client is
 * saved.
 */
@NullMarked
package dev.stasis.kubectl.cluster;

import org.jspecify.annotations.NullMarked;
