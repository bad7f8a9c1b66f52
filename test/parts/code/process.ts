/** A process of its own over a store that others have, too. It can be killed. */
import { onTestFinished } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import {
  type AnyTool,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
  type ToolSession,
} from '../../../src/index.ts';
import { key, tools } from './kit.ts';

export interface ProcessOptions {
  readonly tools?: readonly AnyTool<unknown>[];
  readonly sessionId?: string;
  readonly principal?: string;
  /** How many milliseconds its clock is ahead. */
  readonly aheadMs?: number;
  readonly registry?: RegistryOptions;
  /** What its sessions have. */
  readonly session?: Partial<SessionOptions>;
  /** Whether it can make the sessions of answered calls. @default true */
  readonly makesSessions?: boolean;
  readonly ttlMs?: number;
}

export function processOver(shared: Store, options: ProcessOptions = {}) {
  const { sessionId = 'chat', principal = 'user:ann', aheadMs = 0, makesSessions = true } = options;
  const did: string[] = [];
  const held: { readonly space: Store.Space; readonly key: string }[] = [];
  let isDead = false;
  const alive = <T>(what: () => T): T => {
    if (isDead) throw new Error('This process is dead.');
    return what();
  };
  const store: Store = {
    kind: shared.kind,
    apply: async (space, operations) => {
      const outcome = await alive(() => shared.apply(space, operations));
      for (const one of operations)
        if (one.op === 'set' && /^(?:lease|answering .*)$/.test(one.key))
          held.push({ space, key: one.key });
      return outcome as never;
    },
    schedule: (...args) => alive(() => shared.schedule(...args)),
    due: (...args) => alive(() => shared.due(...args)),
    listen: (...args) => alive(() => shared.listen(...args)),
    ping: () => alive(() => shared.ping()),
    close: async () => {},
  };
  const registry: HostToolRegistry = new HostToolRegistry({
    store,
    logger: { warn() {}, error() {} },
    now: () => Date.now() + aheadMs,
    ...options.registry,
    approvals: {
      secret: key,
      ...(options.ttlMs === undefined ? {} : { ttlMs: options.ttlMs }),
      ...(makesSessions ? { session: (record: Made) => open(record) } : {}),
    },
  });
  for (const tool of [...tools(did), ...(options.tools ?? [])]) registry.register(tool);
  const open = (made: Made = { sessionId, principal }): ToolSession =>
    registry.createSession({
      sessionId: made.sessionId,
      principal: made.principal,
      approvalMode: 'suspend',
      code: {},
      ...options.session,
    });
  onTestFinished(() => registry.close());
  return {
    registry,
    did,
    open,
    /** What it held is free then, as if time had passed. */
    kill: async (): Promise<void> => {
      isDead = true;
      for (const { space, key } of held) await shared.apply(space, [{ op: 'delete', key }]);
    },
  };
}

type Made = { readonly sessionId: string; readonly principal: string };
