/**
 * What the relay knows of the application's tools, and how it is told: one request at a time, the
 * newest list first.
 */
import { retryMs } from './backoff.ts';
import type { RelayHttp } from './http.ts';
import { type JsonObject, numberIn } from './json.ts';
import {
  asRelayClientError,
  failedToolsOf,
  isFinal,
  isPassing,
  type RelayClientError,
  type RelayFailedTool,
} from './relay-client-error.ts';
import type { Scope } from './scope.ts';
import { type ToolList, toolDifference } from './tool-list.ts';

/** Tells the relay. */
export interface Registration {
  /** Makes this the list. Resolves when the relay has taken it or a later one. */
  set(list: ToolList, reason: string): Promise<void>;
  /**
   * A line stands, and the relay said which revision of the tools it has, or nothing. @param again
   * a line has stood before
   */
  seen(toolsRevision: number | undefined, again: boolean): void;
  /** Tools that the relay did not take. */
  readonly failed: readonly RelayFailedTool[];
}

/** What hears of registrations. */
export interface RegistrationListener {
  /** The relay has taken a list. */
  taken(list: ToolList, failed: readonly RelayFailedTool[]): void;
  /** It has not. @param retryInMs when it is tried again; undefined: it is not */
  refused(error: RelayClientError, retryInMs: number | undefined): void;
  /** The session is not there for us. */
  over(error: RelayClientError): void;
}

/** What a registration needs. */
export interface RegistrationWorld {
  readonly http: RelayHttp;
  readonly life: Scope;
  readonly random: () => number;
  /** Everything of a registration but the tools. */
  readonly plugin: JsonObject;
}

interface Wish {
  /** Grows from wish to wish. */
  readonly number: number;
  readonly list: ToolList;
  readonly reason: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createRegistration(
  { http, life, random, plugin }: RegistrationWorld,
  listener: RegistrationListener,
): Registration {
  /** Names and definitions as the relay has them; undefined: it has none of ours. */
  let known: ReadonlyMap<string, string> | undefined;
  /** Names that it may have of ours while that is not known. */
  let former: ReadonlySet<string> = new Set();
  let revision: number | undefined;
  let failed: readonly RelayFailedTool[] = [];
  let count = 0;
  let latest: Wish | undefined;
  /** The last one that the relay took. */
  let accepted: Wish | undefined;
  /** Those whose promises are open. */
  const wishes = new Set<Wish>();
  /** The relay is to be told, whatever we think it knows. */
  let due = false;
  let working = false;
  /** What `seen` said while a request was under way. */
  let seenMeanwhile: { readonly revision: number | undefined } | undefined;

  const keep = ({ list }: Wish, answer: JsonObject): void => {
    failed = failedToolsOf(answer);
    const refused = new Set(failed.map(({ toolName }) => toolName));
    const before = known;
    // What the relay refused it has as it was, or not at all: the next list differs from that.
    known = new Map(
      [...list.tools].flatMap(([name, { canonical }]) => {
        const kept = refused.has(name) ? before?.get(name) : canonical;
        return kept === undefined ? [] : [[name, kept] as const];
      }),
    );
    former = new Set();
    revision = numberIn(answer, 'toolsRevision');
  };
  const push = async (wish: Wish): Promise<void> => {
    const { list, reason } = wish;
    if (known === undefined) {
      const availableTools = [...list.tools.values()].map(({ definition }) => definition);
      if (availableTools.length > 0)
        keep(
          wish,
          await http.call(life, 'POST', '/register-tools', {
            body: JSON.stringify({ ...plugin, availableTools }),
          }),
        );
      // A relay takes no empty registration.
      else if (former.size > 0)
        keep(
          wish,
          await http.call(life, 'POST', '/update-tools', {
            body: JSON.stringify({ removed: [...former], reason }),
          }),
        );
      else return;
    } else {
      const difference = toolDifference(known, list.tools);
      if (difference === undefined) return;
      keep(
        wish,
        await http.call(life, 'POST', '/update-tools', {
          body: JSON.stringify({ ...difference, reason }),
        }),
      );
    }
    listener.taken(list, failed);
  };
  /** Everything up to this wish is settled. */
  const settle = (last: Wish, how: (wish: Wish) => void): void => {
    for (const wish of wishes) {
      if (wish.number > last.number) return;
      wishes.delete(wish);
      how(wish);
    }
  };
  const judge = (before: number | undefined): void => {
    if (seenMeanwhile === undefined) return;
    const { revision: seen } = seenMeanwhile;
    seenMeanwhile = undefined;
    // The line may have looked before or after the request was heard.
    if (seen === undefined || (seen !== before && seen !== revision)) forget();
  };
  const forget = (): void => {
    former = new Set([...former, ...(known?.keys() ?? [])]);
    known = undefined;
    due = true;
  };
  const work = async (): Promise<void> => {
    let failures = 0;
    working = true;
    while (due && latest !== undefined && !life.ended) {
      due = false;
      const wish = latest;
      const before = revision;
      try {
        await push(wish);
        failures = 0;
        accepted = wish;
        settle(wish, ({ resolve }) => resolve());
        judge(before);
      } catch (thrown) {
        if (life.ended) return;
        const error = asRelayClientError(thrown);
        if (error.code === 'no_tools_registered') {
          forget();
          former = new Set();
        } else if (isPassing(error)) {
          due = true;
          failures += 1;
          const waitMs = retryMs(failures, random, error.retryAfterMs);
          listener.refused(error, waitMs);
          await life.sleep(waitMs);
        } else {
          if (isFinal(error)) return listener.over(error);
          settle(wish, ({ reject }) => reject(error));
          // What the relay would not take is not what a later registration is to bring.
          if (latest === wish) latest = accepted ?? wish;
          listener.refused(error, undefined);
          judge(before);
        }
      }
    }
    working = false;
  };
  const start = (): void => {
    due = true;
    // It rejects only when the life ends.
    if (!working) work().catch(() => {});
  };
  life.onEnd((why) => {
    for (const { reject } of wishes) reject(why);
    wishes.clear();
  });

  return {
    set(list, reason) {
      const settled = new Promise<void>((resolve, reject) => {
        count += 1;
        latest = { number: count, list, reason, resolve, reject };
        wishes.add(latest);
      });
      // Whoever does not look at it has said that it does not matter.
      settled.catch(() => {});
      if (life.ended) settle(latest as unknown as Wish, ({ reject }) => reject(life.reason));
      else start();
      return settled;
    },
    seen(toolsRevision, again) {
      if (toolsRevision === undefined && !again) return;
      if (working) seenMeanwhile = { revision: toolsRevision };
      else if (known === undefined) return;
      // An answer without a revision: this is it.
      else if (revision === undefined && toolsRevision !== undefined && !again)
        revision = toolsRevision;
      else if (toolsRevision === undefined || toolsRevision !== revision) {
        forget();
        start();
      }
    },
    get failed() {
      return failed;
    },
  };
}
