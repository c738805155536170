/* Files for drawings: see picture.h. */
#include "lab/picture.h"

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
