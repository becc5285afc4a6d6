/* commit.protocol wal: epochs wait in files for a transaction of the ledger's protocol.
 *
 * One split of RECORDS records, an epoch of one record, PROCESSES processes one behind or beside the other. Each takes the split
 * over, looks at the files that were left, then writes its own: rows, seal, transaction, remove. It may die or fail at every step,
 * and power may fail before a file is whole. What take-over and compare-and-set themselves promise is ledger.pml's to show: here
 * each is one step. stores/wal/wal_sink.cpp holds the same steps.
 *
 * Rules that the variants of docs/model/check change:
 */
#ifndef COMPARE_POSITION
#define COMPARE_POSITION 1   /* a file is applied only where the ledger says what it begins with */
#endif
#ifndef COMPARE_GENERATION
#define COMPARE_GENERATION 1 /* the compare-and-set asks for the generation, too */
#endif
#ifndef CHECKSUM
#define CHECKSUM 1           /* a file that is not whole is not used */
#endif
#ifndef LOCK_FILES
#define LOCK_FILES 1         /* a file whose writer lives is left to it */
#endif
#ifndef READ_LEDGER
#define READ_LEDGER 1        /* reading goes on at the ledger's position, not behind the last file */
#endif
#ifndef ONE_TRANSACTION
#define ONE_TRANSACTION 1    /* a file's rows and the ledger move together */
#endif

#define RECORDS 3
#define PROCESSES 2
#define LIVES 2              /* of each process */
#define FILES 4              /* PROCESSES * LIVES: one of a life at a time */

mtype = { NONE, TORN, WHOLE };
mtype file[FILES] = NONE;
byte first[FILES];           /* the record that the file begins with */
bool locked[FILES];          /* by its writer; a death unlocks it. Who looks at a file does not keep others from it */

byte position, generation;
byte rows[RECORDS];
byte ended;

/* What anybody sees from outside, at any moment. */
inline look() {
  d_step {
    byte i;
    for (i : 0 .. RECORDS - 1) { assert(rows[i] == (i < position -> 1 : 0)) }
    i = 0
  }
}

/* Maps a file into memory: what was seen stays, whoever removes the name. */
inline open_file(f) {
  whole = (file[f] == WHOLE); from = first[f]
}

/* The transaction that applies what was opened. `done` tells whether it happened. */
inline apply() {
  done = false;
  if
  :: (!COMPARE_POSITION || position == from) && (!COMPARE_GENERATION || generation == mine) ->
     if :: whole -> rows[from]++ :: else fi;                       /* of a torn one some rows are missing */
     if :: ONE_TRANSACTION :: else -> look() fi;                   /* between two transactions anybody may look */
     position = from + 1;
     look();
     done = true
  :: else
  fi
}

proctype Process(byte me) {
  byte mine, next, own, f, lives, from;
  bool done, whole;

start:
  atomic {
    if :: lives == LIVES -> goto leave :: else -> lives++ fi;
    own = me * LIVES + lives - 1;
    generation++; mine = generation; next = position              /* WalWriter::take_over */
  }

  /* WalWriter::apply_left */
  f = 0;
  do
  :: f < FILES ->
     if
     :: atomic { file[f] != NONE && (!LOCK_FILES || !locked[f]) -> open_file(f) };
        if
        :: !CHECKSUM || whole ->
           atomic { apply(); if :: done -> next = position :: else fi };
           if :: goto die :: skip fi;                              /* behind the commit, before the file is gone */
           if :: !READ_LEDGER && !done && from >= next -> next = from + 1 :: else fi
        :: else
        fi;
        file[f] = NONE
     :: else
     fi;
     f++
  :: else -> break
  od;

  do
  :: next < RECORDS ->
     atomic { file[own] = TORN; first[own] = next; locked[own] = true };   /* rows come in */
     if :: goto die :: skip fi;                                    /* wal.before_seal */
     if
     :: file[own] == TORN -> file[own] = WHOLE                     /* EpochFileWriter::seal */
     :: else -> goto die                                           /* somebody took it for one that was left */
     fi;
     if :: goto die :: skip fi;                                    /* wal.after_seal */
     atomic { if :: file[own] == NONE -> done = false :: else -> open_file(own); apply() fi };
     if :: !done -> goto die :: else fi;                           /* fenced, or again */
     if :: goto die :: skip fi;                                    /* wal.before_remove */
     file[own] = NONE;
     next++
  :: else -> break
  od;

die:
  locked[own] = false;
  if :: next < RECORDS && lives < LIVES -> goto start :: else fi;
leave:
  ended++
}

/* One more that never dies: whatever the others have left, the job comes to its end. */
proctype Last() {
  byte mine, next, f, from;
  bool done, whole;
  ended == PROCESSES;
  atomic { generation++; mine = generation; next = position };
  f = 0;
  do
  :: f < FILES ->
     if
     :: file[f] != NONE && (!CHECKSUM || file[f] == WHOLE) ->
        open_file(f);
        atomic { apply(); if :: done -> next = position :: else fi };
        if :: !READ_LEDGER && !done && from >= next -> next = from + 1 :: else fi
     :: else
     fi;
     file[f] = NONE;
     f++
  :: else -> break
  od;
  do
  :: next < RECORDS ->
     atomic { file[0] = WHOLE; first[0] = next; open_file(0); apply(); assert(done); next++ }
  :: else -> break
  od;
  assert(position == RECORDS);
  look()
}

init {
  atomic {
    byte p;
    for (p : 0 .. PROCESSES - 1) { run Process(p) };
    run Last()
  }
}
