/* commit.protocol prepared: one task, one or two sinks, two processes of the same job. Each may crash anywhere, pause for any
   time (a zombie), begin anew inside the process, and start again. Every record must be applied once in every sink.
   docs/model/check runs it; a rule that is set to 0 is left out. */
#ifndef SINKS
#define SINKS 1
#endif
#ifndef STARTS
#define STARTS 3              /* of each process */
#endif
#ifndef AGAIN
#define AGAIN 1               /* new beginnings inside a process, each start */
#endif
#ifndef COMPARE
#define COMPARE 1             /* the ledger moves by compare-and-set on generation and position */
#endif
#ifndef FENCE_PUBLISH
#define FENCE_PUBLISH 1       /* only the newest generation publishes */
#endif
#ifndef SPARE_NEWER
#define SPARE_NEWER 1         /* what a newer generation has prepared is left alone */
#endif
#ifndef PUBLISH_FIRST
#define PUBLISH_FIRST 1       /* nothing is committed before the checkpoint is published */
#endif
#ifndef SETTLE_FIRST
#define SETTLE_FIRST 1        /* what a checkpoint decided is committed before anything is rolled back */
#endif
#define N 2                   /* records; an epoch takes one */
#define W 2                   /* processes */
#ifndef T
#define T 30                  /* transactions; 0 is none */
#endif
#define OPEN 1
#define PREPARED 2
#define COMMITTED 3
#define ROLLEDBACK 4

byte tx_state[T], tx_from[T], tx_gen[T], tx_sink[T], tx_next = 1;
byte store_gen, decided[SINKS];           /* the store: generation, and the newest checkpoint's transactions */
byte ledger_gen[SINKS], ledger_pos[SINKS], lock[SINKS];
byte applied[SINKS * N];
byte done;

inline finish(t) {              /* COMMIT PREPARED: done now, or done before as the epoch's row proves */
  atomic {
    if
    :: tx_state[t] == PREPARED ->
         applied[tx_sink[t] * N + tx_from[t]]++;
         assert(applied[tx_sink[t] * N + tx_from[t]] == 1);
         assert(ledger_pos[tx_sink[t]] == tx_from[t]);
         assert(lock[tx_sink[t]] == t);
         ledger_pos[tx_sink[t]] = tx_from[t] + 1;
         tx_state[t] = COMMITTED;
         lock[tx_sink[t]] = 0
    :: tx_state[t] == COMMITTED -> skip
    :: else -> assert(false)  /* a decided transaction is gone */
    fi
  }
}

inline drop(i) { tx_state[i] = ROLLEDBACK; assert(lock[tx_sink[i]] == i); lock[tx_sink[i]] = 0 }

