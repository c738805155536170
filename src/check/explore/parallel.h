/* Run the parts of a piece of work on several threads. */
#ifndef USHER_CHECK_PARALLEL_H
#define USHER_CHECK_PARALLEL_H

typedef int check_task(void *context, unsigned part);

/* How many threads work on that many parts. */
unsigned check_parallel_threads(unsigned threads, unsigned parts);

/* Call task(context, part) for parts 0..parts-1, on at most `threads` threads (0: one for each
   processor). 0, or the first error a task returned. */
int check_parallel(unsigned threads, unsigned parts, check_task *task, void *context);

#endif
