/**
 * A person's answer to a call that waits: found on whichever node, run on the one that was asked.
 */
import {
  type ApprovalAnswer,
  isMisuseError,
  type Surface,
  type ToolResult,
  type ToolSession,
} from '../../index.ts';
import { resumeCall, stateOf, takeAnswer } from '../../surface-port.ts';
import type { RequestDocument, SessionDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { relayError } from '../relay-error.ts';
import type { LiveSession, LiveSessions } from './live-sessions.ts';
import type { FoundRequest, RequestDocuments, RequestStatus } from './request-documents.ts';

/** Calls the tool, by the session of this node. */
export type RunCall = (entry: LiveSession, surface: Surface) => Promise<ToolResult>;

/** Runs a request of which this node has the document's version. */
export type RunRequest = (
  session: SessionDocument,
  id: string,
  found: FoundRequest,
  call: RunCall,
  passed: () => void,
) => Promise<ToolResult>;

/** A person's answer to a call that waits; undefined where none of that id does. */
export type Decide = (
  document: SessionDocument,
  approvalId: string,
  answer: ApprovalAnswer,
) => Promise<(RequestStatus & { readonly approvalId: string }) | undefined>;

/** What answers need. */
export interface Deciding {
  readonly store: RelayStore;
  readonly documents: RequestDocuments;
  readonly live: LiveSessions;
  /** Milliseconds after which others look after a request that nobody renews. */
  readonly dueMs: number;
  readonly run: RunRequest;
}

/**
 * The form was read from the request's body; what the session's limits do not take is the sender's
 * mistake all the same, and uses nothing up.
 */
function check(session: ToolSession, answer: ApprovalAnswer): void {
  try {
    takeAnswer('approval', answer, stateOf(session).limits.maxInputBytes);
  } catch (error) {
    if (isMisuseError(error))
      throw relayError(400, 'invalid_decision', error.message, { cause: error });
    throw error;
  }
}

export function createDecide({ store, documents, live, dueMs, run }: Deciding): Decide {
  return async (document, approvalId, answer) => {
    const entry = await live.get(document);
    const release = entry.retain();
    let work: Promise<unknown> = Promise.resolve();
    try {
      const { code } = document;
      const { session } = entry;
      const asked = (await session.approvals.pending()).find(({ id }) => id === approvalId);
      if (asked === undefined) return undefined;
      check(session, answer);
      const { callId: requestId, token } = asked;
      if (token === undefined)
        return session.approvals.answer(approvalId, answer)
          ? { approvalId, requestId, status: 'queued' }
          : undefined;
      const resume = (surface: Surface): Promise<ToolResult> =>
        resumeCall(stateOf(session), token, answer, { surface });
      const found = await documents.find(code, requestId);
      let passed = (): void => {};
      const gates = new Promise<undefined>((resolve) => {
        passed = () => resolve(undefined);
      });
      // A call that came another way, such as over MCP, has no request: its result is here.
      let resumed: Promise<ToolResult>;
      if (found === undefined || found.document.status === 'done')
        resumed = resume({ name: 'relay', outside: true, exposeErrors: 'masked', started: passed });
      else {
        // Answered a moment ago, and runs; where it waits for a person again, it has a result
        // again.
        if (found.document.resumed === true && found.document.result === undefined)
          return undefined;
        const { result: _pending, ...rest } = found.document;
        const next: RequestDocument = { ...rest, resumed: true };
        await store.schedule(code, requestId, dueMs);
        const version = await documents.write(code, requestId, next, found.version);
        if (version === undefined) return undefined;
        resumed = run(
          document,
          requestId,
          { document: next, version },
          (_, surface) => resume(surface),
          passed,
        );
      }
      work = resumed;
      const result = await Promise.race([resumed, gates]);
      return {
        approvalId,
        requestId,
        ...(result === undefined ? { status: 'running' } : { status: 'done', result }),
      };
    } finally {
      work.then(release, release);
    }
  };
}
