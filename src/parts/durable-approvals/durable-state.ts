/** What the part keeps for a registry. */
import type { Key } from '../../api/approval-store.ts';
import type { RegistryOptions, SessionFor } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { Slot, type SlotHolder } from '../../core/slot.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import { isInProcess, keeper, storeOption } from '../../stores/shared/use-store.ts';
import { caution } from '../../values/logging.ts';
import {
  anything,
  duration,
  flag,
  fn,
  reading,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { type ApprovalsIn, approvalsIn, approvalUse } from './approvals-in.ts';
import { SuspendingSessions } from './suspending-sessions.ts';
import { createTokenSigner, type TokenSigner, UsedTokens } from './token.ts';

export interface DurableState {
  /** Undefined if there is no secret, so that tokens cannot be signed. */
  readonly signer: TokenSigner | undefined;
  readonly store: Store;
  readonly approvals: ApprovalsIn;
  readonly sessionFor: SessionFor | undefined;
  /** Milliseconds for which a token is valid. */
  readonly ttlMs: number;
  /** Milliseconds that whoever answers may live without a sign, until its call counts as lost. */
  readonly leaseMs: number;
  readonly fourEyes: boolean;
  /** Of the suspended calls of one principal together. */
  readonly maxBytes: number;
  readonly suspending: SuspendingSessions;
  readonly usedTokens: UsedTokens;
  /** The kinds of stores that processes do not share, as far as they were logged. */
  readonly logged: Set<string>;
}

/** Undefined for a registry without the part. */
export const durableSlot = new Slot<DurableState>();

/** The state of a registry that has the part. */
export function durableOf(registry: SlotHolder): DurableState {
  return durableSlot.of(registry) as DurableState;
}

type ApprovalOptions = NonNullable<RegistryOptions['approvals']>;

const where = 'HostToolRegistry';
const table = {
  // `createTokenSigner` checks the keys.
  secret: anything<Key | readonly Key[]>(),
  ttlMs: withDefault(duration, 3_600_000),
  leaseMs: withDefault(duration, 10_000),
  store: storeOption,
  fourEyes: withDefault(flag, false),
  maxBytesPerPrincipal: wholeNumber(1),
  session: fn<SessionFor>(),
} satisfies TableOf<ApprovalOptions>;

/**
 * @param shared The store of the registry.
 * @throws MisuseError `invalid_option`, which names the option.
 */
export function readApprovals(
  options: ApprovalOptions | undefined,
  { now }: Pick<RegistryState, 'now'>,
  shared: Store | undefined,
  ports: { usesStore: boolean },
): DurableState {
  const read = readOptions(where, options, table, { path: 'approvals' });
  const { secret, store: own, ttlMs, leaseMs, fourEyes, maxBytesPerPrincipal, session } = read;
  // Without a secret, no call is suspended.
  const used = options === undefined ? undefined : shared;
  const store =
    keeper(where, 'approvals.store', own, used, approvalUse, ports) ?? memoryStore({ now });
  return {
    signer:
      options === undefined
        ? undefined
        : reading(where, 'approvals.secret', () => createTokenSigner(secret as Key)),
    store,
    approvals: approvalsIn(store, now),
    sessionFor: session,
    ttlMs,
    leaseMs: Math.ceil(leaseMs),
    fourEyes,
    maxBytes: maxBytesPerPrincipal ?? 268_435_456,
    suspending: new SuspendingSessions(now),
    usedTokens: new UsedTokens(),
    logged: new Set(),
  };
}

/** Keeps suspended calls elsewhere. Only before the first call. */
export function keepApprovals(
  registry: unknown,
  secret: Key,
  store: Store,
  sessionFor: SessionFor,
): void {
  const state = registryStateOf(registry);
  Object.assign(durableOf(state), {
    signer: createTokenSigner(secret),
    store,
    approvals: approvalsIn(store, state.now),
    sessionFor,
  });
}

/** Logs each kind once for each registry, when a call is suspended or resumed that needs it. */
export function logUnsharedStores(call: FoundCall): void {
  const { session, callId, toolName } = call;
  const { registry, sessionId } = session;
  const { store, logged } = durableOf(registry);
  if (isInProcess(store)) return;
  const unshared = call.binding.status.gates.flatMap((gate) => gate.unshared?.(call) ?? []);
  for (const { kind, data, text } of unshared) {
    if (logged.has(kind)) continue;
    logged.add(kind);
    caution(
      wholeSession(session).registry.settings,
      { sessionId, callId, toolName, ...data },
      `approvals are kept in a store that processes can share, and ${text}`,
    );
  }
}
