/**
 * Sends requests to the approvals handler. A cookie, a proxy or the page's token identifies the
 * person who has signed in.
 */
import type {
  DecisionOutcome,
  SentDecision,
  WaitingApproval,
  WaitingList,
} from '../../approvals-wire.ts';
import { Refused, send } from '../parts/server.ts';
import { parseVisible } from '../parts/visible.ts';

/** Most approvals that are requested. */
const mostListed = 200;
/** Milliseconds after which a list that does not arrive counts as lost. */
const mostMs = 30_000;

/** A redirect, such as to a login page, is an answer like any other. */
const direct = { redirect: 'manual' } as const;

/** A list, and how far the server's clock is ahead. */
export interface Listed {
  /** The answer as it was sent. */
  readonly text: string;
  readonly aheadMs: number;
}

function authorization(token: string): Record<string, string> {
  return token === '' ? {} : { authorization: `Bearer ${token}` };
}

/** Rejects with {@link Refused}. */
export async function askList(token: string): Promise<Listed> {
  const quiet = new AbortController();
  const timer = setTimeout(() => quiet.abort(), mostMs);
  try {
    const response = await send(`approvals?limit=${mostListed}`, {
      ...direct,
      headers: authorization(token),
      signal: quiet.signal,
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    const text = await response.text().catch(() => {
      throw new Refused(0, 'The server does not answer.');
    });
    return { text, aheadMs: Number.isNaN(date) ? 0 : date - Date.now() };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads a list. Characters that hide or reorder text are made visible, except in inputs. Those are
 * edited and sent back, and are made visible where they are shown.
 */
export function readList(text: string): WaitingList {
  const exact = JSON.parse(text) as WaitingList;
  const visible = parseVisible(text) as WaitingList;
  return {
    ...visible,
    approvals: visible.approvals.map((one, at) => exactly(one, exact.approvals[at])),
  };
}

/** Requests one approval, with what a list leaves out. Rejects with {@link Refused}. */
export async function askOne(token: string, id: string): Promise<WaitingApproval> {
  const response = await send(`approvals/${encodeURIComponent(id)}`, {
    ...direct,
    headers: authorization(token),
  });
  const text = await response.text();
  return exactly(parseVisible(text) as WaitingApproval, JSON.parse(text) as WaitingApproval);
}

/** What is sent back stays as it came. */
function exactly(visible: WaitingApproval, exact: WaitingApproval | undefined): WaitingApproval {
  if (exact === undefined) return visible;
  const { id, input, schema } = exact;
  return {
    ...visible,
    id,
    ...(input === undefined ? {} : { input }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** Rejects with {@link Refused}. */
export async function sendDecision(
  token: string,
  id: string,
  decision: SentDecision,
): Promise<DecisionOutcome> {
  const response = await send(`approvals/${encodeURIComponent(id)}`, {
    ...direct,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization(token) },
    body: JSON.stringify(decision),
  });
  return parseVisible(await response.text()) as DecisionOutcome;
}
