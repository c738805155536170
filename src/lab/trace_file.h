/* Load the trace file of a command. */
#ifndef USHER_LAB_TRACE_FILE_H
#define USHER_LAB_TRACE_FILE_H

#include "check/explore/trace.h"

/* Load a trace and set up its system; "-" is standard input. LAB_OK, or complain: LAB_NO_INPUT,
   LAB_BAD_DATA. The caller frees the trace if LAB_OK. */
int lab_load_trace(const char *path, struct check_trace *trace, struct step_system *system);

#endif
