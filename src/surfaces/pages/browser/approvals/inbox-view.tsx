/** The inbox: the list of what waits, one approval, and what happens to them. */
import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Empty } from '../parts/elements.tsx';
import { several } from '../parts/words.ts';
import { ApprovalPane } from './approval-pane.tsx';
import type { Entry, Inbox, Known } from './inbox.ts';
import { areKeysOn, openingPane, setKeysOn, useKeys } from './keys.ts';
import { WaitingListBox } from './waiting-list.tsx';

/** Longer than 60 lines: the parts of the inbox, and the state that they share. */
export function InboxView({
  inbox,
  known,
  help,
  setHelp,
  above,
  isOpen = false,
}: {
  readonly inbox: Inbox;
  readonly known: Known;
  /** Whether the list of keys is shown. */
  readonly help: boolean;
  readonly setHelp: (shown: boolean) => void;
  /**
   * What is shown above the list, in place of a lost connection: the inspector shows that itself.
   */
  readonly above?: ComponentChildren;
  /** Whether the approval is shown at first, and not the list, if there is no room for both. */
  readonly isOpen?: boolean;
}): JSX.Element {
  const [now, setNow] = useState(Date.now());
  const [opened, setOpened] = useState(isOpen);
  const showHelp = useCallback(() => setHelp(true), [setHelp]);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  useKeys(inbox, showHelp);
  const announced = useAnnounced(known);
  const { entries, chosen } = known;
  const entry = entries.find(({ n }) => n === chosen);
  const open = (): void => {
    setOpened(true);
    openingPane();
  };
  const serverNow = now + known.aheadMs;
  return (
    <div class="inbox-view">
      <span class="unseen" role="status">
        {announced}
      </span>
      <div>{above === undefined ? <Away known={known} inbox={inbox} /> : above}</div>
      <div class={`inbox ${opened ? 'opened' : ''}`}>
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
      </div>
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
        ? 'You are signed out. Sign in again in another tab; what you have typed stays here. ' +
          trouble
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

/** The list of keys. */
const keys: readonly (readonly [string, string])[] = [
  ['j, k', 'the next and the previous approval; so do the arrows in the list'],
  ['Enter', 'from the list to the approval'],
  ['a', 'to the button that allows; press Enter there to allow'],
  ['r', 'reject, with a message if you like'],
  ['e', 'edit the input'],
  ['Escape', 'back to the list; what you have typed stays'],
  ['?', 'this help'],
];

function HelpDialog({
  open,
  close,
}: {
  readonly open: boolean;
  readonly close: () => void;
}): JSX.Element {
  const own = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useState(areKeysOn());
  useEffect(() => {
    if (open) own.current?.showModal();
    else own.current?.close();
  }, [open]);
  return (
    <dialog ref={own} class="card help" aria-labelledby="help-title" onClose={close}>
      <div class="body part">
        <h2 id="help-title">Keys</h2>
        <dl class="facts">
          {keys.map(([key, meaning]) => (
            <>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
        <p class="soft small">No key allows a call by itself.</p>
        <label class="row">
          <input
            type="checkbox"
            checked={on}
            onChange={({ currentTarget }) => {
              setKeysOn(currentTarget.checked);
              setOn(currentTarget.checked);
            }}
          />
          Single letters do something
        </label>
        <div class="row">
          <button type="button" class="button main" onClick={close}>
            Close
          </button>
        </div>
      </div>
    </dialog>
  );
}
