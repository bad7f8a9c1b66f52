/**
 * The tool that takes calls of another tool back. It is internal: only `session.revert` calls it,
 * and it passes the gates like any other tool.
 */

import type { ToolContext } from '../../api/context.ts';
import type { AnyTool } from '../../api/tool.ts';
import { titleOf } from '../../core/call/approval-question.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { callOf, HandlerContext } from '../../core/call/handler-context.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import type { Next, Step } from '../../core/call/step.ts';
import type { StoreStep } from '../../core/call/store-step.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import { fail } from '../../core/result.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import { createDefinition } from '../../core/tool/define-tool.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { cloneJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { BoundSchema } from '../../values/schema/bind.ts';
import {
  alreadyReverted,
  changed,
  edited,
  revertRan,
  unavailable,
  unknownCall,
} from './refusals.ts';
import type { Undo } from './undo.ts';
import {
  type FoundCall as FoundKept,
  type KeptCall,
  readCall,
  space,
  writing,
} from './undone-in.ts';

/** What the name of the tool ends with. */
export const suffix = '.revert';

const schema: JsonObject = {
  type: 'object',
  properties: {
    callId: { type: 'string', description: 'The call that is taken back.' },
    sessionId: { type: 'string', description: 'Its session.' },
    input: { description: 'Its input, without secrets.' },
    by: { type: 'string', description: 'Who takes it back on a page, where people sign in.' },
  },
  required: ['callId', 'sessionId', 'input'],
  additionalProperties: false,
};

/** Only the library writes the input, so that there is nothing to check, and no part is needed. */
const parameters = {
  '~standard': {
    version: 1,
    vendor: 'host-tools',
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => schema, output: () => schema },
  },
};

/** The definitions, with the tools whose calls they take back. */
const reverts = new WeakMap<AnyTool, string>();

/** Whether a definition takes back the calls of a tool. */
export function takesBack(definition: AnyTool | undefined): boolean {
  return definition !== undefined && reverts.has(definition);
}

/** Makes the tool for a tool with `revert`. */
export function revertTool(tool: AnyTool): AnyTool {
  const {
    scopes,
    requires,
    credentials,
    execution: { timeoutMs },
  } = internalsOf(tool);
  const definition = createDefinition({
    name: `${tool.name}${suffix}`,
    title: `Take back ${titleOf(tool)}`,
    description: `Takes back a call of \`${tool.name}\`.`,
    parameters,
    tags: tool.tags,
    scopes,
    credentials: credentials && Object.fromEntries(credentials),
    requires,
    timeoutMs,
    exposure: 'internal',
    handler: (_input: unknown, context: ToolContext) => run(callOf(context)),
  });
  reverts.set(definition, tool.name);
  return definition;
}

const found = new Slot<FoundKept>();
/** The version of the claimed document. */
const claimed = new Slot<number>();

/** Claims the call that is taken back, so that this happens once. */
export function claimCall(call: FoundCall, undo: Undo): StoreStep | Step {
  const { more } = call;
  if (claimed.of(more) !== undefined) return undefined;
  const one = found.of(more);
  // Rules have judged what somebody made up, and others would be told of that.
  if (more.approval?.wasEdited === true) return edited();
  if (one === undefined) return find(call, undo);
  const { kept, caller, version, remainingMs: ttlMs } = one;
  const refusal = refusalOf(call, one);
  if (refusal !== undefined) return refusal;
  return {
    store: undo.store,
    space,
    operations: [writing(caller, { ...kept, state: 'begun' }, { version, ttlMs })],
    settled([now]) {
      claimed.set(more, now as number);
    },
    refused: () => alreadyReverted(kept.callId),
    missed() {},
    failed: (cause) => {
      failed(call, cause);
      return unavailable(cause);
    },
    undo: ([now]) => write(call, undo, 'kept', now as number),
  };
}

