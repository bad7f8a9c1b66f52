/** Sessions and profiles, the tools that each shows, and why it hides the others. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { SessionLine, SessionStatus } from '../../inspector-session-wire.ts';
import type { InspectorState, ToolListing } from '../../inspector-wire.ts';
import { Badge, Empty } from '../parts/elements.tsx';
import { countOf, several, shortTimeOf } from '../parts/words.ts';
import { flagWords, howFound, whyHidden } from './in-words.tsx';
import type { ViewProps } from './place.ts';
import { useAnswer } from './store.ts';
import { ToolDetailPane } from './tool-detail-pane.tsx';

/** `session=3` or `profile=reader`: the query of the request. */
type ViewerQuery = string;

export function ToolsView({ store, known }: ViewProps): JSX.Element {
  const [viewer, setViewer] = useState<ViewerQuery | undefined>(undefined);
  const [tool, setTool] = useState<string | undefined>(undefined);
  const detail = useRef<HTMLElement>(null);
  const { state } = known;
  const first = state?.sessions.find(({ open }) => open) ?? state?.sessions[0];
  const asked = viewer ?? (first === undefined ? 'profile=' : `session=${first.key}`);
  // Facts, profiles and rules may change with any call.
  const { answer, trouble } = useAnswer<ToolListing>(store, `tools?${asked}`, state?.totals.calls);
  const choose = (query: ViewerQuery): void => {
    setViewer(query);
    setTool(undefined);
  };
  const back = (): void => setTool(undefined);
  return (
    <div class={`three ${tool === undefined ? '' : 'with-detail'}`}>
      <Viewers state={state} asked={asked} choose={choose} />
      <section class="middle" aria-label="Tools">
        {trouble === '' ? null : <p class="notice warn">{trouble}</p>}
        {answer === undefined ? null : <Listing listing={answer} tool={tool} choose={setTool} />}
      </section>
      {tool === undefined ? null : (
        <ToolDetailPane
          key={`${asked} ${tool}`}
          store={store}
          query={`${asked}&name=${encodeURIComponent(tool)}`}
          name={tool}
          version={state?.totals.calls}
          pane={detail}
          back={back}
        />
      )}
    </div>
  );
}

function Viewers({
  state,
  asked,
  choose,
}: {
  readonly state: InspectorState | undefined;
  readonly asked: ViewerQuery;
  readonly choose: (query: ViewerQuery) => void;
}): JSX.Element {
  const item = (query: ViewerQuery, children: ComponentChildren): JSX.Element => (
    <li key={query}>
      <button
        type="button"
        class="item"
        aria-pressed={query === asked}
        onClick={() => choose(query)}
      >
        {children}
      </button>
    </li>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="side" aria-label="Sessions and profiles" tabIndex={0}>
      <h2 class="label">Sessions</h2>
      {state === undefined || state.sessions.length === 0 ? (
        <p class="soft small">None yet.</p>
      ) : (
        <ul>
          {state.sessions.map((line) => item(`session=${line.key}`, <Session line={line} />))}
        </ul>
      )}
      {(state?.more.sessions ?? 0) > 0 ? (
        <p class="soft small">{several(state?.more.sessions ?? 0, 'older session')} not shown.</p>
      ) : null}
      <h2 class="label">Profiles</h2>
      <ul>
        {item('profile=', <span class="soft">no profile</span>)}
        {state?.profiles.map((id) =>
          item(`profile=${encodeURIComponent(id)}`, <span class="cut">{id}</span>),
        )}
      </ul>
    </section>
  );
}

const statusWords: Readonly<Record<Exclude<SessionStatus, 'open'>, string>> = {
  closed: 'The session is closed.',
  dropped: 'The session was dropped without being closed.',
  unseen: 'The session began before the inspector.',
};

function Session({ line }: { readonly line: SessionLine }): JSX.Element {
  const { sessionId, principal, profile, startedAt, open, status, calls, denied } = line;
  return (
    <>
      <span class="row line">
        <strong class="cut grow">{sessionId}</strong>
        <Badge tone={open ? 'good' : 'plain'}>{open ? 'open' : status}</Badge>
      </span>
      <span class="small soft cut">
        {[profile, principal, startedAt === undefined ? '' : shortTimeOf(startedAt)]
          .filter((text) => text !== '')
          .join(' · ')}
      </span>
      <span class="small soft">
        {several(calls, 'call')}
        {denied === 0 ? '' : `, ${countOf(denied)} denied`}
      </span>
    </>
  );
}

function ShownTool({ tool }: { readonly tool: ToolListing['shown'][number] }): JSX.Element {
  const { name, title, executor, requiresApproval, annotations, deprecated, found } = tool;
  return (
    <>
      <span class="row line">
        <strong class="wrap">{name}</strong>
        {requiresApproval ? <Badge tone="warn">approval</Badge> : null}
        {annotations.map((word) => (
          <Badge key={word} tone={word === 'destructive' ? 'bad' : 'plain'}>
            {flagWords[word] ?? word}
          </Badge>
        ))}
        {executor === 'inline' ? null : <Badge tone="accent">{executor}</Badge>}
        {deprecated ? <Badge tone="warn">deprecated</Badge> : null}
        {found === undefined ? null : <Badge tone="accent">found</Badge>}
      </span>
      {title === undefined ? null : <span class="small soft wrap">{title}</span>}
      {found === undefined ? null : <span class="small soft wrap">{howFound(found)}</span>}
    </>
  );
}

function Listing({
  listing,
  tool,
  choose,
}: {
  readonly listing: ToolListing;
  readonly tool: string | undefined;
  readonly choose: (name: string) => void;
}): JSX.Element {
  const { status, facts, shown, hidden } = listing;
  if (shown.length + hidden.length === 0)
    return <Empty title="No tools">The registry has none that this session could be shown.</Empty>;
  const item = (name: string, children: ComponentChildren): JSX.Element => (
    <li key={name}>
      <button type="button" class="item" aria-pressed={tool === name} onClick={() => choose(name)}>
        {children}
      </button>
    </li>
  );
  return (
    <>
      {status === 'open' ? null : (
        <p class="notice">{statusWords[status]} This is what its profile shows now.</p>
      )}
      <h2 class="label">{several(shown.length, 'tool')} shown to the model</h2>
      <ul>{shown.map((one) => item(one.name, <ShownTool tool={one} />))}</ul>
      {hidden.length === 0 ? null : (
        <>
          <h2 class="label">{several(hidden.length, 'tool')} hidden</h2>
          <ul>
            {hidden.map(({ name, code, unlockedBy }) =>
              item(
                name,
                <>
                  <strong class="wrap">{name}</strong>
                  <span class="small soft wrap">{whyHidden(code, unlockedBy)}</span>
                </>,
              ),
            )}
          </ul>
        </>
      )}
      {facts.length === 0 ? null : (
        <p class="soft small wrap">Facts of the session: {facts.join(', ')}</p>
      )}
    </>
  );
}
