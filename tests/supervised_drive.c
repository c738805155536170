/* Drive a system of workers and a supervisor: see supervised_drive.h. */
#include "supervised_drive.h"

#include <string.h>

void drive_init(struct drive *drive, const struct supervised *subject,
                const struct supervised_size *size, unsigned long seed)
{
    *drive = (struct drive){.subject = subject, .size = *size, .random = seed, .in_order = true};
    subject->init(size, drive->value, drive->supervisor);
}

unsigned drive_random(struct drive *drive, unsigned bound)
{
    drive->random = drive->random * 6364136223846793005UL + 1442695040888963407UL;
    return bound == 0 ? 0 : (unsigned)((drive->random >> 33) % bound);
}

void *drive_worker(struct drive *drive, unsigned process)
{
    return drive->workers + (size_t)process * drive->subject->worker_bytes;
}

enum step_region drive_region(struct drive *drive, unsigned process)
{
    return drive->subject->region(&drive->size, drive_worker(drive, process));
}

static enum supervised_eligibility eligibility(struct drive *drive, unsigned process)
{
    return drive->subject->eligibility(&drive->size, drive->value, drive_worker(drive, process));
}

static bool is_able(struct drive *drive, unsigned process)
{
    _Alignas(8) unsigned char value[SUPERVISED_VALUE_BYTES];
    _Alignas(8) unsigned char worker[SUPERVISED_WORKER_BYTES];
    if (drive_region(drive, process) != STEP_TRYING) {
        return false;
    }
    memcpy(value, drive->value, drive->subject->value_bytes);
    memcpy(worker, drive_worker(drive, process), drive->subject->worker_bytes);
    drive->subject->work(&drive->size, value, worker, process);
    return drive->subject->region(&drive->size, worker) == STEP_CRITICAL;
}

/* (R8), and what elimination needs: the next state follows from the previous one and a small
   number, and encoding and decoding preserve both. */
static const char *supervise(struct drive *drive)
{
    const struct supervised *subject = drive->subject;
    unsigned char bits[8192];
    _Alignas(8) unsigned char copy[SUPERVISED_SUPERVISOR_BYTES] = {0};
    unsigned most = subject->transitions(&drive->size, drive->supervisor);
    unsigned transition = subject->transition(&drive->size, drive->value, drive->supervisor);
    if (transition >= most) {
        return "a transition number is too large (R8)";
    }
    subject->follow(&drive->size, drive->supervisor, transition);
    unsigned length = subject->encode(&drive->size, drive->supervisor, bits);
    if (length > subject->most_bits(&drive->size)) {
        return "the supervisor's state has too many bits";
    }
    drive->most_bits = length > drive->most_bits ? length : drive->most_bits;
    subject->decode(&drive->size, bits, length, copy);
    return memcmp(copy, drive->supervisor, subject->supervisor_bytes) != 0
               ? "decoding does not return the supervisor's state"
               : NULL;
}

/* (R1): D -> H by the process's own step, H -> Q and Q -> D by the supervisor's, and no other
   change. */
static bool may_change(unsigned from, unsigned to, bool own, bool supervisor)
{
    return from == to || (own && from == SUPERVISED_DRONE && to == SUPERVISED_HELPER) ||
           (supervisor && from == SUPERVISED_HELPER && to == SUPERVISED_QUITTER) ||
           (supervisor && from == SUPERVISED_QUITTER && to == SUPERVISED_DRONE);
}

/* (R3) to (R6), C1, and the order in which workers become able to enter. */
static const char *judge(struct drive *drive)
{
    unsigned n = drive->size.n;
    unsigned trying = 0;
    unsigned helpers = 0;
    unsigned critical = 0;
    bool able[DRIVE_WORKERS] = {false};
    for (unsigned i = 0; i < n; i++) {
        enum step_region region = drive_region(drive, i);
        enum supervised_eligibility class = eligibility(drive, i);
        able[i] = is_able(drive, i);
        trying += region == STEP_TRYING;
        critical += region == STEP_CRITICAL;
        helpers += class == SUPERVISED_HELPER;
        if (class != SUPERVISED_DRONE && region != STEP_TRYING) {
            return "a helper or a quitter is not in T (R3)";
        }
        if (class != SUPERVISED_DRONE && able[i]) {
            return "a critical-able worker is not a drone (R4)";
        }
        if (drive->able[i] && !able[i] && region == STEP_TRYING) {
            return "a process that was able to enter no longer is";
        }
    }
    for (unsigned j = 0; drive->in_order && j < n; j++) {
        for (unsigned i = 0; able[j] && !drive->able[j] && i < n; i++) {
            if (drive->arrived[i] != 0 && drive->arrived[i] < drive->arrived[j] && !able[i]) {
                return "enabled out of turn (C5')";
            }
        }
    }
    memcpy(drive->able, able, sizeof able);
    if (critical > drive->size.k) {
        return "more than k processes are in C (C1)";
    }
    if (drive->subject->active(&drive->size, drive->value, drive->supervisor) != trying) {
        return "active() is not the number of processes in T (R5)";
    }
    if (trying > drive->subject->threshold(&drive->size) && helpers < 2 * drive->size.r - 1) {
        return "more than c1 processes are in T, but fewer than 2r-1 helpers (R6)";
    }
    return drive->subject->wrong(&drive->size, drive->value, drive->workers, drive->supervisor);
}

