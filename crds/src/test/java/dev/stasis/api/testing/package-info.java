/** What tests of all modules need of a real API server. */
@NullMarked
package dev.stasis.api.testing;

import org.jspecify.annotations.NullMarked;
