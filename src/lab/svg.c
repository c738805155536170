/* SVG documents: see svg.h. */
#include "lab/svg.h"

#include "lab/lab.h"

#include <errno.h>
#include <string.h>

int lab_svg_open(const char *path, FILE **file)
{
    *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    return *file != NULL
               ? LAB_OK
               : lab_fail(LAB_CANNOT_CREATE, "cannot write %s: %s", path, strerror(errno));
}

int lab_svg_close(const char *path, FILE *file)
{
    bool bad = ferror(file);
    if (file != stdout) {
        bad = fclose(file) != 0 || bad;
    }
    return bad ? lab_fail(LAB_CANNOT_CREATE, "cannot write %s", path) : LAB_OK;
}

void lab_svg_begin(FILE *file, unsigned width, unsigned height, const char *style)
{
    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                  "viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"13\" "
                  "fill=\"" LAB_SVG_INK "\">\n"
                  "<style>%s</style>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  width, height, width, height, style);
}

void lab_svg_end(FILE *file)
{
    (void)fprintf(file, "</svg>\n");
}

void lab_svg_escape(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            (void)fputs("&lt;", file);
            break;
        case '>':
            (void)fputs("&gt;", file);
            break;
        case '&':
            (void)fputs("&amp;", file);
            break;
        default:
            (void)fputc(*text, file);
            break;
        }
    }
}

void lab_svg_text(FILE *file, double x, double y, const char *anchor, const char *class,
                  const char *text)
{
    (void)fprintf(file, "<text x=\"%.6g\" y=\"%.6g\"", x, y);
    if (strcmp(anchor, "start") != 0) {
        (void)fprintf(file, " text-anchor=\"%s\"", anchor);
    }
    if (class[0] != '\0') {
        (void)fprintf(file, " class=\"%s\"", class);
    }
    (void)fprintf(file, ">");
    lab_svg_escape(file, text);
    (void)fprintf(file, "</text>\n");
}
