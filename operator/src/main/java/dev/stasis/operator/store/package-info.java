/** Where artifacts can be stored, how much is used, and how much space is left. */
@NullMarked
package dev.stasis.operator.store;

import org.jspecify.annotations.NullMarked;
