/* The ledger protocol, for the model checker Spin: one split, one ledger row, several processes of the same job.
 *
 * A process may crash anywhere, pause for any time and wake up later (a zombie), lose its session, lose the answer to a
 * COMMIT, and start again. The server may finish a COMMIT that it received whenever it likes, also after the process that
 * sent it has died, and it may roll back whatever is not committed: because it crashed, because a timeout ran out, because
 * it noticed that the client is gone, or because a new owner ended the session (Session::end_session).
 *
 * Each step names the function of the code that it stands for. An epoch holds one record; what matters is where it ends.
 * Ledger::release is not here: it only tells the next owner that there is no session to end, and here sessions end or do
 * not end as they like. A split that was lost in a rebalance and comes back is here a new process.
 *
 * The rules below are those of the code. docs/model/check turns them off one by one and expects the model to notice.
 */
#ifndef COMPARE_GENERATION
#define COMPARE_GENERATION 1      /* Ledger::move: AND generation = ... */
#endif
#ifndef COMPARE_POSITION
#define COMPARE_POSITION 1        /* Ledger::move: AND next_offset = ... */
#endif
#ifndef RAISE_GENERATION
#define RAISE_GENERATION 1        /* Ledger::claim_rows: generation = generation + 1 */
#endif
#ifndef READ_UNDER_LOCK
#define READ_UNDER_LOCK 1         /* Ledger::take_over: the position counts that is read after claim_rows */
#endif
#ifndef HELD_UNDER_LOCK
#define HELD_UNDER_LOCK 1         /* Ledger::take_over: `held` is compared again after claim_rows */
#endif
#ifndef ONE_TRANSACTION
#define ONE_TRANSACTION 1         /* SqlWriter::commit: rows and ledger end with the same COMMIT */
#endif
#ifndef ASK_WHEN_IN_DOUBT
#define ASK_WHEN_IN_DOUBT 1       /* Task::on_error: in_doubt takes the splits over again; 0: it is taken for a commit */
#endif
#ifndef DROP_BROKEN_SESSION
#define DROP_BROKEN_SESSION 1     /* Task::give_up_epoch; 0: the client library reconnects and goes on in autocommit */
#endif

#ifndef RECORDS
#define RECORDS 3
#endif
#define PROCESSES 2
#ifndef SESSIONS
#define SESSIONS 3                /* how often a process connects */
#endif

mtype = { NONE, OPEN, SENT, TAKE_OVER, EPOCH, COMMITTED, BROKEN };

/* The database: the ledger's row of the split, and how often each record is in the table. */
byte generation, position;
byte written[RECORDS];

/* The one transaction that holds the lock of the ledger's row. */
mtype lock = NONE;                /* NONE, OPEN: updated but not committed, SENT: the server has received COMMIT */
mtype kind = NONE;                /* TAKE_OVER or EPOCH */
byte sender, sent_generation, sent_position;
bool sent_rows;                   /* EPOCH: its row is part of the transaction */
bool listening;                   /* whether the session that opened it still has a process */

mtype answer[PROCESSES] = NONE;          /* what the server told the session of a process */
byte ended;
hidden byte i;

/* The guarantee, as an outside reader sees it at any moment: exactly the records before the ledger's position, once each. */
inline look() {
  i = 0;
  do
  :: i < RECORDS -> assert(written[i] == (i < position -> 1 : 0)); i++
  :: else -> break
  od;
  i = 0
}

inline apply() {
  if
  :: kind == TAKE_OVER ->
     /* A process from which the split was taken never takes it back. */
     assert(sent_position == 0 || generation == sent_position);   /* of a take-over: the generation that it held */
     generation = sent_generation
  :: else ->
     assert(generation == sent_generation);                       /* an older generation commits nothing */
     if :: sent_rows -> written[sent_position]++ :: else fi;
     position = sent_position + 1
  fi;
  look()
}

/* The lock is free again, and the session is told, if there still is one. What is not needed any more is zeroed, so that
   states that differ by it only are one. */
inline free_lock(result) {
  if :: listening -> answer[sender] = result :: else fi;
  lock = NONE; kind = NONE; sender = 0; sent_generation = 0; sent_position = 0; sent_rows = false; listening = false
}

active proctype Server() {
  do
  :: d_step { lock == SENT -> apply(); free_lock(COMMITTED) }
  :: d_step { lock != NONE -> free_lock(BROKEN) }                     /* rolled back */
  :: ended == PROCESSES && lock == NONE -> break
  od
}

