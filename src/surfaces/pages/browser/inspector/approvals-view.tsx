/** The questions that wait for a person: the inbox of the page of approvals. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DecisionOutcome, SentDecision, WaitingApproval } from '../../approvals-wire.ts';
import type { QuestionSchema } from '../../inspector-session-wire.ts';
import type { ApprovalLine } from '../../inspector-wire.ts';
import { type Inbox, openInbox, useKnown as useInbox } from '../approvals/inbox.ts';
import type { InboxServer } from '../approvals/inbox-server.ts';
import { InboxView } from '../approvals/inbox-view.tsx';
import { ask, Refused } from '../parts/server.ts';
import type { ViewProps } from './place.ts';
import type { Store } from './store.ts';

export function ApprovalsView({ store, known, place }: ViewProps): JSX.Element {
  const inbox = inboxOf(store);
  const waiting = useInbox(inbox);
  const { question } = place;
  const shown = useRef<ViewProps['place']['question']>(undefined);
  // The question may come later than its call. Once it was shown, the person chooses.
  useEffect(() => {
    if (question === undefined || shown.current === question) return;
    const { callId, sessionId } = question;
    const entry = waiting.entries.find(
      // A program waits for the questions of its calls.
      ({ asked }) =>
        asked.sessionId === sessionId && [asked.callId, asked.parent?.callId].includes(callId),
    );
    if (entry === undefined) return;
    shown.current = question;
    inbox.choose(entry.n);
  }, [inbox, question, waiting.entries]);
  const [help, setHelp] = useState(false);
  return (
    <InboxView
      inbox={inbox}
      known={waiting}
      help={help}
      setHelp={setHelp}
      isOpen={question !== undefined}
      above={
        <>
          {known.state?.approvalsUnread === true ? (
            <p class="notice warn away">
              The store of approvals cannot be read, so suspended calls are missing here.
            </p>
          ) : null}
          <div class="reviewer row">
            <Reviewer />
            <button type="button" class="button small" onClick={() => setHelp(true)}>
              Keys <kbd>?</kbd>
            </button>
          </div>
        </>
      }
    />
  );
}

/** Nobody signs in to the inspector, so a person says who answers. */
function Reviewer(): JSX.Element {
  const [name, setName] = useState(reviewerName());
  return (
    <label class="row grow">
      <span class="small soft">You answer as</span>
      <input
        class="field"
        value={name}
        placeholder="inspector"
        autocomplete="name"
        maxLength={200}
        onInput={({ currentTarget: { value } }) => {
          setName(value);
          keepReviewerName(value);
        }}
      />
    </label>
  );
}

// The inbox of the inspector: what waits comes with its stream.

const nameKept = 'host-tools-name';
/** What goes into the record if a person gives no name. */
const noName = 'inspector';

/** The name under which a person answers, for this tab. */
function reviewerName(): string {
  return sessionStorage.getItem(nameKept) ?? '';
}

function keepReviewerName(name: string): void {
  sessionStorage.setItem(nameKept, name);
}

const inboxes = new WeakMap<Store, Inbox>();

/** The inbox of a page. It outlives its view, so that nothing that was typed is lost. */
function inboxOf(store: Store): Inbox {
  const known = inboxes.get(store);
  if (known !== undefined) return known;
  const made = openInbox(streamServer(store));
  inboxes.set(store, made);
  return made;
}

function streamServer(store: Store): InboxServer {
  const lineOf = (id: string): ApprovalLine | undefined =>
    store.known.state?.approvals.find((line) => line.id === id);
  return {
    open(heard) {
      let last: unknown;
      const tell = (): void => {
        const { connection, trouble, state } = store.known;
        if (state !== undefined && state.approvals !== last) {
          last = state.approvals;
          const more = state.more.approvals > 0;
          heard.list({
            by: '',
            approvals: state.approvals.map(waitingOf),
            ...(more ? { next: '' } : {}),
          });
        }
        if (connection === 'lost' || connection === 'refused')
          heard.failed(new Refused(connection === 'refused' ? 401 : 0, trouble));
        else if (connection === 'live' && state !== undefined) heard.live(0);
      };
      store.subscribe(tell);
      tell();
      // The server tells by itself what is new.
      return () => {};
    },
    async one(id) {
      const line = lineOf(id);
      if (line === undefined) throw new Refused(404, 'This question no longer waits.');
      const path = `schema?id=${encodeURIComponent(id)}`;
      const { schema } = await ask<QuestionSchema>(store.token, path);
      return {
        ...waitingOf(line),
        ...(schema === undefined ? {} : { schema: JSON.parse(schema) }),
      };
    },
    async answer(id, decision: SentDecision) {
      const name = reviewerName().trim();
      const body = { id, ...decision, by: name === '' ? noName : name };
      try {
        return await ask<DecisionOutcome>(store.token, 'answer', body);
      } catch (error) {
        // Only one of the refusals means that somebody was faster.
        if (error instanceof Refused && error.status === 409 && !error.over)
          throw new Refused(403, error.message, { issues: error.issues });
        throw error;
      }
    },
  };
}

function waitingOf({
  tool,
  input,
  layer,
  principal,
  quotas,
  program,
  ...line
}: ApprovalLine): WaitingApproval {
  return {
    ...line,
    tool: { name: tool },
    ...(principal === '' ? {} : { principal }),
    source: layer,
    // The text within the text is still as it was sent, so that an edit brings it back exactly.
    input: JSON.parse(input),
    ...(quotas.length === 0 ? {} : { quotas }),
    ...(program === undefined ? {} : { program: JSON.parse(program) }),
  };
}
