/** What a user of a real cluster sees: freezes and restores from kubectl's side. */
@NullMarked
package dev.stasis.e2e.kube;

import org.jspecify.annotations.NullMarked;
