/** What is wrong with a cluster, decided from what was read of it; nothing here asks anybody. */
@NullMarked
package dev.stasis.kubectl.doctor;

import org.jspecify.annotations.NullMarked;
