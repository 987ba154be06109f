/** What the tests of the plugin share. */
@NullMarked
package dev.stasis.kubectl;

import org.jspecify.annotations.NullMarked;