const char *drive_step(struct drive *drive, unsigned process)
{
    unsigned before[DRIVE_WORKERS] = {0};
    bool supervisor = process == drive->size.n;
    const char *wrong = NULL;
    for (unsigned i = 0; i < drive->size.n; i++) {
        before[i] = eligibility(drive, i);
    }
    drive->steps++;
    if (supervisor) {
        wrong = supervise(drive);
    } else {
        enum step_region from = drive_region(drive, process);
        drive->subject->work(&drive->size, drive->value, drive_worker(drive, process), process);
        enum step_region to = drive_region(drive, process);
        if (from != to) {
            drive->arrived[process] = to == STEP_TRYING ? drive->steps : 0;
            drive->entered += to == STEP_CRITICAL;
            drive->able[process] = false;
        }
    }
    for (unsigned i = 0; wrong == NULL && i < drive->size.n; i++) {
        if (!may_change(before[i], eligibility(drive, i), i == process, supervisor)) {
            wrong = "a change of eligibility that (R1) does not allow";
        }
    }
    wrong = wrong != NULL ? wrong : judge(drive);
    if (wrong == NULL && drive->watch != NULL) {
        drive->watch(drive, drive->context);
    }
    return wrong;
}

const char *drive_adversely(struct drive *drive, unsigned long steps)
{
    static const unsigned paces[] = {0, 0, 1, 1, 8, 40}; /* 0: asleep */
    unsigned pace[DRIVE_WORKERS + 1] = {0};
    unsigned all = 0;
    unsigned n = drive->size.n;
    for (unsigned long end = drive->steps + steps, change = 0; drive->steps < end;) {
        if (change == 0 || all == 0) {
            bool all_awake = drive_random(drive, 4) == 0;
            all = 0;
            for (unsigned i = 0; i <= n; i++) {
                pace[i] = all_awake ? 1 : paces[drive_random(drive, 6)];
                pace[i] *= i == n ? 1 + drive_random(drive, 2 * n) : 1;
                all += pace[i];
            }
            change = 1 + drive_random(drive, drive_random(drive, 3) == 0 ? 2000 : 60);
            continue;
        }
        change--;
        unsigned ticket = drive_random(drive, all);
        unsigned process = 0;
        while (process < n && ticket >= pace[process]) {
            ticket -= pace[process++];
        }
        const char *wrong = drive_step(drive, process);
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

const char *drive_to_rest(struct drive *drive)
{
    unsigned n = drive->size.n;
    bool stopped[DRIVE_WORKERS + 1] = {false};
    for (unsigned i = 1; i < drive->size.r; i++) {
        unsigned victim = drive_random(drive, n);
        stopped[victim] = stopped[victim] || drive_region(drive, victim) == STEP_TRYING;
    }
    for (unsigned turn = 0; turn < 2000 + 40 * n * n; turn++) {
        unsigned trying = 0;
        unsigned able = 0;
        for (unsigned i = 0; i <= n; i++) {
            bool rests = i < n && drive_region(drive, i) == STEP_REMAINDER;
            const char *wrong = rests || stopped[i] ? NULL : drive_step(drive, i);
            if (wrong != NULL) {
                return wrong;
            }
        }
        for (unsigned i = 0; i < n; i++) {
            trying += drive_region(drive, i) == STEP_TRYING;
            able += drive->able[i];
        }
        if (trying == able || (able >= drive->size.k && turn > 3 * n)) {
            return NULL;
        }
    }
    return "a process waits for ever although a seat is free (C2)";
}
