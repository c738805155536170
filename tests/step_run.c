/*
 * A worker process makes the trials. A failed check ends the worker; the failure is counted, and a
 * new worker continues with the next point.
 */
#include "step_run.h"

#include "step_judge.h"

enum {
    MOST_FAILURES = 5,
    TRIAL_S = 200,
    STRETCH = 48,
    LONG_STRETCH = 1000,
    ASTRAY_MOST = 40,
    TRIES = 3
};

uint32_t step_most, step_every = 1;

/* The worker's progress. */
struct progress {
    atomic_uint next; /* number of the current trial */
    atomic_uint killed, stopped, shorter, astray;
};

struct plan {
    const struct situation *s;
    struct way way;
    uint32_t *asleep; /* points from which the victim goes to sleep, usually with the next
                         instruction */
    uint32_t asleep_count;
    uint32_t first, stride;
    struct progress *progress;
};

static bool record(struct plan *plan)
{
    struct way *way = &plan->way;
    const uint32_t stretch = plan->s->sleeps ? STRETCH : LONG_STRETCH;
    struct party p;
    bool more = true;
    step_doing(plan->s->call, plan->s->name, plan->s->seats, "stepped through", 0);
    for (unsigned astray = 0; more;) {
        if (!party_begin(&p, plan->s)) {
            return false;
        }
        if (way->length == 0 || tracee_go_to(&p.t, way, way->length)) {
            /* If the path differs too often, step by single instructions: at that speed the path
               is the usual one. */
            more = way_extend(way, &p.t, astray < ASTRAY_MOST ? stretch : UINT32_MAX);
        } else if (++astray >= ASTRAY_MOST) {
            way->length = 0;
        } else if (astray % 4 == 0) { /* the path recorded last is a rare one */
            way->length -= way->length < stretch ? way->length : stretch;
        }
        judge_death(&p, true);
    }
    plan->asleep = calloc(way->length + 1, sizeof *plan->asleep);
    EXPECT(plan->asleep != NULL);
    plan->asleep_count = plan->s->sleeps; /* from point 0, wherever it falls asleep */
    for (uint32_t i = 0; i < way->length; i++) {
        if (way->sleeps[i]) {
            plan->asleep[plan->asleep_count++] = i;
        }
    }
    return true;
}

/* Bring a victim to a point. False: its call ended before that point. */
static bool reach(const struct plan *plan, struct party *p, uint32_t point, bool asleep)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        EXPECT(party_begin(p, plan->s));
        if (tracee_go_to(&p->t, &plan->way, point) && (!asleep || tracee_fall_asleep(&p->t))) {
            return true;
        }
        judge_death(p, true); /* The path differed; this is as good a point to die at. */
        atomic_fetch_add(&plan->progress->astray, 1);
    }
    EXPECT(party_begin(p, plan->s));
    return tracee_step_to(&p->t, point) && (!asleep || tracee_fall_asleep(&p->t));
}

/* Trial 2u kills and trial 2u+1 stops at point u; beyond the last point, while asleep. */
static void try_one(const struct plan *plan, uint32_t trial)
{
    const struct situation *s = plan->s;
    struct progress *progress = plan->progress;
    struct party p;
    uint32_t u = trial / 2;
    bool kills = trial % 2 == 0;
    bool asleep = u >= plan->way.length;
    uint32_t point = asleep ? plan->asleep[u - plan->way.length] : u;
    bool helped = u / plan->stride % 8 != 3;
    step_doing(s->call, s->name, s->seats, kills ? "killed" : "stopped", point);
    (void)alarm(TRIAL_S);
    if (!reach(plan, &p, point, asleep)) {
        judge_death(&p, true);
        atomic_fetch_add(&progress->shorter, 1);
    } else if (kills) {
        judge_death(&p, helped);
        atomic_fetch_add(&progress->killed, 1);
    } else {
        judge_stop(&p, helped);
        atomic_fetch_add(&progress->stopped, 1);
    }
}

static uint32_t trials(const struct plan *plan)
{
    return 2 * (plan->way.length + plan->asleep_count);
}

/* Trials asleep always run; others at every step_every-th point. */
static bool chosen(const struct plan *plan, uint32_t trial)
{
    uint32_t u = trial / 2;
    return u >= plan->way.length || u % plan->stride == plan->first;
}

static void work(const struct plan *plan)
{
    for (; atomic_load(&plan->progress->next) < trials(plan);
         atomic_fetch_add(&plan->progress->next, 1)) {
        uint32_t trial = atomic_load(&plan->progress->next);
        if (chosen(plan, trial)) {
            try_one(plan, trial);
        }
    }
    _exit(0);
}

/* Run a worker to the end of the plan or to its own end. Return whether it failed. */
static bool worker_fails(const struct plan *plan)
{
    struct child worker;
    int status;
    (void)usher_discard("pool");
    if (begin_child(&worker)) {
        work(plan);
    }
    while (waitpid(worker.pid, &status, WNOHANG) == 0) {
        step_progress(plan->s->call, plan->s->name, atomic_load(&plan->progress->next),
                      trials(plan));
        pause_us(20000);
    }
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

bool step_try(const struct situation *s, struct tally *tally)
{
    struct plan plan = {.s = s};
    int64_t began = now_ns();
    *tally = (struct tally){0};
    if (!record(&plan)) {
        return false;
    }
    plan.stride = step_every;
    if (step_most > 0 && plan.way.length > step_most) {
        plan.stride = plan.way.length / step_most;
    }
    plan.first = step_below(plan.stride);
    plan.progress = share(sizeof *plan.progress);
    while (worker_fails(&plan) && ++tally->failed < MOST_FAILURES) {
        atomic_fetch_add(&plan.progress->next, 1);
    }
    tally->instructions = plan.way.length;
    tally->astray = atomic_load(&plan.progress->astray);
    tally->killed = atomic_load(&plan.progress->killed);
    tally->stopped = atomic_load(&plan.progress->stopped);
    tally->shorter = atomic_load(&plan.progress->shorter);
    tally->seconds = (double)(now_ns() - began) / 1e9;
    (void)munmap(plan.progress, sizeof *plan.progress);
    free(plan.asleep);
    way_free(&plan.way);
    return true;
}
