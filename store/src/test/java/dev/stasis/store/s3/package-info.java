@NullMarked
package dev.stasis.store.s3;

import org.jspecify.annotations.NullMarked;
