/*
 * usher.h as a C++ program sees it: it compiles without a warning, its names are C names, and a
 * pool works. The C++ of 2020 has designated initialisers, too.
 */
#include <usher.h>
#include <usher.h> /* twice does no harm */

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

void expect(bool condition, const char *what)
{
    if (!condition) {
        (void)std::fprintf(stderr, "not so: %s\n", what);
        std::exit(1);
    }
}

int waiting(usher_pool *, void *context)
{
    ++*static_cast<int *>(context);
    return 1;
}

} // namespace

int main()
{
    int asked = 0;
    usher_options options{};
    options.seats = 2;
    options.waiting = waiting;
    options.context = &asked;
    options.waiting_ms = 1;
    usher_pool *pool = nullptr;
    expect(usher_open(&pool, nullptr, &options) == 0, "a pool of threads");
    usher_seat seats[3] = {};
    expect(usher_acquire(pool, &seats[0]) == 0, "the first seat");
    expect(usher_try_acquire(pool, &seats[1]) == 0, "the second");
    expect(usher_acquire_until(pool, &seats[2], nullptr) == -ECANCELED, "no third");
    expect(asked == 1, "asked once");
    usher_info info{};
    usher_guest guests[4] = {};
    expect(usher_inspect(pool, &info, guests, 4) == 2, "two holders");
    expect(info.holders == 2 && guests[1].seat == 1, "by seat");
    usher_lease lease{};
    const usher_pool *same = pool;
    expect(usher_check(same, &seats[0], &lease) == 0 && lease.left_ns == INT64_MAX, "checked");
    usher_past past{};
    expect(usher_history(pool, &past, 1) == 0, "nothing is noted");
    expect(usher_verify(pool, nullptr, nullptr) == 0, "nothing is wrong");
    expect(usher_release(pool, &seats[0]) == 0, "given back");
    expect(usher_release(pool, &seats[0]) == -EPERM, "given back once");
    expect(usher_resize(pool, 1) == 0 && usher_reap(pool) == 0, "smaller");
    expect(std::strcmp(usher_path(same), "") == 0, "no path");
    char program[] = "true";
    char *arguments[] = {program, nullptr};
    usher_command command{};
    command.argv = arguments;
    pid_t child = 0;
    expect(usher_spawn(pool, &seats[1], &command, &child) == -EINVAL, "a pool with a file only");
    usher_close(pool);
#if __cplusplus >= 202002L
    usher_options other = {.seats = 1, .guests = 4, .flags = USHER_TIMES};
    expect(usher_open(&pool, nullptr, &other) == 0, "designated initialisers");
    usher_close(pool);
#endif
    usher_gate gate{};
    usher_pass pass{};
    expect(usher_gate_init(&gate, 4, 2) == 0, "a gate");
    expect(usher_gate_enter(&gate, &pass) == 0 && usher_gate_leave(&gate, &pass) == 0,
           "through it");
    expect(usher_gate_try(&gate, &pass) == 0 && usher_gate_leave(&gate, &pass) == 0, "and again");
    expect(std::strlen(usher_strerror(-EPERM)) > 0, "a sentence");
    expect(usher_version() == USHER_VERSION, "the library that belongs to the header");
    static_assert(USHER_EREMOVED == EIDRM, "a name for an errno value");
    char directory[4096];
    expect(usher_directory(directory, sizeof directory) == 0, "a directory");
    return 0;
}
