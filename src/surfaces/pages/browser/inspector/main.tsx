/** The inspector. */
import { type JSX, render } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Empty, Logo } from '../parts/elements.tsx';
import { takeToken } from '../parts/server.ts';
import { countOf, shareOf } from '../parts/words.ts';
import { ApprovalsView } from './approvals-view.tsx';
import { CallsView } from './calls-view.tsx';
import { OverviewView } from './overview-view.tsx';
import { type Place, type ViewName, type ViewProps, views } from './place.ts';
import { RulesView } from './rules-view.tsx';
import { type Known, openStore, type Store, useKnown } from './store.ts';
import { ToolsView } from './tools-view.tsx';
import { TryView } from './try-view.tsx';

const store = openStore(takeToken('host-tools-token'));
render(<App store={store} />, document.getElementById('page') as HTMLElement);

// The frame of the inspector: its head, its tabs, and one view.

/** Longer than 60 lines: the head of the page, its tabs and its notices. */
function App({ store }: { readonly store: Store }): JSX.Element {
  const known = useKnown(store);
  const [place, setPlace] = useState<Place>({ view: 'calls' });
  const main = useRef<HTMLElement>(null);
  const go = useCallback((to: Place) => {
    setPlace(to);
    // Moves the keyboard focus to the present view.
    requestAnimationFrame(() => main.current?.focus());
  }, []);
  const waiting = known.state?.approvals.length ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}host-tools inspector`;
  }, [waiting]);
  const names = (Object.keys(views) as ViewName[]).filter(
    (name) => name !== 'try' || known.hello?.allowCalls === true,
  );
  return (
    <div class="frame">
      <header class="top">
        <Logo />
        <h1>
          host-tools <span class="soft">inspector</span>
          {waiting === 0 ? null : (
            <span class="count narrow">
              {waiting}
              <span class="unseen"> waiting</span>
            </span>
          )}
        </h1>
        <Live known={known} />
        <Totals known={known} />
      </header>
      <nav class="tabs" aria-label="Views">
        {names.map((name) => (
          <button
            key={name}
            type="button"
            aria-current={place.view === name ? 'page' : undefined}
            onClick={() => setPlace({ view: name })}
          >
            {views[name]}
            {name === 'approvals' && waiting > 0 ? (
              <span class="count">
                {waiting}
                <span class="unseen"> waiting</span>
              </span>
            ) : null}
          </button>
        ))}
      </nav>
      <div class="slot">
        <Away known={known} />
      </div>
      <main ref={main} tabIndex={-1} aria-label={views[place.view]}>
        {known.connection === 'refused' && known.lives === 0 ? (
          <Empty title="This page has no valid token">{known.trouble}</Empty>
        ) : (
          <View store={store} known={known} place={place} go={go} />
        )}
      </main>
    </div>
  );
}

function View(props: ViewProps): JSX.Element {
  switch (props.place.view) {
    case 'calls':
      return <CallsView {...props} />;
    case 'overview':
      return <OverviewView {...props} />;
    case 'tools':
      return <ToolsView {...props} />;
    case 'rules':
      return <RulesView {...props} />;
    case 'approvals':
      return <ApprovalsView {...props} />;
    case 'try':
      return <TryView {...props} />;
  }
}

/** Says that the server is away, above what a person reads and types. */
function Away({ known: { connection, trouble, lives } }: { readonly known: Known }) {
  if (connection === 'lost')
    return (
      <p class="lost" role="alert">
        {trouble} What you typed is kept, and the page tries to connect again.
      </p>
    );
  // Another process may have begun there, with a token of its own.
  return connection === 'refused' && lives > 0 ? (
    <p class="lost" role="alert">
      The server does not know this page any more. What you typed is still here. {trouble}
    </p>
  ) : null;
}

function Live({ known }: { readonly known: Known }): JSX.Element {
  const { connection, trouble } = known;
  const words = {
    connecting: 'connecting',
    live: 'live',
    lost: 'connection lost',
    refused: 'refused',
  };
  const tone = connection === 'live' ? 'on' : connection === 'connecting' ? '' : 'off';
  return (
    <span class={`live ${tone}`} role="status" title={trouble}>
      {words[connection]}
    </span>
  );
}

function Totals({ known }: { readonly known: Known }): JSX.Element | null {
  const totals = known.state?.totals;
  if (totals === undefined) return null;
  return (
    <div class="totals small soft">
      <span>
        <b>{countOf(totals.calls)}</b> {totals.calls === 1 ? 'call' : 'calls'}
      </span>
      <span>
        <b>{shareOf(totals.denied, totals.calls)}</b> denied
      </span>
      <span>
        <b>{countOf(totals.failed)}</b> failed
      </span>
    </div>
  );
}
