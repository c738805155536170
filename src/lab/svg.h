/* What the pictures of the lab have in common: an SVG document, its colours, text that is safe. */
#ifndef USHER_LAB_SVG_H
#define USHER_LAB_SVG_H

#include <stdio.h>

#define LAB_SVG_INK "#263238"
#define LAB_SVG_SOFT "#546e7a"
#define LAB_SVG_LINE "#cfd8dc"

/* Open a file to draw to, or standard output for "-". LAB_OK, or complains: LAB_CANNOT_CREATE. */
int lab_svg_open(const char *path, FILE **file);

/* Close it; complains if not all could be written. */
int lab_svg_close(const char *path, FILE *file);

/* Begin a document on white; `style` is CSS for it. End it with lab_svg_end. */
void lab_svg_begin(FILE *file, unsigned width, unsigned height, const char *style);
void lab_svg_end(FILE *file);

/* Text, with what is special in XML escaped. */
void lab_svg_escape(FILE *file, const char *text);

/* A line of text of a class; `anchor` is start, middle or end. */
void lab_svg_text(FILE *file, double x, double y, const char *anchor, const char *class,
                  const char *text);

#endif
