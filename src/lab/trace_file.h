/* Load a trace file for a command, complaining where it is not one. */
#ifndef USHER_LAB_TRACE_FILE_H
#define USHER_LAB_TRACE_FILE_H

#include "check/explore/trace.h"

/* "-" is standard input. LAB_OK with the trace (to be freed) and its system, or another status. */
int lab_load_trace(const char *path, struct check_trace *trace, struct step_system *system);

#endif
