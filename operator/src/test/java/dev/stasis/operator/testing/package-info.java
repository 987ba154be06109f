/** A real API server, and beside it what it takes to be a cluster: kubelets and agents, faked. */
package dev.stasis.operator.testing;
