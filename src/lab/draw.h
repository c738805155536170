/* Draw a trace as SVG. */
#ifndef USHER_LAB_DRAW_H
#define USHER_LAB_DRAW_H

#include "check/explore/trace.h"

/* Write the picture; the caller checks ferror(file). */
void lab_draw_svg(FILE *file, const struct check_trace *trace);

#endif
