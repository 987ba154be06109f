/** What is told of objects, as text; nothing here asks anybody. */
@NullMarked
package dev.stasis.kubectl.report;

import org.jspecify.annotations.NullMarked;
