/*
 * Assertions for tests. A failed assertion ends its process with a line that names the place. Tests
 * fork and kill, and a child must not continue as its parent.
 */
#ifndef USHER_TEST_H
#define USHER_TEST_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: false: %s\n", __FILE__, __LINE__, #condition);           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT_EQ(actual, expected)                                                                \
    do {                                                                                           \
        long long actual_ = (long long)(actual);                                                   \
        long long expected_ = (long long)(expected);                                               \
        if (actual_ != expected_) {                                                                \
            (void)fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual,    \
                          actual_, expected_);                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Run a test named as a sentence. */
#define RUN(test)                                                                                  \
    do {                                                                                           \
        (void)printf("%s\n", #test);                                                               \
        (void)fflush(stdout);                                                                      \
        test();                                                                                    \
    } while (0)

#endif
