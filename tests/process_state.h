/* The state of a process or a thread, and the number of threads, as /proc shows them. */
#ifndef USHER_PROCESS_STATE_H
#define USHER_PROCESS_STATE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The state of a process, or of a thread by its id: 'R' running, 'S' asleep, 'T' stopped, 'Z' a
   zombie, ..; 0 if it does not exist. */
static inline char process_state(pid_t id)
{
    char text[512];
    (void)snprintf(text, sizeof text, "/proc/%ld/stat", (long)id);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end[2] : 0;
}

/* How many threads a process has; 0 if it does not exist. */
static inline int process_threads(pid_t process)
{
    char path[64];
    int count = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return count;
}

#endif
