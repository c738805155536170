/* SVG documents: see svg.h. */
#include "svg/svg.h"

#include <string.h>

void svg_begin(FILE *file, unsigned width, unsigned height, const char *style)
{
    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                  "viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"13\" "
                  "fill=\"" SVG_INK "\">\n"
                  "<style>%s</style>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  width, height, width, height, style);
}

void svg_end(FILE *file)
{
    (void)fprintf(file, "</svg>\n");
}

void svg_escape(FILE *file, const char *text)
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

void svg_text(FILE *file, double x, double y, const char *anchor, const char *class,
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
    svg_escape(file, text);
    (void)fprintf(file, "</text>\n");
}
