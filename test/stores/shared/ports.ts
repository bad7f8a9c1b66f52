/**
 * Stores made of what one feature asks for, so that a test can say what is answered: the other way
 * round than the library, which puts features over a store.
 */
import type { JsonObject, MaybePromise, SuspendedApproval } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import type { ApprovalQuery, SettledApproval } from '../../../src/parts/durable-approvals/store.ts';
import {
  type ClaimAnswer,
  type IdempotencyClaim,
  KeysIn,
} from '../../../src/parts/idempotency/idempotency-in.ts';
import type { OffloadedOutput } from '../../../src/parts/offload/offload-in.ts';
import type { QuotaSpend } from '../../../src/parts/quotas/quotas-in.ts';
import { after } from '../../../src/values/maybe-promise.ts';
import { approvalsOver } from './approval-rules.ts';
import { quotasIn } from './quotas.ts';

/** What quotas ask of a store. Any object is a reservation. */
export interface QuotaPort {
  reserve(
    spends: readonly QuotaSpend[],
  ): MaybePromise<{ readonly reservation: object } | { readonly refused: readonly Store.Use[] }>;
  giveBack(reservation: object): MaybePromise<void>;
  look(spends: readonly QuotaSpend[]): MaybePromise<readonly Store.Use[]>;
}

type Answers = (
  operations: readonly Store.Operation[],
  space: { readonly shared?: string },
) => unknown;

/** A store that answers some steps by itself. Others are those of one in memory. */
function storeOf(answers: Answers): Store {
  const inner = memoryStore();
  return {
    ...inner,
    apply: <T extends readonly Store.Operation[]>(space: Store.Space, operations: T) => {
      const answer = answers(operations, space as { readonly shared?: string });
      return (answer === passed ? inner.apply(space, operations) : answer) as MaybePromise<
        Store.Outcome<T>
      >;
    },
  };
}

const passed = Symbol('passed');

/** The quotas of a store in memory. */
export function memoryQuotaPort(options?: Parameters<typeof memoryStore>[0]): QuotaPort {
  return quotasIn(memoryStore(options)) as QuotaPort;
}

/** A store whose quotas are those of a port. */
export function quotaStoreOf(port: QuotaPort): Store {
  const reservations: object[] = [];
  const spendOf = ({ key, amount, max, windowMs, owner, holder }: Store.Sliding): QuotaSpend => {
    return { key, amount, max, windowMs, session: owner, holder };
  };
  return storeOf((operations) => {
    const adds = operations.filter((one) => one.op === 'add');
    if (adds.length === operations.length)
      return after(port.reserve(adds.map(spendOf)), (answer): unknown => {
        if (typeof answer !== 'object' || answer === null) return answer;
        if ('reservation' in answer) {
          reservations.push(answer.reservation);
          return { results: adds.map(() => String(reservations.length - 1)) };
        }
        const refused = answer.refused?.findIndex?.((use) => use?.retryAfterMs !== 0) ?? 0;
        return {
          refused: Math.max(0, refused),
          gone: false,
          retryAfterMs: 0,
          uses: answer.refused,
        };
      });
    const sums = operations.filter((one) => one.op === 'sum');
    if (sums.length === operations.length)
      return after(port.look(sums.map(spendOf)), (results) => ({ results }));
    const [back] = operations.filter((one) => one.op === 'subtract');
    if (back === undefined) return passed;
    return after(port.giveBack(reservations[Number(back.place)] as object), () => ({
      results: operations.map(() => true),
    }));
  });
}

/** What idempotency keys ask of a store. */
export type KeyPort = Pick<KeysIn, 'claim' | 'renew' | 'finish' | 'release'>;

/** The keys of a store in memory. */
export function memoryKeyPort(options?: Parameters<typeof memoryStore>[0]): KeyPort {
  const keys = new KeysIn(memoryStore(options));
  return {
    claim: (claim) => keys.claim(claim),
    renew: (...given) => keys.renew(...given),
    finish: (...given) => keys.finish(...given),
    release: (...given) => keys.release(...given),
  };
}

/** A store whose keys are those of a port. */
export function keyStoreOf(port: KeyPort): Store {
  /** The claims that were answered, by their versions. */
  const claims: IdempotencyClaim[] = [];
  const refused = (found: Store.Document | undefined) => ({
    refused: 0,
    gone: false,
    retryAfterMs: 0,
    found,
  });
  return storeOf((operations) => {
    const [first] = operations;
    if (operations.length !== 1 || first === undefined || !('key' in first)) return passed;
    const claim = claims[('version' in first ? (first.version ?? 0) : 0) - 1];
    const done = (isDone: unknown): unknown =>
      isDone === false ? refused(undefined) : { results: [true] };
    if (first.op === 'set' && first.value.startsWith('claim\n')) {
      const [, input = '', ttl, holder = ''] = first.value.split('\n');
      const ttlMs = Number(ttl);
      const asked: IdempotencyClaim = {
        key: first.key.replace(/^key /, ''),
        input,
        holder,
        leaseMs: Number(first.ttlMs) - ttlMs,
        ttlMs,
        // Whether it may take over is decided elsewhere, and shows as a second try.
        takeOver: first.version !== 0,
      };
      return after(port.claim(asked), (answer): unknown => answerOf(answer, asked));
    }
    if (claim === undefined) return passed;
    const { key, holder, leaseMs, ttlMs } = claim;
    if (first.op === 'set')
      return after(
        port.finish(key, holder, first.value.split('\n').slice(2).join('\n'), Number(first.ttlMs)),
        done,
      );
    if (first.op === 'touch') return after(port.renew(key, holder, { leaseMs, ttlMs }), done);
    return first.op === 'delete' ? after(port.release(key, holder), () => done(true)) : passed;
  });

  function answerOf(answer: ClaimAnswer, { input, ttlMs, ...asked }: IdempotencyClaim): unknown {
    const version = 1_000_000;
    const text = (value: string, remainingMs: number) => refused({ value, version, remainingMs });
    switch ((answer as ClaimAnswer | undefined)?.state) {
      case 'claimed':
        claims.push({ input, ttlMs, ...asked });
        return { results: [claims.length] };
      case 'running': {
        const { leaseMs } = answer as { leaseMs: number };
        return text(`claim\n${input}\n${ttlMs}\nother`, leaseMs + ttlMs);
      }
      case 'lost':
        return text(`claim\n${input}\n${ttlMs}\nother`, ttlMs);
      case 'conflict':
        return text(`claim\nanother\n${ttlMs}\nother`, ttlMs);
      case 'done':
        return text(`done\n${input}\n${(answer as { outcome: string }).outcome}`, ttlMs);
      default:
        return answer;
    }
  }
}

