/** Where artifacts may be put, how much lies there, and what still fits. */
@NullMarked
package dev.stasis.operator.store;

import org.jspecify.annotations.NullMarked;
