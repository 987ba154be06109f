#ifndef STASIS_KEEPER_COPY_H
#define STASIS_KEEPER_COPY_H
#include "keeper.h"

extern uint8_t *arena;
uint8_t *arena_slot(unsigned thread);
uint8_t *arena_stage(void);
bool copy_start(unsigned threads);
#endif
