/* SVG output shared by all pictures: document, colours, escaped text. */
#ifndef USHER_SVG_H
#define USHER_SVG_H

#include <stdio.h>

#define SVG_INK "#263238"
#define SVG_SOFT "#546e7a"
#define SVG_LINE "#cfd8dc"

/* Begin a document on a white background; `style` is its CSS. End it with svg_end. */
void svg_begin(FILE *file, unsigned width, unsigned height, const char *style);
void svg_end(FILE *file);

/* Write text with the special characters of XML escaped. */
void svg_escape(FILE *file, const char *text);

/* Write one line of text with a CSS class; `anchor` is start, middle or end. */
void svg_text(FILE *file, double x, double y, const char *anchor, const char *class,
              const char *text);

#endif
