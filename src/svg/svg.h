/* What all pictures have in common: an SVG document, its colours, text that is safe. */
#ifndef USHER_SVG_H
#define USHER_SVG_H

#include <stdio.h>

#define SVG_INK "#263238"
#define SVG_SOFT "#546e7a"
#define SVG_LINE "#cfd8dc"

/* Begin a document on white; `style` is CSS for it. End it with svg_end. */
void svg_begin(FILE *file, unsigned width, unsigned height, const char *style);
void svg_end(FILE *file);

/* Text, with what is special in XML escaped. */
void svg_escape(FILE *file, const char *text);

/* A line of text of a class; `anchor` is start, middle or end. */
void svg_text(FILE *file, double x, double y, const char *anchor, const char *class,
              const char *text);

#endif
