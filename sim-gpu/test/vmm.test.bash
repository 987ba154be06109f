# Virtual memory management, as the H200 was seen to do it. test/vmm.c is one function for each promise.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

vmm() {
    node 1 64
    timeout 60 "$T/vmm" "$1"
}

promise_imported_memory_outlives_its_exporter() { vmm imported_memory_outlives_its_exporter; }

promise_a_descriptor_alone_keeps_memory() { vmm a_descriptor_alone_keeps_memory; }

promise_addresses_and_memory_are_separate_things() { vmm addresses_and_memory_are_separate_things; }

promise_a_context_takes_its_memory_along() { vmm a_context_takes_its_memory_along; }

promise_mapped_memory_comes_back_at_its_address() { vmm mapped_memory_comes_back_at_its_address; }

promise_memory_exported_and_still_held_is_lost_in_restore() { vmm memory_exported_and_still_held_is_lost_in_restore; }

promise_memory_exported_and_released_does_not_matter() { vmm memory_exported_and_released_does_not_matter; }
