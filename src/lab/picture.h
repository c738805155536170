/* Files for drawings; svg/svg.h draws. */
#ifndef USHER_LAB_SVG_H
#define USHER_LAB_SVG_H

#include "svg/svg.h"

/* Open a file for a drawing, or standard output for "-". LAB_OK, or complain: LAB_CANNOT_CREATE. */
int lab_svg_open(const char *path, FILE **file);

/* Close it. LAB_OK, or complain if not all was written: LAB_CANNOT_CREATE. */
int lab_svg_close(const char *path, FILE *file);

#endif
