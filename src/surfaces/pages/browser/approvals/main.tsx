/** The page of the approvals handler. */
import { type JSX, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Logo } from '../parts/elements.tsx';
import { several } from '../parts/words.ts';
import { type Inbox, type Known, openInbox, useKnown } from './inbox.ts';
import { handlerServer, tokenOfPage } from './inbox-server.ts';
import { InboxView } from './inbox-view.tsx';

render(
  <App inbox={openInbox(handlerServer(tokenOfPage()))} />,
  document.getElementById('page') as HTMLElement,
);

/** The frame of the page: its head, and the inbox. */
function App({ inbox }: { readonly inbox: Inbox }): JSX.Element {
  const known = useKnown(inbox);
  const [help, setHelp] = useState(false);
  const waiting = known.entries.filter(({ ended }) => ended === undefined).length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}Approvals`;
  }, [waiting]);
  return (
    <div class="frame">
      <Head known={known} waiting={waiting} help={() => setHelp(true)} />
      <main aria-label="Approvals">
        <InboxView inbox={inbox} known={known} help={help} setHelp={setHelp} />
      </main>
    </div>
  );
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
