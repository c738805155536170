/* Files that the lab draws to; svg/svg.h has what is drawn. */
#ifndef USHER_LAB_SVG_H
#define USHER_LAB_SVG_H

#include "svg/svg.h"

/* Open a file to draw to, or standard output for "-". LAB_OK, or complains: LAB_CANNOT_CREATE. */
int lab_svg_open(const char *path, FILE **file);

/* Close it; complains if not all could be written. */
int lab_svg_close(const char *path, FILE *file);

#endif