async function find(call: FoundCall, undo: Undo): Promise<Next> {
  const { callId, sessionId } = call.canonical as { callId: string; sessionId: string };
  const { principal } = call.session;
  try {
    const one = await readCall(undo.asked, { principal, sessionId }, callId);
    if (call.ended) return undefined;
    if (one === undefined) return unknownCall(callId);
    // The call is judged again, and comes back.
    found.set(call.more, one);
    return undefined;
  } catch (error) {
    failed(call, error);
    return unavailable(error);
  }
}

/** Why the call cannot be taken back. */
function refusalOf({ session, entry }: FoundCall, { kept }: FoundKept) {
  const { tool, state, callId } = kept;
  if (state === 'reverted') return alreadyReverted(callId);
  if (state !== 'kept') return revertRan(callId);
  // Somebody may have been asked about a call of another tool.
  return reverts.get(entry.definition) === tool &&
    entryOf(wholeSession(session), kept) !== undefined
    ? undefined
    : changed(tool);
}

/** The tool of a call, if it is still the same. It may have several versions. */
function entryOf(
  { registry, tools: { own } }: SessionState,
  kept: KeptCall,
): ToolEntry | undefined {
  const { tool, fingerprint } = kept;
  const ownTool = own?.get(tool);
  return [
    ...wholeRegistry(registry).catalogue.names.of(tool),
    ...(ownTool === undefined ? [] : [ownTool]),
  ].find((entry) => entry.fingerprint === fingerprint && entry.internals.revert !== undefined);
}

/** The call goes back to an earlier step, or has ended before its handler began. */
export function releaseCall(call: FoundCall, undo: Undo): void {
  const { extra } = call;
  const version = extra === undefined ? undefined : claimed.of(extra);
  if (extra === undefined || version === undefined || call.begun) return;
  claimed.delete(extra);
  const one = found.of(extra);
  found.delete(extra);
  if (one !== undefined) write(call, undo, 'kept', version, one);
}

/** Notes how the call ended that takes another one back. */
export function noteEnd(call: FoundCall, undo: Undo): void {
  call.onEnd(({ success }) => {
    const { extra } = call;
    const version = extra === undefined ? undefined : claimed.of(extra);
    if (version !== undefined) write(call, undo, success ? 'reverted' : 'failed', version);
  });
}

function write(
  call: FoundCall,
  undo: Undo,
  state: 'kept' | 'reverted' | 'failed',
  version: number,
  one = call.extra === undefined ? undefined : found.of(call.extra),
): void {
  if (one === undefined) return;
  const { kept, caller, remainingMs: ttlMs } = one;
  const set = writing(caller, { ...kept, state }, { version, ttlMs });
  const saved = undo.asked.apply(space, [set]);
  void Promise.resolve(saved).then(undefined, (error: unknown) => failed(call, error));
}

function failed(call: FoundCall, error: unknown): void {
  reportFault(call, error, 'undo', 'what is kept of calls could not be read or written');
}

/** Runs the host's `revert` with what the call had, and what it returned. */
async function run(call: FoundCall): Promise<unknown> {
  const kept = found.of(call.more)?.kept;
  const { input, output, revert } =
    (kept && entryOf(wholeSession(call.session), kept)?.internals) ?? {};
  if (kept === undefined || input === undefined || revert === undefined)
    return fail({ reason: 'definition_changed', message: changed(kept?.tool ?? '').message });
  // Its secrets are hidden in what this call tells, too.
  const { masking } = call.session.registry.ports.calls;
  masking?.collectEarlier(call, kept.tool, kept.input, kept.output);
  const given = await parsedBy(input, kept.input);
  const returned =
    output === undefined ? cloneJson(kept.output) : await parsedBy(output, kept.output);
  return revert(returned, given, new HandlerContext(call));
}

async function parsedBy(schema: BoundSchema, value: JsonValue): Promise<unknown> {
  const read = await schema.validate(cloneJson(value));
  if (read.issues === undefined) return read.value;
  throw new Error('The schema of the tool refuses what the call had or returned.');
}
