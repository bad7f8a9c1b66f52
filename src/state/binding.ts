/** One tool in one session: what applies to it there, worked out when first asked for and again when something changed. */
import type { Effect } from '../decision.ts';
import type { MadeHandler } from '../definition.ts';
import type { HostTool } from '../host-tool.ts';
import { cloneJson, deepFreeze, type JsonObject, type JsonValue } from '../json.ts';
import type { Policy } from '../policy.ts';
import type { ProfileTool } from '../profile.ts';
import type { CompiledRule } from '../rules.ts';
import { type Block, dropCode } from '../workflow/effective.ts';
import type { Counters, SessionState } from './session-state.ts';
import type { ToolEntry } from './tool-entry.ts';

export class Binding {
  readonly session: SessionState;
  entry: ToolEntry;
  /** The session's stamp that the rest is worked out for. */
  stamp = -1;
  /** Why the tool is not effective; undefined when it is. */
  drop: string | undefined;
  /** Registry and scope rules that touch the tool. */
  registryRules: readonly CompiledRule[] = [];
  /** Profile and session rules that touch the tool. */
  sessionRules: readonly CompiledRule[] = [];
  policies: readonly Policy<unknown>[] = [];
  sessionPolicies: readonly Policy<unknown>[] = [];
  default: Effect = 'allow';
  /** The gates in order, made by the decide stage when first needed. */
  judges: readonly unknown[] | undefined;
  /** The profile demands approval. */
  profileAsks = false;
  /** Nothing judges the tool: every call is allowed. */
  open = false;
  knobs: unknown;
  timeoutMs = 0;
  maxOutputChars = Number.POSITIVE_INFINITY;
  secretive = false;
  hostTool: HostTool | undefined;
  made: Promise<MadeHandler> | undefined;
  madeNow: MadeHandler | undefined;
  // Counters.
  calls = 0;
  succeeded = 0;
  failed = 0;
  rejected = 0;
  cancelled = 0;
  pending = 0;
  denied = 0;

  /** Where calls of this binding count once it has been replaced or removed. */
  heir: Counters | undefined;

  /** Calls in flight keep the binding of the definition on which they started; a replaced one hands its counts on. */
  constructor(session: SessionState, entry: ToolEntry, before?: Binding) {
    this.session = session;
    this.entry = entry;
    if (before !== undefined) before.countIn(this);
  }

  /** Moves the counts, those to come too. */
  countIn(heir: Counters): void {
    for (const key of counterNames) {
      heir[key] += this[key];
      this[key] = 0;
    }
    this.heir = heir;
  }

  refresh(stamp: number): void {
    const { session, entry } = this;
    const { registry, profile, limits } = session;
    const { internals } = entry;
    const profileTool = profile?.tools.get(entry.name);
    const asks = profileTool?.requiresApproval === true;
    // What the host tool shows of approvals follows the profile.
    if (asks !== this.profileAsks) this.hostTool = undefined;
    const standing = standingOf(session, entry, profileTool);
    this.judges = undefined;
    this.registryRules = standing.registryRules;
    this.sessionRules = standing.sessionRules;
    this.policies = registry.policies;
    this.sessionPolicies = session.policies;
    this.default = strictest(registry.default, profile?.default ?? 'allow');
    this.profileAsks = asks;
    this.knobs = standing.knobs;
    this.drop = standing.drop;
    this.open =
      this.registryRules.length === 0 && this.sessionRules.length === 0 && this.policies.length === 0 && this.sessionPolicies.length === 0 && this.default === 'allow' && !this.profileAsks && internals.check === undefined && internals.requiresApproval === false;
    this.timeoutMs = profileTool?.timeoutMs ?? internals.timeoutMs ?? registry.defaultTimeoutMs;
    this.maxOutputChars = Math.min(internals.maxOutputChars ?? Number.POSITIVE_INFINITY, profileTool?.maxOutputChars ?? Number.POSITIVE_INFINITY, limits.maxOutputChars ?? Number.POSITIVE_INFINITY);
    const { redact } = registry;
    this.secretive = entry.inputRedactor(redact) !== undefined || entry.outputRedactor(redact) !== undefined || knobSecrets(entry, redact);
    this.stamp = stamp;
  }

  /** Disposes a session-scoped handler that was made; resolves when it has been, however that went. */
  discard(): Promise<void> | undefined {
    const { made } = this;
    this.made = undefined;
    this.madeNow = undefined;
    if (made === undefined) return undefined;
    const { registry } = this.session;
    return made
      .then((one) => one.dispose?.())
      .then(undefined, (error: unknown) => registry.warn({ tool: this.entry.name, error: error instanceof Error ? error.name : typeof error }, 'disposing a session-scoped handler failed'));
  }
}

function knobSecrets(entry: ToolEntry, redact: readonly string[]): boolean {
  return entry.knobRedactor(redact) !== undefined;
}

/** Where a tool stands in a session: its rules, its knobs, and whether it is dropped. Shared by calls and listings. */
export function standingOf(
  session: SessionState,
  entry: ToolEntry,
  profileTool: ProfileTool | undefined,
): { readonly registryRules: readonly CompiledRule[]; readonly sessionRules: readonly CompiledRule[]; readonly knobs: unknown; readonly drop: string | undefined } {
  const { registry, profile } = session;
  const { summary } = entry;
  const touches = (rule: CompiledRule): boolean => rule.appliesTo(summary);
  const registryRules = registry.rulesFor(entry.source).filter(touches);
  const sessionRules = [...(profile?.rules ?? []), ...session.rules].filter(touches);
  const knobs = parseKnobs(entry, profileTool?.knobs);
  const blocked: Block[] = [];
  if (!entry.enabled) blocked.push('disabled');
  const hides = (rule: CompiledRule): boolean => rule.effect === 'deny' && !rule.hasWhen;
  if (registryRules.some(hides) || sessionRules.some(hides)) blocked.push('denied');
  if (knobs === undefined) blocked.push('knobs_missing');
  const drop = dropCode({ requires: entry.internals.requires, blocked }, { disabledByOverride: session.isDisabled(entry.name), inProfile: session.isChosen(entry.name), facts: session.facts });
  return { registryRules, sessionRules, knobs, drop };
}

const counterNames = ['calls', 'succeeded', 'failed', 'rejected', 'cancelled', 'pending', 'denied'] as const;
const noKnobs: JsonObject = Object.freeze({});
const order: readonly Effect[] = ['allow', 'ask', 'deny'];

/** The stricter of two effects: deny, then ask, then allow. */
export function strictest(left: Effect, right: Effect): Effect {
  return order.indexOf(left) >= order.indexOf(right) ? left : right;
}

/** The tool's knobs in a profile, frozen; undefined when they are missing. */
function parseKnobs(entry: ToolEntry, given: JsonObject | undefined): unknown {
  const schema = entry.internals.knobs;
  if (schema === undefined) return noKnobs;
  const parsed = schema.validate(given === undefined ? {} : cloneJson(given as JsonValue));
  // Knobs are settings: a schema that needs to wait cannot give them.
  if (parsed instanceof Promise || parsed.issues !== undefined) return undefined;
  return deepFreeze(parsed.value);
}