/** What offloaded outputs ask of a store. */
export interface OutputPort {
  put(output: Pick<OffloadedOutput, 'session' | 'key' | 'text' | 'about'>): MaybePromise<void>;
  get(session: string, key: string): MaybePromise<{ text: string; about: string } | undefined>;
}

/** A store whose outputs are those of a port. */
export function outputStoreOf(port: OutputPort): Store {
  return storeOf((operations, { shared: space = '' }) => {
    const session = space.replace(/^outputs /, '');
    const keyOf = (name: string): string => name.replace(/^output \d+ /, '');
    const last = operations.at(-1);
    const sets = operations.filter((one) => one.op === 'set');
    const [first] = sets;
    if (first?.key === 'outputs') return { results: operations.map(() => 1) };
    if (first !== undefined && last?.op === 'get') {
      const whole = sets.map(({ value }) => value).join('');
      const [start = '', , chars] = /^(\d+) (\d+) /.exec(whole) ?? [];
      const begin = start.length + Number(chars);
      const about = whole.slice(start.length, begin);
      return after(
        port.put({ session, key: keyOf(first.key), text: whole.slice(begin), about }),
        () => ({ results: [...sets.map(() => 1), [undefined]] }),
      );
    }
    if (last?.op !== 'get') return passed;
    return after(port.get(session, keyOf(last.keys[0] ?? '')), (found): unknown => {
      if (found === undefined) return { results: [[undefined]] };
      const { text, about } = found;
      const value = `1 ${about.length} ${about}${text}`;
      return { results: [[{ value, version: 1, remainingMs: 1 }]] };
    });
  });
}

type Approvals = ReturnType<typeof approvalsOver>;

/** What approvals ask of a store. */
export interface ApprovalPort extends Pick<Approvals, 'list'> {
  put(record: SuspendedApproval): MaybePromise<void>;
  take(id: string): MaybePromise<JsonObject | undefined>;
  read(id: string): MaybePromise<JsonObject | undefined>;
  settle(outcome: SettledApproval): MaybePromise<void>;
  page(query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
  heads(query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
}

/** The approvals of a store in memory. */
export function memoryApprovalPort(options?: Parameters<typeof memoryStore>[0]): ApprovalPort {
  return approvalsOver(memoryStore(options), options?.now);
}

/** A store whose approvals are those of a port, or of none in particular where it has no method. */
export function approvalStoreOf(given: Partial<ApprovalPort>): Store {
  const port = { ...memoryApprovalPort(), ...given };
  const documentOf = (record: unknown): Store.Document | undefined =>
    record === undefined || record === null
      ? undefined
      : { value: JSON.stringify(record), version: 1, remainingMs: undefined };
  return storeOf((operations) => {
    const [first] = operations;
    if (first?.op === 'get') {
      const id = (first.keys[0] ?? '').replace(/^approval /, '');
      const found = first.keys.length === 1 ? port.take(id) : port.read(id);
      return after(found, (record) => ({
        results: [first.keys.map((_, at) => (at === 0 ? documentOf(record) : undefined))],
      }));
    }
    if (first?.op === 'list') {
      const [, kind, text] = /^(\w+) ?(.*)$/s.exec(first.list) ?? [];
      const key = first.after?.key.replace(/^approval /, '') ?? '';
      const from = Number(first.after?.expiresAt) - 3_600_000;
      const query = {
        limit: first.limit,
        ...(kind === 'session' && { sessionId: text }),
        ...(kind === 'principal' && { principal: text }),
        ...(key !== '\u{10ffff}' && { after: { id: key, expiresAt: from } }),
      };
      const found = first.bytes === undefined ? port.page(query) : port.heads(query);
      return after(found, (records) => ({
        results: [
          records.map((record) => ({
            ...documentOf(record),
            key: `approval ${record?.id}`,
            expiresAt: Number(record?.expiresAt) + 3_600_000,
          })),
        ],
      }));
    }
    if (first?.op !== 'set') return passed;
    const done = (): object => ({ results: operations.map(() => 1) });
    const value = JSON.parse(first.value === '' ? '{}' : first.value) as JsonObject;
    if ('token' in value) return after(port.put(value as never), done);
    if ('settled' in value) return after(port.settle(value as never), done);
    return done();
  });
}
