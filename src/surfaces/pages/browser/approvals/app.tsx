/** The frame of the page: its head, the list of waiting approvals, and one approval. */
import type { JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Empty } from '../parts/empty.tsx';
import { Logo } from '../parts/logo.tsx';
import { several } from '../parts/words.ts';
import { ApprovalPane } from './approval-pane.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { type Entry, type Inbox, type Known, useKnown } from './inbox.ts';
import { openingPane, useKeys } from './keys.ts';
import { WaitingListBox } from './waiting-list.tsx';

export function App({ inbox }: { readonly inbox: Inbox }): JSX.Element {
  const known = useKnown(inbox);
  const [now, setNow] = useState(Date.now());
  const [opened, setOpened] = useState(false);
  const [help, setHelp] = useState(false);
  const showHelp = useCallback(() => setHelp(true), []);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const { entries, chosen } = known;
  const waiting = entries.filter(({ ended }) => ended === undefined).length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}Approvals`;
  }, [waiting]);
  const entry = entries.find(({ n }) => n === chosen);
  useKeys(inbox, showHelp);
  const open = (): void => {
    setOpened(true);
    openingPane();
  };
  const serverNow = now + known.aheadMs;
  return (
    <div class="frame">
      <Head known={known} waiting={waiting} help={showHelp} />
      <Away known={known} inbox={inbox} />
      <main class={`inbox ${opened ? 'opened' : ''}`} aria-label="Approvals">
        {entry === undefined ? (
          <Nothing known={known} />
        ) : (
          <>
            <WaitingListBox
              known={known}
              now={serverNow}
              choose={(n) => inbox.choose(n)}
              open={open}
              show={() => setOpened(true)}
            />
            <ApprovalPane
              key={entry.n}
              inbox={inbox}
              known={known}
              entry={entry}
              now={serverNow}
              next={() => goOn(inbox, entries, entry)}
              back={() => setOpened(false)}
            />
          </>
        )}
      </main>
      <HelpDialog open={help} close={() => setHelp(false)} />
    </div>
  );
}

/** Goes to the next one that waits, or to the first. */
function goOn(inbox: Inbox, entries: readonly Entry[], from: Entry): void {
  const at = entries.indexOf(from);
  const order = [...entries.slice(at + 1), ...entries.slice(0, at)];
  const next = order.find(({ ended }) => ended === undefined);
  if (next !== undefined) inbox.choose(next.n);
  openingPane();
}

function Head({
  known,
  waiting,
  help,
}: {
  readonly known: Known;
  readonly waiting: number;
  readonly help: () => void;
}): JSX.Element {
  const { connection, by } = known;
  const words = {
    connecting: 'connecting',
    live: 'live',
    away: 'connection lost',
    'signed-out': 'signed out',
  };
  const tone = connection === 'live' ? 'on' : connection === 'connecting' ? '' : 'off';
  const announced = useAnnounced(known);
  return (
    <header class="top">
      <Logo />
      <h1>
        Approvals
        {waiting === 0 ? null : (
          <span class="count narrow">
            {waiting}
            <span class="unseen"> waiting</span>
          </span>
        )}
      </h1>
      <span class={`live ${tone}`} role="status">
        {words[connection]}
      </span>
      <span class="unseen" role="status">
        {announced}
      </span>
      <span class="totals small soft">
        {connection === 'connecting' ? null : (
          <b>
            {known.more ? 'more than ' : ''}
            {several(waiting, 'call')} waiting
          </b>
        )}
        {by === '' ? null : (
          <span class="cut you">
            <span class="before">You answer as </span>
            <b>{by}</b>
          </span>
        )}
      </span>
      <button type="button" class="button small keys" onClick={help}>
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

/** Announces what has arrived, for people who do not see it. */
function useAnnounced({ connection, entries }: Known): string {
  const seen = useRef<number | undefined>(undefined);
  const [said, say] = useState('');
  useEffect(() => {
    if (connection !== 'live') return;
    const before = seen.current;
    const most = Math.max(before ?? 0, ...entries.map(({ n }) => n));
    if (before !== undefined && most > before)
      say(`${several(most - before, 'new approval')}, ${several(entries.length, 'call')} in all.`);
    seen.current = most;
  }, [connection, entries]);
  return said;
}

function Away({ known, inbox }: { readonly known: Known; readonly inbox: Inbox }): JSX.Element {
  const { connection, trouble, entries } = known;
  const words =
    connection === 'away'
      ? `${trouble} What you see may be out of date. The page tries again by itself.`
      : connection === 'signed-out' && entries.length > 0
        ? 'You are signed out. Sign in again in another tab; what you have typed stays here.'
        : '';
  return (
    <div role="alert">
      {words === '' ? null : (
        <p class="notice warn away row">
          <span class="grow">{words}</span>
          <button type="button" class="button" onClick={() => inbox.refresh()}>
            Try now
          </button>
        </p>
      )}
    </div>
  );
}

function Nothing({ known: { connection } }: { readonly known: Known }): JSX.Element {
  if (connection === 'connecting') return <Empty title="Asking what waits …" />;
  if (connection === 'signed-out')
    return (
      <Empty title="You are signed out">
        Sign in, and come back to this page. It goes on by itself. If a command printed its address,
        open that address again, with the token at its end.
      </Empty>
    );
  if (connection === 'away')
    return <Empty title="The server cannot be reached">The page tries again by itself.</Empty>;
  return (
    <Empty title="Nothing waits for a person">
      A call that a rule or a tool asks about appears here, with what it would do and where its
      arguments came from.
    </Empty>
  );
}
