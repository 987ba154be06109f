/** Makes the YAML from the types, and holds both against a real API server. */
@NullMarked
package dev.stasis.api.crds;

import org.jspecify.annotations.NullMarked;
