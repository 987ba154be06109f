/** Formats objects as text; sends no requests. */
@NullMarked
package dev.stasis.kubectl.report;

import org.jspecify.annotations.NullMarked;
