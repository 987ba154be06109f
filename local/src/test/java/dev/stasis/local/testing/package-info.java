/** What the tests of the single-machine mode share. */
@NullMarked
package dev.stasis.local.testing;

import org.jspecify.annotations.NullMarked;
