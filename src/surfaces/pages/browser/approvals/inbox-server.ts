/**
 * Sends requests to the approvals handler. A cookie, a proxy or the page's token identifies the
 * person who has signed in.
 */
import type {
  DecisionOutcome,
  SentDecision,
  UndoOutcome,
  WaitingApproval,
  WaitingList,
} from '../../approvals-wire.ts';
import { Refused, send, takeToken } from '../parts/server.ts';
import { parseVisible } from '../parts/visible.ts';

/** Where an inbox gets its approvals, and sends its answers. */
export interface InboxServer {
  /**
   * Reports what waits, as long as the page is open. The returned function asks at once, if this
   * server has to be asked.
   */
  open(heard: Heard): () => void;
  /** One approval, with what a list leaves out. Rejects with {@link Refused}. */
  one(id: string): Promise<WaitingApproval>;
  /** Rejects with {@link Refused}. */
  answer(id: string, decision: SentDecision): Promise<DecisionOutcome>;
  /** Takes a call back that was allowed. Absent if that is done elsewhere. */
  undo?(id: string): Promise<UndoOutcome>;
}

/** What an inbox hears from its server. */
export interface Heard {
  /** The server answers, and the list is known. @param aheadMs how far its clock is ahead */
  live(aheadMs: number): void;
  /** What waits, if it is not what waited before. */
  list(list: WaitingList): void;
  /** The server does not answer, or refuses to. */
  failed(error: unknown): void;
}

/** Milliseconds between two lists. */
const pauseMs = 3_000;
const hiddenPauseMs = 15_000;
/** A list that takes long is requested less often. */
const pausePerMs = 10;
const maxPauseMs = 60_000;

/** The approvals handler. It is asked again and again. */
export function handlerServer(token: PageToken): InboxServer {
  return {
    one: (id) => askOne(token.now(), id),
    answer: (id, decision) => post(token.now(), id, decision),
    undo: (id) => post(token.now(), id, {}, '/undo'),
    open(heard) {
      let wake = (): void => {};
      document.addEventListener('visibilitychange', () => {
        if (!document.hidden) wake();
      });
      token.onChange(() => wake());
      void listen(token, heard, (now) => {
        wake = now;
      });
      return () => wake();
    },
  };
}

async function listen(
  token: PageToken,
  heard: Heard,
  onWait: (wake: () => void) => void,
): Promise<never> {
  let last = '';
  for (;;) {
    const from = performance.now();
    try {
      const { text, aheadMs } = await askList(token.now());
      const list = text === last ? undefined : readList(text);
      last = text;
      if (list !== undefined) heard.list(list);
      heard.live(aheadMs);
    } catch (error) {
      heard.failed(error);
    }
    const took = performance.now() - from;
    const least = document.hidden ? hiddenPauseMs : pauseMs;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(maxPauseMs, Math.max(least, took * pausePerMs)));
      onWait(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Most approvals that are requested. */
const maxListed = 200;
/** Milliseconds after which a list that does not arrive counts as lost. */
const maxMs = 30_000;

/** A redirect, such as to a login page, is an answer like any other. */
const direct = { redirect: 'manual' } as const;

/** A list, and how far the server's clock is ahead. */
interface Listed {
  /** The answer as it was sent. */
  readonly text: string;
  readonly aheadMs: number;
}

function authorization(token: string): Record<string, string> {
  return token === '' ? {} : { authorization: `Bearer ${token}` };
}

/** Rejects with {@link Refused}. */
async function askList(token: string): Promise<Listed> {
  const quiet = new AbortController();
  const timer = setTimeout(() => quiet.abort(), maxMs);
  try {
    const response = await send(`approvals?limit=${maxListed}`, {
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
function readList(text: string): WaitingList {
  const exact = read<WaitingList>(text);
  const visible = parseVisible(text) as WaitingList;
  return {
    ...visible,
    approvals: visible.approvals.map((one, at) => exactly(one, exact.approvals[at])),
  };
}

/** Requests one approval, with what a list leaves out. Rejects with {@link Refused}. */
async function askOne(token: string, id: string): Promise<WaitingApproval> {
  const response = await send(`approvals/${encodeURIComponent(id)}`, {
    ...direct,
    headers: authorization(token),
  });
  const text = await response.text();
  return exactly(parseVisible(text) as WaitingApproval, read<WaitingApproval>(text));
}

/**
 * What is sent back stays as it came, and so do the values of origins, whose table shows what is
 * invisible in them.
 */
function exactly(visible: WaitingApproval, exact: WaitingApproval | undefined): WaitingApproval {
  if (exact === undefined) return visible;
  const { id, input, program, schema } = exact;
  const origins = visible.origins?.map((one, at) => {
    const value = exact.origins?.[at]?.value;
    return value === undefined ? one : { ...one, value };
  });
  return {
    ...visible,
    id,
    ...(origins === undefined ? {} : { origins }),
    ...(input === undefined ? {} : { input }),
    // How it ends lines decides what is a comment.
    ...(program === undefined ? {} : { program }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** Rejects with {@link Refused}. */
async function post<T>(token: string, id: string, body: object, more = ''): Promise<T> {
  const response = await send(`approvals/${encodeURIComponent(id)}${more}`, {
    ...direct,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization(token) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  read(text);
  return parseVisible(text) as T;
}

/** A page to sign in on, for example, may come instead of an answer. */
function read<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refused(0, 'What came is not an answer of the server.');
  }
}

// The token of an address such as that of the command line. A host with cookies needs none.

const kept = 'host-tools-approvals-token';

/** What the page knows of its token. */
interface PageToken {
  /** The token now; empty if the page was opened without one. */
  now(): string;
  /** Calls back when the tab gets an address with another token. */
  onChange(changed: () => void): void;
}

/** Takes the token out of the address of the page. */
export function tokenOfPage(): PageToken {
  let token = takeToken(kept);
  return {
    now: () => token,
    // The page is not loaded again if only the fragment differs, as after a restart of its server.
    onChange(changed) {
      addEventListener('hashchange', () => {
        const before = token;
        token = takeToken(kept);
        if (token !== before) changed();
      });
    },
  };
}