/* Opens the transaction that updates the ledger's row; waits for its lock. */
inline take_lock(what, to_generation, to_position, with_rows) {
  lock = OPEN; kind = what; sender = me; listening = true;
  sent_generation = to_generation; sent_position = to_position; sent_rows = with_rows
}

proctype Process(byte me) {
  byte mine, next;                /* OwnedSplit: the claim's generation, the position */
  byte held;                      /* the generation that this process believes in; 0: it has not owned the split */
  byte early;                     /* the position as read before the lock */
  byte sessions;
  bool outside;                   /* the row was written outside the transaction */

connect:
  /* Task::turn, Sink::open_writer. The old session, if there was one, is dropped with whatever it has open. */
  atomic {
    if :: sessions == SESSIONS -> goto leave :: else -> sessions++ fi;
    if :: lock != NONE && sender == me -> listening = false :: else fi;
    answer[me] = NONE; outside = false; mine = 0; next = 0; early = 0;
    if
    :: skip                       /* the same process after a failure: Task::give_up_epoch */
    :: held = 0                   /* a new process after a crash */
    fi
  }

  /* Ledger::take_over, the first read: outside a transaction. */
  atomic {
    if :: held != 0 && generation != held -> goto leave :: else fi;   /* fenced */
    early = position
  }
  if :: goto connect :: skip fi;                                      /* sink.before_take_over */

  /* Ledger::claim_rows waits for the lock of the row, and with it for a commit in flight; then the second read. */
  atomic {
    lock == NONE ->
    if :: HELD_UNDER_LOCK && held != 0 && generation != held -> goto leave :: else fi;   /* fenced */
    mine = generation + RAISE_GENERATION;
    if :: READ_UNDER_LOCK -> next = position :: else -> next = early fi;
    early = 0;
    take_lock(TAKE_OVER, mine, held, false)
  }
  if :: goto connect :: skip fi;                                      /* killed before the COMMIT */
  atomic { if :: answer[me] == BROKEN -> goto connect :: else -> lock = SENT fi }
  if
  :: goto connect                                                     /* killed, or the answer was lost */
  :: answer[me] == COMMITTED                                          /* sink.after_take_over, task.before_seek */
  fi;
  atomic { answer[me] = NONE; held = mine }

epoch:
  if :: next == RECORDS -> goto leave :: else fi;

  /* SqlWriter::open_epoch, write: rows in a transaction that nobody sees. sink.after_begin, sink.after_first_write */
  if
  :: goto connect
  :: ONE_TRANSACTION -> skip
  :: !ONE_TRANSACTION || !DROP_BROKEN_SESSION -> d_step { written[next]++; outside = true; look() }
  fi;

  /* Ledger::move: the compare-and-set, which waits for the lock of the row. sink.before_ledger */
  atomic {
    lock == NONE ->
    if
    :: COMPARE_GENERATION && generation != mine -> goto leave         /* Ledger::explain_miss: fenced */
    :: COMPARE_POSITION && position != next -> goto connect           /* Ledger::explain_miss: retryable */
    :: else -> take_lock(EPOCH, mine, next, !outside)
    fi
  }
  if :: goto connect :: skip fi;                                      /* sink.after_ledger */

  /* SqlWriter::commit */
  atomic { if :: answer[me] == BROKEN -> goto connect :: else -> lock = SENT fi }
  if
  :: goto connect                                                     /* killed, or in doubt: the ledger will tell */
  :: answer[me] == COMMITTED                                          /* sink.after_commit */
  :: !ASK_WHEN_IN_DOUBT -> d_step { if :: lock != NONE && sender == me -> listening = false :: else fi }
  fi;
  atomic { answer[me] = NONE; next++; goto epoch }                    /* EpochMachine::committed */

leave:
  atomic { ended++; mine = 0; next = 0; held = 0; early = 0; sessions = 0; outside = false; answer[me] = NONE;
           if :: lock != NONE && sender == me -> listening = false :: else fi }
}

init {
  byte next;
  atomic { run Process(0); run Process(1) }
  (ended == PROCESSES && lock == NONE);
  /* Whatever happened: one last undisturbed process finishes the split. */
  d_step {
    look(); generation++; next = position;
    do
    :: next < RECORDS -> written[next]++; next++; position = next
    :: else -> break
    od;
    look()
  }
}