proctype Process() {
  byte g, s, i, starts, again, lowest;
  byte claim[SINKS], pos[SINKS], t[SINKS], seen[SINKS];
  bool fenced, held;
start:                        /* also after a crash: open transactions of the dead session are rolled back by the server */
  atomic {
    if :: starts == STARTS -> goto stop :: else fi;
    starts++; again = 0; fenced = false; held = false;
    store_gen++; g = store_gen                               /* 1. raise the generation */
  }
settle:                                                      /* 2. */
  atomic {
    if :: store_gen != g -> goto stop :: else fi;            /* what is read may be older than a newer process */
    s = 0; do :: s < SINKS -> seen[s] = decided[s]; s++ :: else -> break od
  }
  if
  :: SETTLE_FIRST ->
       s = 0; do :: s < SINKS -> if :: seen[s] != 0 -> finish(seen[s]) :: else fi; s++ :: else -> break od
  :: else
  fi;
  i = 1;
  do
  :: i < T ->
       atomic {
         if
         :: tx_state[i] == PREPARED && (!SETTLE_FIRST || i != seen[tx_sink[i]]) && (tx_gen[i] <= g || !SPARE_NEWER) -> drop(i)
         :: else
         fi;
         i++
       }
  :: else -> break
  od;
  if :: goto start :: skip fi;
  s = 0;                                                     /* 3. take the ledger's rows */
  do
  :: s < SINKS ->
       atomic {
         if
         :: lock[s] != 0 -> goto over                        /* a lock timeout */
         :: lock[s] == 0 && held && ledger_gen[s] != claim[s] -> goto stop   /* taken by another process since */
         :: lock[s] == 0 && (!held || ledger_gen[s] == claim[s]) ->
              ledger_gen[s]++; claim[s] = ledger_gen[s]; pos[s] = ledger_pos[s]
         fi;
         s++
       }
  :: else -> break
  od;
  held = true;
epoch:
  atomic {
    lowest = N; s = 0;
    do :: s < SINKS -> t[s] = 0; if :: pos[s] < lowest -> lowest = pos[s] :: else fi; s++ :: else -> break od
  }
  if :: lowest == N -> goto stop :: else fi;
  s = 0;                                                     /* 4. every sink that is not ahead: rows, ledger, prepare */
  do
  :: s < SINKS && pos[s] == lowest ->
       atomic {
         if
         :: lock[s] != 0 -> goto over
         :: lock[s] == 0 && COMPARE && !(ledger_gen[s] == claim[s] && ledger_pos[s] == pos[s]) -> fenced = true
         :: lock[s] == 0 && (!COMPARE || (ledger_gen[s] == claim[s] && ledger_pos[s] == pos[s])) ->
              assert(tx_next < T);
              t[s] = tx_next; tx_next++;
              tx_from[t[s]] = pos[s]; tx_gen[t[s]] = g; tx_sink[t[s]] = s; tx_state[t[s]] = OPEN; lock[s] = t[s]
         fi
       }
       if :: fenced -> goto stop :: else fi;
       if
       :: atomic { drop(t[s]); goto over }                   /* a crash, or an error */
       :: tx_state[t[s]] = PREPARED
       fi;
       if :: goto over :: skip fi;                           /* a crash, or a lost answer */
       s++
  :: s < SINKS && pos[s] != lowest -> s++
  :: else -> break
  od;
  if :: !PUBLISH_FIRST -> s = 0; do :: s < SINKS -> if :: t[s] != 0 -> finish(t[s]) :: else fi; s++ :: else -> break od :: else fi;
  if :: goto start :: skip fi;
  atomic {                                                   /* 5. the checkpoint decides */
    if
    :: store_gen == g || !FENCE_PUBLISH ->
         s = 0; do :: s < SINKS -> decided[s] = t[s]; s++ :: else -> break od
    :: else -> goto stop
    fi
  }
  s = 0;                                                     /* 6. commit */
  do
  :: s < SINKS ->
       if :: goto over :: skip fi;                           /* a crash, or an error */
       if :: t[s] != 0 -> finish(t[s]); pos[s]++ :: else fi;
       s++
  :: else -> break
  od;
  goto epoch;
over:                                                        /* the process is dead, or begins anew */
  if
  :: goto start
  :: again < AGAIN -> again++; goto settle
  fi;
stop:
  done++
}

init {
  atomic { run Process(); run Process() };
  (done == W);
  /* One last process that nothing disturbs must always come to the end. */
  {
    byte s, i;
    atomic {
      store_gen++;
      s = 0; do :: s < SINKS -> if :: decided[s] != 0 -> finish(decided[s]) :: else fi; s++ :: else -> break od;
      i = 1; do :: i < T -> if :: tx_state[i] == PREPARED -> drop(i) :: else fi; i++ :: else -> break od;
      s = 0;
      do
      :: s < SINKS ->
           assert(lock[s] == 0);
           do :: ledger_pos[s] < N -> applied[s * N + ledger_pos[s]]++; ledger_pos[s]++ :: else -> break od;
           i = 0; do :: i < N -> assert(applied[s * N + i] == 1); i++ :: else -> break od;
           s++
      :: else -> break
      od
    }
  }
}
