/* Run independent parts of a task on several threads. */
#ifndef USHER_CHECK_PARALLEL_H
#define USHER_CHECK_PARALLEL_H

typedef int check_task(void *context, unsigned part);

/* The number of threads for `parts` parts. */
unsigned check_parallel_threads(unsigned threads, unsigned parts);

/* Call task(context, part) for parts 0..parts-1, on at most `threads` threads (0: one a
   processor). 0, or the first error that a task returned. */
int check_parallel(unsigned threads, unsigned parts, check_task *task, void *context);

#endif
