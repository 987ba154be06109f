/** Blobs in a bucket of S3 or of a server that speaks its protocol. */
@NullMarked
package dev.stasis.store.s3;

import org.jspecify.annotations.NullMarked;
